/** Migrations of random contents from real Unleash servers, which npm and a PostgreSQL of this machine give. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { startUnleash } from '../../../bench/lib/peer/unleash.ts';
import { CLIENT_TOKENS, migrateAtRandom, type RunCounts } from './random-runs.ts';
import { migrateBesideStreams, type StreamCounts } from './streamed-runs.ts';

/** One where the archive has a list, and the newest. */
const VERSIONS = ['6.10.1', '8.2.0'];

export const FILLINGS_EACH = 10;
export const FILLINGS = VERSIONS.length * FILLINGS_EACH;

export function whyNoUnleash(): string | null {
  if (!existsSync('/usr/lib/postgresql')) return 'there is no PostgreSQL here';
  try {
    for (const version of VERSIONS)
      execFileSync('npm', ['view', `unleash-server@${version}`, 'version'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'npm gives no unleash-server here';
  }
}

function start(version: string): ReturnType<typeof startUnleash> {
  return startUnleash(tmpdir(), () => undefined, {
    version,
    env: {
      INIT_CLIENT_API_TOKENS: CLIENT_TOKENS,
      // Only so can flags get variants of environments, as old ones have.
      UNLEASH_EXPERIMENTAL_ENABLE_LEGACY_VARIANTS: 'true',
      // The harness reads what it compares as often as it likes.
      SEARCH_FEATURES_RATE_LIMIT_PER_MINUTE: '1000000',
    },
  });
}

/** Fillings of one version: `first` is the number of the first one among all. */
export async function migrateFromUnleash(count: number, first: number): Promise<RunCounts> {
  const { target, stop } = await start(VERSIONS[Math.floor((first - 1) / FILLINGS_EACH)] ?? '');
  try {
    const sum: Record<keyof RunCounts, number> = {
      ...{
        fillings: 0,
        steps: 0,
        kills: 0,
        changesInSource: 0,
        runsBesideChanges: 0,
        evaluationsCompared: 0,
      },
    };
    for (let seed = first; seed < first + count; seed += 1) {
      const counts = await migrateAtRandom({
        source: { origin: target.origin, token: target.token },
        ...{ seed, flags: 30, kills: 5, changingRuns: 6, contexts: 1_000 },
      });
      for (const name of Object.keys(sum) as (keyof RunCounts)[]) sum[name] += counts[name];
    }
    return sum;
  } finally {
    await stop();
  }
}

/** A run in each minute, beside an Unleash that changes every two seconds. */
export async function migrateEachMinute(minutes: number, version = VERSIONS.at(-1)!): Promise<StreamCounts> {
  const { target, stop } = await start(version);
  try {
    return await migrateBesideStreams({
      source: { origin: target.origin, token: target.token },
      ...{ seed: minutes, flags: 30, runs: minutes, changesEachRun: 25, pauseMs: 2_000, contexts: 1_000 },
    });
  } finally {
    await stop();
  }
}
