/** GET the flags of a project. */
import { httpScenario } from '../lib/http-scenario.ts';
import { PROJECT } from '../lib/paths.ts';

export const flagList = httpScenario({
  name: 'flag-list',
  title: 'List the flags of a project',
  limit: 'bare',
  goalConnections: [],
  prepare: async () => ({ requests: [{ method: 'GET', path: `${PROJECT}/features` }] }),
});
