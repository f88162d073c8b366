/** Clusters on simulated machines and a simulated log, and broken builds that have to be found out. */
// Own process: it takes long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mutant, onChangedBuild } from '../mutants.ts';
import { FINAL_ACTS } from './final-acts.ts';
import { runClusterSeeds } from './run-cluster-seeds.ts';

const FIRST_SEED = Number(process.env.SEED ?? 1);
/** At least as many as there are final acts, so that each of them happens. */
const SEEDS = 30;

/** Each of the builds below shows within far fewer. */
const SEEDS_PER_MUTANT = 100;

test(`${SEEDS} seeds from ${FIRST_SEED} on show one history on all nodes, and meet every trouble`, async (t) => {
  const { counts, failure } = await runClusterSeeds(FIRST_SEED, SEEDS);
  assert.ifError(failure);
  t.diagnostic(JSON.stringify(counts));
  for (const [trouble, count] of Object.entries(counts))
    assert(count > 0, `${trouble} never happened, so it is not tested`);
});

/** The acts take turns. */
const firstWith = (act: string): number =>
  FINAL_ACTS.findIndex(({ name }) => name === act) + FINAL_ACTS.length;

interface BrokenCluster extends Mutant {
  /** The final act that finds it, where seeds without that are run in vain. */
  readonly act?: string;
}

