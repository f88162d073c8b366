/** How a query string narrows what a token covers. */
import { FILTER_PARAMETERS } from '../../serving/flag-filter.ts';

export const QUERY_PARAMETERS = {
  project: {
    description: 'Id of a project; may be given more than once. A token for some projects decides itself.',
  },
  ...FILTER_PARAMETERS,
  environment: {
    description: 'Only without authentication: the environment. Otherwise it is that of the token.',
  },
} as const;
