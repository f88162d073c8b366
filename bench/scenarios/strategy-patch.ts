/** PATCH a strategy: a body to check, a JSON Patch to carry out, the strategy to check again. */

import { httpScenario } from '../lib/http-scenario.ts';
import { getJson, inParallel } from '../lib/load/client.ts';
import type { Target } from '../lib/measurement.ts';
import { environmentPath, flagsInTurn } from '../lib/paths.ts';

async function strategyPaths(target: Target, flags: readonly number[]): Promise<string[]> {
  const paths = new Map<number, string>();
  await inParallel([...flags.keys()], async (at) => {
    const list = `${environmentPath(flags[at] ?? 0)}/strategies`;
    const [strategy] = await getJson<readonly { readonly id: string }[]>(target, list);
    paths.set(at, `${list}/${strategy?.id}`);
  });
  return flags.map((_, at) => paths.get(at) ?? '');
}

export const strategyPatch = httpScenario({
  name: 'strategy-patch',
  title: 'Patch a strategy',
  limit: 'group-commit',
  goalConnections: [64, 256],
  async prepare(target, load) {
    const paths = await strategyPaths(target, flagsInTurn(load));
    const patch = (value: string) => [{ op: 'replace', path: '/parameters/rollout', value }];
    const all = (value: string) => paths.map((path) => ({ method: 'PATCH', path, body: patch(value) }));
    return { requests: [...all('10'), ...all('20')] };
  },
});
