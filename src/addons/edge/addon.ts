/** SDKs served from copies of what an upstream has, by a program of its own. */
import type { Addon } from '../../host/addon.ts';

export const edge: Addon = {
  name: 'edge',
  verbs: { edge: async () => (await import('./command.ts')).addEdge },
};
