/**
 * A leader that cannot go on, although its clients reach it: it is cut off from the log, its disk hangs or is full, or its event loop
 * stands still.
 *
 * Measured, from the beginning of the trouble: how long it says that it is ready or leads, and how long no other node takes writes;
 * and from the take-over on, how long it gives its old state to SDKs while it says that it is ready.
 */
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { FAULTY_DISK } from './faulty-disk.ts';
import { type Cluster, NODES, withCluster } from './real-cluster.ts';

const FLAG = '/projects/default/features/stricken';
const CLIENT_TOKEN = 'default:development.stricken-leaders';
const LOOK_MS = 25;
/** How long a trouble lasts. */
const TROUBLE_MS = 12_000;

interface Trouble {
  begin(cluster: Cluster, at: number): void;
  end(cluster: Cluster, at: number): void;
}

const withFile = (ending: string): Trouble => ({
  begin: (cluster, at) => writeFileSync(`${cluster.folder(at)}.${ending}`, ''),
  end: (cluster, at) => rmSync(`${cluster.folder(at)}.${ending}`),
});

export const STRICKEN: Readonly<Record<string, Trouble>> = {
  log: { begin: (cluster, at) => cluster.cut(at), end: (cluster, at) => cluster.heal(at) },
  'hanging-disk': withFile('hangs'),
  'full-disk': withFile('full'),
  loop: {
    begin: (cluster, at) => void cluster.nodes[at]!.child.kill('SIGSTOP'),
    end: (cluster, at) => void cluster.nodes[at]!.child.kill('SIGCONT'),
  },
};

export interface StrickenResult {
  /** Milliseconds, the most of all rounds. */
  readonly readyMostMs: number;
  readonly leadingMostMs: number;
  readonly writesElsewhereMostMs: number;
  readonly oldAnswersMostMs: number;
}

export function strike(name: string, rounds: number): Promise<StrickenResult> {
  const trouble = STRICKEN[name];
  if (trouble === undefined) throw new Error(`the troubles are ${Object.keys(STRICKEN).join(', ')}`);
  const env = { NODE_OPTIONS: FAULTY_DISK, INIT_CLIENT_API_TOKENS: CLIENT_TOKEN };
  return withCluster(
    async (cluster) => {
      await cluster.nodes[await cluster.leader()]!.call('POST', '/projects/default/features', {
        name: 'stricken',
      });
      const results: StrickenResult[] = [];
      for (let round = 0; round < rounds; round += 1) results.push(await strikeOnce(cluster, trouble, round));
      const most = (of: keyof StrickenResult): number => Math.max(...results.map((result) => result[of]));
      return {
        readyMostMs: most('readyMostMs'),
        leadingMostMs: most('leadingMostMs'),
        writesElsewhereMostMs: most('writesElsewhereMostMs'),
        oldAnswersMostMs: most('oldAnswersMostMs'),
      };
    },
    { env },
  );
}

async function strikeOnce(cluster: Cluster, trouble: Trouble, round: number): Promise<StrickenResult> {
  const at = await cluster.leader();
  const { child, origin, call } = cluster.nodes[at]!;
  const exited = once(child, 'exit');
  const begunAt = performance.now();
  const since = (): number => performance.now() - begunAt;
  trouble.begin(cluster, at);
  // A disk is written to only where there is something to write.
  const undecided = call('PUT', FLAG, { description: `in doubt ${round}` }).catch(() => null);
  const seen = { readyMostMs: 0, leadingMostMs: 0, writesElsewhereMostMs: 0, oldAnswersMostMs: 0 };
  let takenOverAt: number | null = null;
  const wanted = `instead ${round}`;
  const looking = (async () => {
    while (since() < TROUBLE_MS && child.exitCode === null) {
      const signal = AbortSignal.timeout(500);
      const [ready, health, shown] = await Promise.all([
        fetch(`${origin}/ready`, { signal }).then(
          ({ ok }) => ok,
          () => false,
        ),
        fetch(`${origin}/health`, { signal }).then(
          (response) => response.json() as Promise<{ cluster: { role: string } }>,
          () => null,
        ),
        shownBy(origin, signal),
      ]);
      if (ready) seen.readyMostMs = since();
      if (health?.cluster.role === 'leading') seen.leadingMostMs = since();
      if (ready && takenOverAt !== null && shown !== null && !shown.includes(wanted))
        seen.oldAnswersMostMs = since() - takenOverAt;
      await pause(LOOK_MS);
    }
  })();
  seen.writesElsewhereMostMs = await untilWritten(cluster, at, wanted, since);
  takenOverAt = since();
  await looking;
  trouble.end(cluster, at);
  await Promise.race([undecided, exited]);
  if (child.exitCode === null) await Promise.race([exited, pause(3_000)]);
  await cluster.startDeposed();
  return seen;
}

const shownBy = (origin: string, signal: AbortSignal): Promise<string | null> =>
  fetch(`${origin}/api/client/features`, { headers: { authorization: CLIENT_TOKEN }, signal }).then(
    (response) => (response.ok ? response.text() : null),
    () => null,
  );

async function untilWritten(
  cluster: Cluster,
  except: number,
  description: string,
  since: () => number,
): Promise<number> {
  for (let attempt = 0; ; attempt += 1) {
    const at = attempt % NODES;
    if (at === except) continue;
    const sent = cluster.nodes[at]!.call('PUT', FLAG, { description }).catch(() => null);
    const response = await Promise.race([sent, pause(500).then(() => null)]);
    if (response?.status === 200) return since();
    await pause(LOOK_MS);
  }
}
