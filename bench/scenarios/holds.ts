/**
 * How long a single request holds the event loop on the largest set of flags: each route that reads, with the parameters of a flag
 * that is there. A route is asked several times, and the shortest of its longest holds counts: what else the machine does can make
 * a hold longer, and never shorter. The first answers are made from nothing, the later ones from what is kept.
 */

import type { Route } from '../../src/http/serving/route.ts';
import { ADMIN_ROUTES } from '../../test/support/surfaces.ts';
import { type Request, toggles } from '../lib/load/operation.ts';
import { timedMs, timedResponse } from '../lib/load/timed-get.ts';
import type { Measurement, Scenario } from '../lib/measurement.ts';
import { environmentPath } from '../lib/paths.ts';
import { FLAG_ENVIRONMENT, flagName } from '../lib/servers/data-set.ts';
import { type GrowingServer, watchingStalls, withGrowing } from '../lib/servers/growing-server.ts';

const ROUNDS = 4;

/** Rows of the page: the routes that hold longest. */
const SHOWN = 10;

/** The values of the parameters of paths. A route that has others has nothing to answer with. */
const PARAMETERS: Readonly<Record<string, string>> = {
  projectId: 'default',
  featureName: flagName(0),
  environment: FLAG_ENVIRONMENT,
};

interface Hold {
  readonly route: string;
  readonly holdMs: number;
}

export const holds: Scenario = {
  name: 'holds',
  title: 'Longest hold of the event loop',
  async run(bench) {
    const flags = Math.max(...bench.effort.flagSizes);
    const found = await withGrowing(bench, { flags, projects: 1, events: 0 }, async (server) => {
      const measured: Hold[] = [];
      for (const route of ADMIN_ROUTES) {
        const path = pathOf(route);
        const hold = path === null ? null : await longestHold(server, path);
        if (hold !== null) measured.push({ route: `GET ${route.path}`, holdMs: hold });
      }
      return measured.sort((a, b) => b.holdMs - a.holdMs);
    });
    bench.say(`${found.length} routes, ${found[0]?.route}: ${found[0]?.holdMs.toFixed(1)} ms`);
    return found
      .slice(0, SHOWN)
      .map(
        ({ route, holdMs }): Measurement => ({ table: 'holds', what: route, at: flags, values: { holdMs } }),
      );
  },
};

function pathOf({ kind, method, path }: Route): string | null {
  if (kind !== 'read' || method !== 'GET') return null;
  const filled = path.replaceAll(/:([A-Za-z]+)/g, (whole, name: string) => PARAMETERS[name] ?? whole);
  return filled.includes(':') ? null : filled;
}

/** Null for a route that has nothing to answer with, such as what is about users, which a token is not. */
async function longestHold(server: GrowingServer, path: string): Promise<number | null> {
  const { target } = server.process;
  const [on, off] = toggles([environmentPath(0)]) as [Request, Request];
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    // So that what is kept of flags has to be made again.
    await timedMs(target, round % 2 === 0 ? on : off);
    const asked = await watchingStalls(server, () => timedResponse(target, { method: 'GET', path }));
    if (asked.result.status >= 300) return null;
    least = Math.min(least, asked.longestStallMs);
  }
  return least;
}
