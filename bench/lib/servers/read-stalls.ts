/** The longest stall of the event loop that any read of the administrative interface makes, each asked alone. */
import { ADMIN_ROUTES } from '../../../test/support/surfaces.ts';
import type { BenchRun } from '../measurement.ts';
import { FLAG_ENVIRONMENT, flagName } from './data-set.ts';
import { type GrowingServer, watchingStalls } from './growing-server.ts';

/** Others are not found, which is a read too. */
const NAMES: Readonly<Record<string, string>> = {
  projectId: 'default',
  featureName: flagName(0),
  child: flagName(0),
  environment: FLAG_ENVIRONMENT,
  name: FLAG_ENVIRONMENT,
};

export interface WorstRead {
  readonly route: string;
  readonly stallMs: number;
}

/** Each is asked with nothing kept, and again with what the first request left. */
export async function worstRead(bench: BenchRun, server: GrowingServer): Promise<WorstRead> {
  const { origin, basePath, token } = server.process.target;
  let worst: WorstRead = { route: '', stallMs: 0 };
  for (const { method, path, kind } of ADMIN_ROUTES) {
    if (kind !== 'read' || method !== 'GET') continue;
    const url = `${origin}${basePath}/api/admin${path.replace(/:([a-zA-Z]+)/g, (_, name: string) => NAMES[name] ?? '1')}`;
    const { longestStallMs } = await watchingStalls(server, async () => {
      for (let turn = 0; turn < 2; turn += 1) {
        const response = await fetch(url, { headers: { authorization: token } });
        await response.arrayBuffer();
      }
    });
    if (longestStallMs > worst.stallMs) worst = { route: `${method} ${path}`, stallMs: longestStallMs };
  }
  bench.say(`the longest stall of a read: ${worst.stallMs.toFixed(1)} ms, ${worst.route}`);
  return worst;
}
