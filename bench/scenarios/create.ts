/** POST a new flag, each with a name of its own. */
import { httpScenario } from '../lib/http-scenario.ts';
import { UNIQUE } from '../lib/load/operation.ts';
import { PROJECT } from '../lib/paths.ts';

export const create = httpScenario({
  name: 'create',
  title: 'Create a flag',
  limit: 'group-commit',
  goalConnections: [64, 256],
  prepare: async () => ({
    requests: [
      {
        method: 'POST',
        path: `${PROJECT}/features`,
        body: { name: `made-${UNIQUE}`, description: 'Made by the bench', type: 'release' },
      },
    ],
  }),
});