const BROKEN: readonly BrokenCluster[] = [
  {
    name: 'takes an unknown outcome for a success',
    file: 'addons/replication/replicated-commit-log.ts',
    find: "if (outcome.kind === 'accepted') {",
    replace: "if (outcome.kind !== 'conflict') {",
  },
  {
    name: 'takes a record of another node for its own',
    file: 'addons/replication/replicated-commit-log.ts',
    find: "if (found !== null) throw new FencedError('another node took over');",
    replace: 'if (found !== null) return true;',
  },
  {
    name: 'leads on without an answer of the log',
    act: 'cutOffLeaders',
    file: 'addons/replication/replica.ts',
    find: 'const CUT_OFF_MS = 2_500;',
    replace: 'const CUT_OFF_MS = 250_000;',
  },
  {
    name: 'acknowledges before the log has the change',
    file: 'persistence/journal/file-journal.ts',
    find: 'this.#commitLog.append(batch)]',
    replace: 'batch.lastId] as const',
  },
  {
    name: 'keeps what the log refused',
    file: 'addons/replication/cluster-node.ts',
    find: '        await cutJournal(fs, folder, place);\n',
    replace: '',
  },
  {
    name: 'has the log forget what is not archived yet',
    file: 'addons/replication/archivist.ts',
    find: 'Math.min(forgettableId(run, marginBytes), neededFrom())',
    replace: 'this.#options.durableId()',
  },
  {
    name: 'decides without asking whether the condition of a change holds',
    file: 'actors/command-decider.ts',
    find: ' ?? submission.precondition?.(this.#world) ?? null;',
    replace: ' ?? null;',
  },
  {
    name: 'shows what the log has not decided yet',
    file: 'actors/store.ts',
    find: 'showsDecidedOnly: options.commitLog !== undefined',
    replace: 'showsDecidedOnly: false',
  },
  {
    name: 'leads on although its disk hangs',
    act: 'hungLeaders',
    file: 'addons/replication/replica.ts',
    find: 'return Math.max(commitLog.unconfirmedMs, engine.journal.undecidedMs);',
    replace: 'return Math.max(commitLog.unconfirmedMs, 0 * engine.journal.undecidedMs);',
  },
  {
    name: 'stands although its disk is full',
    file: 'addons/replication/replica.ts',
    find: '|| !journal.writable ||',
    replace: '||',
  },
  {
    name: 'keeps the parts of a batch that its leader did not finish',
    file: 'addons/replication/record-reader.ts',
    find: "this.#leader = by.address === '' ? null : by;\n    this.#parts = [];\n",
    replace: "this.#leader = by.address === '' ? null : by;\n",
  },
  {
    name: 'takes a part of a batch for all of it',
    file: 'addons/replication/record-reader.ts',
    find: 'if (this.#parts.length < record.parts)',
    replace: 'if (this.#parts.length < record.parts - 1)',
  },
  {
    name: 'shows less than a reader asked for',
    file: 'http/serving/cluster.ts',
    find: 'if (id <= this.#engine.durableId) return null;',
    replace: 'if (id <= this.#engine.durableId + 2) return null;',
  },
  {
    name: 'records times that go back when another node leads',
    file: 'actors/engine.ts',
    find: 'return Math.max(this.#options.clock.now(), this.#recorder.lastAt);',
    replace: 'return this.#options.clock.now();',
  },
  {
    name: 'goes on with a log that has lost what was acknowledged',
    act: 'lostTails',
    file: 'addons/replication/replicated-commit-log.ts',
    find: 'if (last >= acknowledged) return;',
    replace: 'if (last >= 0) return;',
  },
  {
    name: 'leaves a damaged file of journal as it is',
    file: 'addons/replication/mend.ts',
    find: 'await fs.rename(temporary, path);',
    replace: '',
  },
  {
    name: 'skips an archived segment when a node joins',
    file: 'addons/replication/join.ts',
    find: 'if (segment.lastId <= reached) continue;',
    replace: 'if (segment.lastId <= reached || segment === run.segments[1]) continue;',
  },
  {
    name: 'takes a record that comes again for another one',
    file: 'addons/replication/kept-tail.ts',
    find: '    if (record.position < next) continue;\n',
    replace: '',
  },
  {
    name: 'leads on until its loop has looked, after it stood still',
    act: 'zombies',
    file: 'addons/replication/replica.ts',
    find: 'this.#hasLed && !this.#isCutOff && !this',
    replace: 'this.#hasLed && !this',
  },
  {
    name: 'never gives up leading',
    act: 'cutOffLeaders',
    file: 'addons/replication/replica.ts',
    find: 'const GIVE_UP_MS = 5_000;',
    replace: 'const GIVE_UP_MS = 500_000;',
  },
  {
    name: 'does not ask the others to take over when its disk hangs',
    act: 'hungLeaders',
    file: 'addons/replication/replica.ts',
    find: 'if (engine.journal.undecidedMs > UNDECIDED_MS) this.#announce(true);',
    replace: '',
  },
  {
    name: 'keeps leading with a full disk',
    act: 'fullLeaders',
    file: 'addons/replication/replica.ts',
    find: 'const isUnfit = !engine.journal.writable || this',
    replace: 'const isUnfit = this',
  },
  {
    name: 'stands although its disk hangs',
    act: 'hungHeirs',
    file: 'addons/replication/replica.ts',
    find: ' || journal.undecidedMs > CUT_OFF_MS) return;',
    replace: ') return;',
  },
  {
    name: 'leaves those without a word whose changes nobody decides',
    act: 'stillLogs',
    file: 'addons/replication/replica.ts',
    find: '      engine.giveUp();\n',
    replace: '',
  },
  {
    name: 'waits for a leader whose process is over',
    act: 'deadLeaders',
    file: 'addons/replication/replica.ts',
    find: "const isOver = found === 'refused' || found === 'follows';",
    replace: "const isOver = found === 'nothing' && leader === null;",
  },
  {
    name: 'says that it is fresh when it has given up',
    act: 'cutOffLeaders',
    file: 'addons/replication/replica.ts',
    find: 'this.#currentAtMs = this.#now() - commitLog.unconfirmedMs;',
    replace: 'this.#currentAtMs = this.#now();',
  },
  {
    name: 'says that it is fresh although it hears of nobody',
    act: 'cutOffFollowers',
    file: 'addons/replication/replica.ts',
    find: 'return now - this.#currentAtMs;',
    replace: 'return 0 * now;',
  },
  {
    name: 'does not say that it follows no further',
    act: 'rollingUpgrades',
    file: 'addons/replication/replica.ts',
    find: 'if (error instanceof NewerRecordError) {',
    replace: 'if (error instanceof NewerRecordError && this.#isClosed) {',
  },
  {
    name: 'goes on deciding when its clock has jumped',
    act: 'jumpedClocks',
    file: 'addons/replication/fitness.ts',
    find: 'return this.#hasJumped || this',
    replace: 'return this.#hasJumped && this',
  },
  {
    name: 'leads with a wrong clock',
    file: 'addons/replication/fitness.ts',
    find: 'if (ahead === null || Math.abs(ahead) <= CLOCK_MS_MAX) return null;',
    replace: 'if (ahead === null || CLOCK_MS_MAX > 0) return null;',
  },
  {
    name: 'leads where nobody reaches it',
    act: 'unreachedLeaders',
    file: 'addons/replication/fitness.ts',
    find: 'return others.length > 0 && others.every(',
    replace: 'return others.length > 99 && others.every(',
  },
  {
    name: 'leads before nodes that cannot read what it writes',
    act: 'rollingUpgrades',
    file: 'addons/replication/fitness.ts',
    find: 'return this.isUnreached || this.#readsLess.length > 0 ? OTHERS_FIRST_MS : 0;',
    replace: 'return this.isUnreached ? OTHERS_FIRST_MS : 0;',
  },
  {
    name: 'follows the history of a stranger',
    act: 'strangers',
    file: 'addons/replication/node-history.ts',
    find: 'return id === null || this.#id === null || id === this.#id;',
    replace: "return id !== '';",
  },
  {
    name: 'forgets the keys of requests that another node answered',
    file: 'actors/engine.ts',
    find: 'this.#recorder.append(change, response as RememberedResponse | undefined, body);',
    replace: 'this.#recorder.append(change, undefined, body);',
  },
  {
    name: 'has readers wait for the log',
    file: 'actors/engine.ts',
    find: 'return this.#undecided?.areTakenBack === true ? this.journal.durableId : this.journal.appendedId;',
    replace: 'return this.journal.appendedId;',
  },
];

for (const mutant of BROKEN) {
  test(`a build that ${mutant.name} is found out`, async (t) => {
    const { counts, failure } = await onChangedBuild<
      typeof import('./run-cluster-seeds.ts'),
      Awaited<ReturnType<typeof runClusterSeeds>>
    >([mutant], 'test/simulation/cluster/run-cluster-seeds.ts', ({ runClusterSeeds: run }) =>
      mutant.act === undefined
        ? run(1, SEEDS_PER_MUTANT)
        : run(firstWith(mutant.act), SEEDS_PER_MUTANT, FINAL_ACTS.length),
    );
    assert(failure !== null, `${SEEDS_PER_MUTANT} seeds found nothing wrong with it`);
    t.diagnostic(`after ${counts.seeds} seeds: ${failure.message.split('\n')[0]}`);
  });
}
