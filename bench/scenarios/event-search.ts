/** POST event searches: by filter, answered from columns, and by text, from the bytes of the journal. */
import { httpScenario } from '../lib/http-scenario.ts';
import type { Request } from '../lib/load/operation.ts';

const search = (body: object): Request => ({
  method: 'POST',
  path: '/events/search',
  body: { limit: 10, ...body },
});

export const eventFilter = httpScenario({
  name: 'event-filter',
  title: 'Search events by filter',
  limit: 'bare',
  goalConnections: [],
  prepare: async () => ({ requests: [search({ project: 'default', type: 'feature-created' })] }),
});

/** One search runs at a time and few may wait; beyond that the server refuses, to protect its other readers. */
const TEXT_CONNECTIONS_MAX = 8;

export const eventText = httpScenario({
  name: 'event-text',
  title: 'Search events by text',
  limit: 'bare',
  goalConnections: [],
  warmUpRequests: 300,
  connectionsMax: TEXT_CONNECTIONS_MAX,
  prepare: async () => ({ requests: [search({ query: 'one of many' })] }),
});
