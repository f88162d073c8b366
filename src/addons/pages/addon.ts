/** The pages for people: the console, the description of the interface, and what links of Admins lead to. */
import type { Addon } from '../../host/addon.ts';

export const pages: Addon = {
  name: 'pages',
  configure: async ({ basePath }) => {
    const { pageSurface } = await import('./page-routes.ts');
    return { pages: (describe) => pageSurface({ basePath, describe }) };
  },
};
