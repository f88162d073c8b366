/** GET a project's overview, unchanged: as large as the project, and the same bytes each time. */
import { httpScenario } from '../lib/http-scenario.ts';
import { PROJECT } from '../lib/paths.ts';

export const overview = httpScenario({
  name: 'overview',
  title: "Read a project's overview",
  limit: 'bare',
  goalConnections: [],
  prepare: async () => ({ requests: [{ method: 'GET', path: PROJECT }] }),
});
