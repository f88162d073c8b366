/**
 * The first events of a new data folder, recorded like all others (docs/specification/companions.md#new-data-folder).
 */

import { ADMIN_ROLE_ID, OWNER_ROLE_ID } from '../access/roles.ts';
import {
  type DomainEvent,
  inProject,
  type MembershipData,
  newEvent,
  ofEnvironment,
  recordChange,
} from './events.ts';
import type { ApiTokenType, Environment, ProjectSettings, User } from './world.ts';

export const DEFAULT_PROJECT = 'default';

const environment = (name: string, sortOrder: number): Environment => ({
  name,
  type: name,
  enabled: true,
  protected: false,
  sortOrder,
});

/** Two environments, the user `admin`, and the project `default`, of which that user is the Owner. */
export function seedEvents(now: string): readonly DomainEvent[] {
  const environments = [environment('development', 1), environment('production', 2)];
  const admin: User = {
    id: 1,
    name: null,
    username: 'admin',
    email: null,
    rootRole: ADMIN_ROLE_ID,
    createdAt: now,
  };
  const project: ProjectSettings = {
    id: DEFAULT_PROJECT,
    name: 'Default',
    description: 'Default project',
    mode: 'open',
    defaultStickiness: 'default',
    createdAt: now,
    updatedAt: now,
    environments: environments.map(({ name }) => name),
  };
  const owner: MembershipData = { userId: 1, roleId: OWNER_ROLE_ID, roleName: 'Owner', email: null };
  return [
    ...environments.map((data) => newEvent('environment-created', ofEnvironment(data.name), { data })),
    ...recordChange('users', null, admin),
    newEvent('project-created', inProject(project.id), { data: project }),
    newEvent('project-user-added', inProject(project.id), { data: owner }),
  ];
}

interface InitialTokenScope {
  readonly digest: string;
  readonly type: ApiTokenType;
  /** An id, or `*` for every project. */
  readonly project: string;
  readonly environment: string;
}

/** The events of an API token with this digest. `number` distinguishes several tokens of one type. */
export function initialTokenEvent(
  { digest, type, project, environment }: InitialTokenScope,
  number: number,
  now: string,
): readonly DomainEvent[] {
  return recordChange('apiTokens', null, {
    digest,
    tokenName: number === 1 ? type : `${type}-${number}`,
    type,
    projects: [project],
    environment,
    createdAt: now,
    expiresAt: null,
  });
}
