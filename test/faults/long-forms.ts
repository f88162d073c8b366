/** The long forms: the fault tests that take minutes, each in batches, so that a budget of time can end any of them. */
import assert from 'node:assert/strict';
import { ENDS, FOLDERS, interruptStart } from '../addons/audit/interrupted-start.ts';
import { writeHostileFields } from '../addons/edge/hostile-fields.ts';
import {
  FILLINGS,
  FILLINGS_EACH,
  migrateEachMinute,
  migrateFromUnleash,
  whyNoUnleash,
} from '../addons/migration/from-unleash.ts';
import { killLeaders, percentile } from '../addons/replication/faults/kill-leaders.ts';
import { loseQuorum } from '../addons/replication/faults/lost-quorum.ts';
import { mixFaults } from '../addons/replication/faults/mixed-faults.ts';
import { STRICKEN, strike } from '../addons/replication/faults/stricken-leaders.ts';
import { noNatsServer } from '../addons/replication/nats-servers.ts';
import { runClusterSeeds } from '../addons/replication/simulation/run-cluster-seeds.ts';
import { compareWithUnleashClient } from '../addons/sdk/evaluation/unleash-oracle.ts';
import { searchWorst } from '../addons/sdk/evaluation/worst-rules.ts';
import { soak } from '../addons/sdk/soak/soak.ts';
import { serveWorst } from '../addons/sdk/worst-served.ts';
import { changeSealedUsage } from '../addons/usage/sealed-usage.ts';
import { failAllStarts, START_CALLS } from '../persistence/disk/failing-start.ts';
import { MORE_MUTANTS, MUTANTS, runMutant } from '../simulation/mutants.ts';
import { runSeeds } from '../simulation/run-seeds.ts';
import { countsOf } from '../simulation/tally.ts';
import { pastFolder } from '../support/operator.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { failSyncs, isTraceable } from './failed-sync.ts';
import { fillDisks, isMountable, SIZES_KIB } from './full-disk.ts';
import { besetSignIns } from './hostile-sign-ins.ts';
import { runKills } from './kill.ts';
import { AT_LIMITS, fillToLimits } from './limits/at-limits.ts';
import { checkEverything, EVERYTHING, fillEverything } from './limits/everything-full.ts';
import { cutPower } from './power-cuts.ts';
import { raiseStorms, STORM_CLIENTS } from './request-storm.ts';
import { raceRestarts } from './restart-races.ts';
import { changeSealed } from './sealed-changes.ts';
import { shutDown } from './shutdown.ts';
import { cutSingleDamages, mendSingleDamages, wholeFolder } from './single-damages.ts';
import { stallReaders } from './slow-readers.ts';
import { flood } from './stalled-sync.ts';

const INTERRUPTIONS = Object.keys(FOLDERS).flatMap((folder) =>
  Object.keys(ENDS).map((end) => ({ folder, end })),
);

export type Counts = Readonly<Record<string, number>>;

export interface LongForm {
  readonly name: string;
  /** How much of it there is to do, in seeds, rounds or the like. */
  readonly total: number;
  /** The part of it that one batch does. */
  readonly batch: number;
  /** Seconds that the smallest batch takes. A budget that gives the form less skips it: its short form is among the tests. */
  readonly leastSeconds?: number;
  /** Why it cannot run here; null when it can. */
  readonly skipped?: () => string | null;
  /** Does so many, the first of which has this number; what it counted. */
  run(count: number, first: number): Promise<Counts>;
}

/** A broken build has to show within so many seeds. */
const SEEDS_PER_MUTANT = 3_000;

const KILLS_AT_ONCE = 10;

/** Microseconds for which no evaluation holds the event loop. A slice takes 5 ms before its last step. */
const TURN_MAX = 20_000;

/** The number of flags of a batch that are asked of a server on every surface: the slowest. */
const WORST_SERVED = 4;

const SOAK_MINUTES = 30;

const MIGRATION_MINUTES = 60;

const SIGN_IN_SECONDS = 100;

/** Milliseconds after which a leader that cannot go on says so, and in which another node takes writes. */
const STRICKEN_MS_MAX = 5_000;
const TAKE_OVER_MS_MAX = 8_000;

const CLUSTER_WRITERS = 32;

/** Milliseconds from the death of a leader to the next success of a write. */
const OUTAGE_MEDIAN_MS_MAX = 2_000;
const OUTAGE_MS_MAX = 5_000;

const IS_BUDGETED = process.env.FAULTS_BUDGET_SECONDS !== undefined;

const ALL_MUTANTS = [...MUTANTS, ...MORE_MUTANTS];

