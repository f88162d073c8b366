/**
 * The kinds of things besides flags, one row each: where it is listed and changed, its columns and the fields of its form. The pages of all of
 * them are one (views/kind-view.jsx).
 */

import { INTEGRATIONS } from './kinds/integrations.jsx';
import { GROUPS, ROLES, SERVICE_ACCOUNTS, USERS } from './kinds/people.jsx';
import { APPLICATIONS, ENVIRONMENTS } from './kinds/service.jsx';
import { CONTEXT_FIELDS, SEGMENTS, STRATEGY_TYPES, TAG_TYPES } from './kinds/targeting.jsx';
import { KindView } from './views/kind-view.jsx';

/** By the word in the address. */
export const KINDS = /** @type {const} */ ({
  users: USERS,
  groups: GROUPS,
  roles: ROLES,
  'service-accounts': SERVICE_ACCOUNTS,
  environments: ENVIRONMENTS,
  segments: SEGMENTS,
  'context-fields': CONTEXT_FIELDS,
  'tag-types': TAG_TYPES,
  'strategy-types': STRATEGY_TYPES,
  applications: APPLICATIONS,
  integrations: INTEGRATIONS,
});

/** The page of a kind. @param {{ view: keyof typeof KINDS }} props */
export const KindPage = ({ view }) => <KindView kind={KINDS[view]} />;
