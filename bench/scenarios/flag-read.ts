/** GET one flag, always the same: what a settled read costs beyond the engine that carries it. */
import { httpScenario } from '../lib/http-scenario.ts';
import { flagPath } from '../lib/paths.ts';

export const flagRead = httpScenario({
  name: 'flag-read',
  title: 'Read a flag',
  limit: 'bare',
  goalConnections: [64, 1],
  prepare: async () => ({ requests: [{ method: 'GET', path: flagPath(0) }] }),
});