/** Seeds of the random ones that are not simulated follow from the number of the batch: every run is the same. */
export const LONG_FORMS: readonly LongForm[] = [
  {
    name: 'stalled sync',
    total: 100_000,
    batch: 100_000,
    run: async (writes) => ({ ...(await flood({ writes })) }),
  },
  {
    name: 'everything full',
    total: EVERYTHING.rounds,
    batch: EVERYTHING.rounds,
    leastSeconds: 900,
    run: async (rounds) => {
      const result = await fillEverything({ ...EVERYTHING, rounds });
      checkEverything(result);
      return { ...result };
    },
  },
  {
    name: 'rows of the limits',
    total: AT_LIMITS.length,
    batch: 1,
    leastSeconds: 150,
    run: async (_, first) => {
      const filling = AT_LIMITS[first - 1];
      assert(filling !== undefined, 'each batch is one of the fillings');
      const { slowestPart, ...counts } = await fillToLimits(filling);
      console.log(`${filling.name}: the longest turn was in ${slowestPart}`);
      return counts;
    },
  },
  {
    name: 'hostile fields',
    total: 1,
    batch: 1,
    run: async () => ({ ...(await writeHostileFields()) }),
  },
  {
    name: 'hostile sign-ins',
    total: SIGN_IN_SECONDS,
    batch: SIGN_IN_SECONDS,
    leastSeconds: 2 * SIGN_IN_SECONDS,
    run: async (seconds) => ({ ...(await besetSignIns(seconds)) }),
  },
  {
    name: 'slow readers',
    total: 1_000,
    batch: 1_000,
    leastSeconds: 5,
    run: async (readers) => ({ ...(await stallReaders({ readers })) }),
  },
  {
    name: 'request storms',
    total: STORM_CLIENTS,
    batch: STORM_CLIENTS,
    leastSeconds: 60,
    run: async (clients) => {
      const { turns, slowestSurface, ...storms } = await raiseStorms({ clients });
      const slowestMicros = storms.slowestTurnMs * 1_000;
      assert(slowestMicros <= TURN_MAX, `${slowestSurface}: ${JSON.stringify(turns)} ms`);
      return storms;
    },
  },
  {
    name: 'full disk',
    total: SIZES_KIB.length,
    batch: 1,
    skipped: () => (isMountable() ? null : 'nothing can be mounted here'),
    run: async (count, first) => ({ ...(await fillDisks(SIZES_KIB.slice(first - 1, first - 1 + count))) }),
  },
  {
    name: 'failed sync',
    total: 10,
    batch: 1,
    leastSeconds: 5,
    skipped: () => (isTraceable() ? null : 'strace cannot trace here'),
    run: async (rounds, first) => ({ ...(await failSyncs({ rounds, first })) }),
  },
  {
    name: 'failing start',
    total: START_CALLS.length,
    batch: 1,
    leastSeconds: 40,
    skipped: () => (isTraceable() ? null : 'strace cannot trace here'),
    run: async (_, first) => ({ starts: await failAllStarts(START_CALLS[first - 1] ?? '') }),
  },
  {
    name: 'interrupted start',
    total: INTERRUPTIONS.length,
    batch: 1,
    leastSeconds: 40,
    run: async (_, first) => {
      const interruption = INTERRUPTIONS[first - 1];
      assert(interruption !== undefined, 'there are so many');
      let write = 1;
      while (await interruptStart({ ...interruption, write })) write += 1;
      return { starts: write - 1 };
    },
  },
  {
    name: 'shutdown',
    total: 20,
    batch: 2,
    leastSeconds: 4,
    run: async (rounds) => ({ ...(await shutDown({ rounds })) }),
  },
  {
    name: 'restart races',
    total: 50,
    batch: 2,
    leastSeconds: 5,
    run: async (rounds) => ({ ...(await raceRestarts({ rounds })) }),
  },
  {
    name: 'kills',
    total: 200,
    batch: KILLS_AT_ONCE,
    leastSeconds: 15,
    run: async (rounds, first) => {
      const { kills, cleanStops, acknowledged } = await runKills({ rounds, seed: first });
      return { kills, cleanStops, acknowledged };
    },
  },
  {
    name: 'migration from Unleash',
    total: FILLINGS,
    // A server of Unleash is started for each batch.
    batch: IS_BUDGETED ? 1 : FILLINGS_EACH,
    leastSeconds: 50,
    skipped: whyNoUnleash,
    run: async (count, first) => ({ ...(await migrateFromUnleash(count, first)) }),
  },
  {
    // In minutes: all beside one Unleash, or as many as there is time for.
    name: 'migration each minute',
    total: MIGRATION_MINUTES,
    batch: IS_BUDGETED ? 1 : MIGRATION_MINUTES,
    leastSeconds: 150,
    skipped: whyNoUnleash,
    run: async (minutes) => ({ ...(await migrateEachMinute(minutes)) }),
  },
  {
    // In minutes: all on one folder, or as many as there is time for, each on its own.
    name: 'soak',
    total: SOAK_MINUTES,
    batch: IS_BUDGETED ? 1 : SOAK_MINUTES,
    leastSeconds: 60,
    run: async (minutes, first) => {
      const seconds = minutes * 60;
      const { hostile, ...counts } = await soak({ seconds, kills: minutes, seed: first, say: console.log });
      console.log(hostile);
      return counts;
    },
  },
  {
    name: 'stricken leaders',
    total: Object.keys(STRICKEN).length,
    batch: 1,
    leastSeconds: 90,
    skipped: () => noNatsServer,
    run: async (_, first) => {
      const [trouble = ''] = Object.keys(STRICKEN).slice(first - 1);
      const result = await strike(trouble, 3);
      // A node without room for changes follows, and is ready for reads.
      if (trouble !== 'full-disk') assert(result.readyMostMs <= STRICKEN_MS_MAX, JSON.stringify(result));
      assert(result.leadingMostMs <= STRICKEN_MS_MAX, JSON.stringify(result));
      assert(result.oldAnswersMostMs <= STRICKEN_MS_MAX, JSON.stringify(result));
      assert(result.writesElsewhereMostMs <= TAKE_OVER_MS_MAX, JSON.stringify(result));
      return { ...result };
    },
  },
  {
    name: 'killed leaders',
    total: 50,
    batch: KILLS_AT_ONCE,
    leastSeconds: 180,
    skipped: () => noNatsServer,
    run: async (rounds) => {
      const { outagesMs, ...counts } = await killLeaders({ rounds, writers: CLUSTER_WRITERS });
      const [outageMedianMostMs, outageMostMs] = [percentile(outagesMs, 0.5), outagesMs.at(-1) ?? 0];
      assert(outageMedianMostMs <= OUTAGE_MEDIAN_MS_MAX && outageMostMs <= OUTAGE_MS_MAX, `${outagesMs}`);
      return { ...counts, outageMedianMostMs, outageMostMs };
    },
  },
  {
    name: 'mixed faults of clusters',
    total: 100,
    batch: 10,
    leastSeconds: 240,
    skipped: () => noNatsServer,
    run: async (rounds, seed) => ({ ...(await mixFaults({ rounds, seed, writers: CLUSTER_WRITERS })) }),
  },
  {
    name: 'simulation of clusters',
    total: 1_000,
    batch: 10,
    run: async (count, first) => {
      const { counts, failure } = await runClusterSeeds(first, count);
      if (failure !== null) throw failure;
      return counts;
    },
  },
  {
    name: 'lost quorum',
    total: 1,
    batch: 1,
    leastSeconds: 60,
    skipped: () => noNatsServer,
    run: async () => ({ ...(await loseQuorum({ seconds: 20, rate: 1_000 })) }),
  },
  {
    name: 'broken builds',
    total: ALL_MUTANTS.length,
    batch: 1,
    run: async (count, first) => {
      for (const mutant of ALL_MUTANTS.slice(first - 1, first - 1 + count)) {
        const { failure } = await runMutant(mutant, { first: 1, count: SEEDS_PER_MUTANT });
        assert(failure !== null, `${SEEDS_PER_MUTANT} seeds did not find a build that ${mutant.name}`);
      }
      return { builds: count };
    },
  },
  {
    name: 'slow rules',
    total: 10_000,
    batch: 50,
    leastSeconds: 60,
    run: async (flags, first) => {
      const { slowestTurn, what, worst, ...counts } = searchWorst(seededRandom(first), flags);
      assert(slowestTurn <= TURN_MAX, `${what} took ${slowestTurn} µs in one turn, seed ${first}`);
      const { slowestSurface, ...served } = await serveWorst(worst.slice(0, WORST_SERVED));
      const slowestMicros = served.slowestTurnMs * 1_000;
      assert(
        slowestMicros <= TURN_MAX,
        `${slowestSurface} took ${slowestMicros} µs in one turn, seed ${first}`,
      );
      return { ...counts, slowestTurn, ...served };
    },
  },
  {
    name: 'single damages',
    total: 1_000,
    batch: 20,
    run: async (count, first) => {
      const { folder } = await pastFolder();
      return { ...(await mendSingleDamages(await wholeFolder(folder), { first, count })) };
    },
  },
  {
    name: 'single damages without a copy',
    total: 300,
    batch: 20,
    run: async (count, first) => {
      const { folder, moments } = await pastFolder();
      return { ...(await cutSingleDamages(await wholeFolder(folder), moments, { first, count })) };
    },
  },
  {
    name: 'power cuts',
    total: 1_000,
    batch: 50,
    leastSeconds: 120,
    skipped: () => (isTraceable() ? null : 'strace cannot trace here'),
    run: async (count, first) => ({ ...(await cutPower({ first, count })) }),
  },
  {
    name: 'changes under right checksums',
    total: 1_000_000,
    batch: 100,
    run: async (count, first) => ({
      ...(await changeSealed({ first, count })),
      ...(await changeSealedUsage({ first, count })),
    }),
  },
  {
    name: 'evaluation by unleash-client',
    total: 100_000,
    batch: 5_000,
    run: async (comparisons, first) => ({
      ...(await compareWithUnleashClient({ seed: first, comparisons })),
    }),
  },
  {
    name: 'simulation',
    total: 10_000,
    batch: 100,
    run: async (count, first) => {
      const { tally, failure } = await runSeeds({ first, count });
      if (failure !== null) throw failure;
      return countsOf(tally);
    },
  },
];
