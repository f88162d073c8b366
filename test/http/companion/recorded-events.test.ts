/**
 * The events that each write records (docs/specification/events.md#what-each-change-records): one row for each write of
 * the table of routes. A write without a row fails, and so does a row that reaches another route than it names.
 */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { EVENT_TYPES } from '../../../src/domain/state/event-types.ts';
import { ROUTES } from '../../../src/http/admin/surface.ts';
import type { Route } from '../../../src/http/serving/route.ts';
import '../../support/check-responses.ts';
import { addUser, recording } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

type Request = readonly [method: string, path: string, body?: unknown];

/**
 * `$` stands for a name of the row's own, `@` for the id or digest in the last answer that had one, or of the event
 * found, and `^` for the one in the answer before that.
 */
interface Row {
  readonly given?: readonly Request[];
  readonly when: readonly [path: string, body?: unknown];
  readonly events: readonly string[];
  /** Whether a user with a personal token writes it, where only users may. */
  readonly asUser?: true;
}

const FEATURES = '/projects/default/features';
const ENVIRONMENT = `${FEATURES}/$/environments/development`;
const STRATEGIES = `${ENVIRONMENT}/strategies`;
const FLAG: Request = ['POST', FEATURES, { name: '$' }];
const STRATEGY: Request = ['POST', STRATEGIES, { name: 'default' }];
const SWITCHED_ON: Request = ['POST', `${ENVIRONMENT}/on`];
const ARCHIVED: Request = ['DELETE', `${FEATURES}/$`];
const PROJECT: Request = ['POST', '/projects', { id: '$', name: '$' }];
const ENVIRONMENT_CREATED: Request = ['POST', '/environments', { name: '$', type: 'test' }];
const USER: Request = ['POST', '/user-admin', { username: '$', rootRole: 3 }];
const ROLE: Request = ['POST', '/roles', { name: '$' }];
const GROUP: Request = ['POST', '/groups', { name: '$', users: [{ user: { id: 1 } }] }];
const API_TOKEN: Request = ['POST', '/api-tokens', { tokenName: '$', type: 'admin' }];
const PARENT: Request = ['POST', FEATURES, { name: '$.parent' }];
const DEPENDENCY: Request = ['POST', `${FEATURES}/$/dependencies`, { feature: '$.parent' }];
const SEGMENT = { name: '$', constraints: [] };
const CONTEXT_FIELD: Request = ['POST', '/context', { name: '$' }];
const STRATEGY_TYPE: Request = ['POST', '/strategies', { name: '$' }];
const TAG_TYPE: Request = ['POST', '/tag-types', { name: '$' }];
const BULK_SWITCH = (position: 'on' | 'off') =>
  `/projects/default/bulk_features/environments/development/${position}`;
const LINK = { id: 'ticket', url: 'https://tracker.example/1', title: null };
const VARIANTS = [{ name: 'a', weight: 1 }];
const SERVICE_ACCOUNT: Request = ['POST', '/service-account', { username: '$', rootRole: 3 }];
const PERSONAL = { description: '$', expiresAt: '2999-01-01T00:00:00Z' };

const ROWS: Readonly<Record<string, Row>> = {
  createFeature: { when: [FEATURES, { name: '$' }], events: ['feature-created'] },
  updateFeature: {
    given: [FLAG],
    when: [`${FEATURES}/$`, { stale: true }],
    events: ['feature-metadata-updated', 'feature-stale-on'],
  },
  patchFeature: {
    given: [FLAG],
    when: [`${FEATURES}/$`, [{ op: 'replace', path: '/description', value: 'new' }]],
    events: ['feature-metadata-updated'],
  },
  cloneFeature: {
    given: [FLAG, STRATEGY],
    when: [`${FEATURES}/$/clone`, { name: '$.clone' }],
    events: ['feature-created', 'feature-strategy-add'],
  },
  rollbackFeature: {
    given: [FLAG, STRATEGY, ['POST', '/events/search', { feature: '$', type: 'feature-created', limit: 1 }]],
    when: [`${FEATURES}/$/rollback`, { eventId: '@' }],
    events: ['feature-strategy-remove'],
  },
  rollbackProject: {
    given: [FLAG, STRATEGY, ['POST', '/events/search', { feature: '$', type: 'feature-created', limit: 1 }]],
    when: ['/projects/default/rollback', { eventId: '@' }],
    events: ['feature-strategy-remove'],
  },
  archiveFeature: {
    given: [FLAG, PARENT, DEPENDENCY],
    when: [`${FEATURES}/$`],
    events: ['feature-dependencies-removed', 'feature-archived'],
  },
  createSegment: { when: ['/segments', SEGMENT], events: ['segment-created'] },
  updateSegment: {
    given: [['POST', '/segments', SEGMENT]],
    when: ['/segments/@', { ...SEGMENT, description: 'new' }],
    events: ['segment-updated'],
  },
  removeSegment: {
    given: [['POST', '/segments', SEGMENT]],
    when: ['/segments/@'],
    events: ['segment-deleted'],
  },
  createContextField: { when: ['/context', { name: '$' }], events: ['context-field-created'] },
  updateContextField: {
    given: [CONTEXT_FIELD],
    when: ['/context/$', { description: 'new' }],
    events: ['context-field-updated'],
  },
  deleteContextField: { given: [CONTEXT_FIELD], when: ['/context/$'], events: ['context-field-deleted'] },
  createStrategy: { when: ['/strategies', { name: '$' }], events: ['strategy-created'] },
  updateStrategy: {
    given: [STRATEGY_TYPE],
    when: ['/strategies/$', { title: 'new' }],
    events: ['strategy-updated'],
  },
  setCors: {
    given: [['POST', '/ui-config/cors', { frontendApiOrigins: ['*'] }]],
    when: ['/ui-config/cors', { frontendApiOrigins: ['https://shop.example'] }],
    events: ['setting-updated'],
  },
  updateFeatureTypeLifetime: {
    when: ['/feature-types/release/lifetime', { lifetimeDays: 30 }],
    events: ['feature-type-updated'],
  },
  removeStrategy: { given: [STRATEGY_TYPE], when: ['/strategies/$'], events: ['strategy-deleted'] },
  deprecateStrategy: {
    given: [STRATEGY_TYPE],
    when: ['/strategies/$/deprecate'],
    events: ['strategy-deprecated'],
  },
  reactivateStrategy: {
    given: [STRATEGY_TYPE, ['POST', '/strategies/$/deprecate']],
    when: ['/strategies/$/reactivate'],
    events: ['strategy-reactivated'],
  },
  addFeatureStrategy: {
    given: [FLAG],
    when: [STRATEGIES, { name: 'default' }],
    events: ['feature-strategy-add'],
  },
  updateFeatureStrategy: {
    given: [FLAG, STRATEGY],
    when: [`${STRATEGIES}/@`, { name: 'flexibleRollout' }],
    events: ['feature-strategy-update'],
  },
  patchFeatureStrategy: {
    given: [FLAG, STRATEGY],
    when: [`${STRATEGIES}/@`, [{ op: 'replace', path: '/title', value: 'new' }]],
    events: ['feature-strategy-update'],
  },
  deleteFeatureStrategy: {
    given: [FLAG, STRATEGY, SWITCHED_ON],
    when: [`${STRATEGIES}/@`],
    events: ['feature-strategy-remove', 'feature-environment-disabled'],
  },
  setStrategySortOrder: {
    given: [FLAG, STRATEGY],
    when: [`${STRATEGIES}/set-sort-order`, [{ id: '@', sortOrder: 9 }]],
    events: ['strategy-order-changed'],
  },
  copyStrategies: {
    given: [FLAG, STRATEGY],
    when: [`${FEATURES}/$/environments/production/strategies/copy`, { from: 'development' }],
    events: ['feature-strategy-add'],
  },
  toggleFeatureEnvironmentOn: {
    given: [FLAG, STRATEGY],
    when: [`${ENVIRONMENT}/on`],
    events: ['feature-environment-enabled'],
  },
  toggleFeatureEnvironmentOff: {
    given: [FLAG, STRATEGY, SWITCHED_ON],
    when: [`${ENVIRONMENT}/off`],
    events: ['feature-environment-disabled'],
  },
  overwriteFeatureVariants: {
    given: [FLAG],
    when: [`${FEATURES}/$/variants`, VARIANTS],
    events: ['feature-variants-updated'],
  },
  patchFeatureVariants: {
    given: [FLAG],
    when: [`${FEATURES}/$/variants`, [{ op: 'add', path: '/0', value: VARIANTS[0] }]],
    events: ['feature-variants-updated'],
  },
  overwriteEnvironmentFeatureVariants: {
    given: [FLAG],
    when: [`${ENVIRONMENT}/variants`, VARIANTS],
    events: ['feature-environment-variants-updated'],
  },
  patchEnvironmentsFeatureVariants: {
    given: [FLAG],
    when: [`${ENVIRONMENT}/variants`, [{ op: 'add', path: '/0', value: VARIANTS[0] }]],
    events: ['feature-environment-variants-updated'],
  },
  addUserToProject: {
    given: [USER],
    when: ['/projects/default/users/@/roles/5'],
    events: ['project-user-added'],
  },
  changeUserRoleInProject: {
    given: [USER, ['POST', '/projects/default/users/@/roles/5']],
    when: ['/projects/default/users/@/roles/4'],
    events: ['project-user-role-changed'],
  },
  removeUserFromProject: {
    given: [USER, ['POST', '/projects/default/users/@/roles/5']],
    when: ['/projects/default/users/@/roles/5'],
    events: ['project-user-removed'],
  },
  setProjectAccess: {
    given: [PROJECT, ['PUT', '/projects/$/access', { roles: [{ id: 4, users: [1] }] }], USER],
    when: ['/projects/$/access', { roles: [{ id: 4, users: ['@'] }] }],
    events: ['project-user-added', 'project-user-removed'],
  },
  addProjectAccess: {
    given: [GROUP],
    when: ['/projects/default/access', { roles: [5], users: [], groups: ['@'] }],
    events: ['project-group-added'],
  },
  setRolesForGroup: {
    given: [GROUP, ['PUT', '/projects/default/groups/@/roles', { roles: [5] }]],
    when: ['/projects/default/groups/@/roles', { roles: [4] }],
    events: ['project-group-role-changed'],
  },
  removeGroupAccess: {
    given: [GROUP, ['PUT', '/projects/default/groups/@/roles', { roles: [5] }]],
    when: ['/projects/default/groups/@/roles'],
    events: ['project-group-removed'],
  },
  createRole: { when: ['/roles', { name: '$', type: 'custom' }], events: ['role-created'] },
  updateRole: { given: [ROLE], when: ['/roles/@', { name: '$.new' }], events: ['role-updated'] },
  deleteRole: { given: [ROLE], when: ['/roles/@'], events: ['role-deleted'] },
  createGroup: { when: ['/groups', { name: '$' }], events: ['group-created'] },
  updateGroup: { given: [GROUP], when: ['/groups/@', { name: '$.new' }], events: ['group-updated'] },
  deleteGroup: {
    given: [GROUP, ['PUT', '/projects/default/groups/@/roles', { roles: [5] }]],
    when: ['/groups/@'],
    events: ['project-group-removed', 'group-deleted'],
  },
  createProject: { when: ['/projects', { id: '$', name: '$' }], events: ['project-created'] },
  updateProject: { given: [PROJECT], when: ['/projects/$', { name: 'new' }], events: ['project-updated'] },
  deleteProject: {
    given: [
      PROJECT,
      ['POST', '/projects/$/features', { name: '$' }],
      ['DELETE', '/projects/$/features/$'],
      ['POST', '/api-tokens', { tokenName: '$', type: 'client', environment: 'development', project: '$' }],
    ],
    when: ['/projects/$'],
    events: ['feature-deleted', 'api-token-deleted', 'project-deleted'],
  },
  addEnvironmentToProject: {
    given: [ENVIRONMENT_CREATED],
    when: ['/projects/default/environments', { environment: '$' }],
    events: ['project-environment-added'],
  },
  removeEnvironmentFromProject: {
    given: [ENVIRONMENT_CREATED, ['POST', '/projects/default/environments', { environment: '$' }]],
    when: ['/projects/default/environments/$'],
    events: ['project-environment-removed'],
  },
  createEnvironment: {
    when: ['/environments', { name: '$', type: 'test' }],
    events: ['environment-created'],
  },
  removeEnvironment: {
    given: [
      ENVIRONMENT_CREATED,
      ['POST', '/projects/default/environments', { environment: '$' }],
      ['POST', '/api-tokens', { tokenName: '$', type: 'client', environment: '$' }],
    ],
    when: ['/environments/$'],
    events: ['project-environment-removed', 'api-token-deleted', 'environment-deleted'],
  },
  updateEnvironment: {
    given: [ENVIRONMENT_CREATED],
    when: ['/environments/update/$', { type: 'production' }],
    events: ['environment-updated'],
  },
  updateSortOrder: {
    given: [ENVIRONMENT_CREATED],
    when: ['/environments/sort-order', { $: 1000 }],
    events: ['environment-updated'],
  },
  toggleEnvironmentOn: {
    given: [ENVIRONMENT_CREATED, ['POST', '/environments/$/off']],
    when: ['/environments/$/on'],
    events: ['environment-updated'],
  },
  toggleEnvironmentOff: {
    given: [ENVIRONMENT_CREATED],
    when: ['/environments/$/off'],
    events: ['environment-updated'],
  },
  reviveFeature: { given: [FLAG, ARCHIVED], when: ['/archive/revive/$'], events: ['feature-revived'] },
  deleteFeature: { given: [FLAG, ARCHIVED], when: ['/archive/$'], events: ['feature-deleted'] },
  archiveFeatures: {
    given: [FLAG, PARENT, DEPENDENCY],
    when: ['/projects/default/archive', { features: ['$.parent', '$'] }],
    events: ['feature-dependencies-removed', 'feature-archived', 'feature-archived'],
  },
  reviveFeatures: {
    given: [FLAG, ARCHIVED],
    when: ['/projects/default/revive', { features: ['$'] }],
    events: ['feature-revived'],
  },
  deleteFeatures: {
    given: [FLAG, ARCHIVED],
    when: ['/projects/default/delete', { features: ['$'] }],
    events: ['feature-deleted'],
  },
  staleFeatures: {
    given: [FLAG],
    when: ['/projects/default/stale', { features: ['$'], stale: true }],
    events: ['feature-stale-on'],
  },
  commentOnFeature: {
    given: [FLAG],
    when: [`${FEATURES}/$/comments`, { text: 'Why?' }],
    events: ['feature-commented'],
  },
  addTag: {
    given: [FLAG],
    when: ['/features/$/tags', { type: 'simple', value: 'tag' }],
    events: ['feature-tagged'],
  },
  removeTag: {
    given: [FLAG, ['POST', '/features/$/tags', { type: 'simple', value: 'tag' }]],
    when: ['/features/$/tags/simple/tag'],
    events: ['feature-untagged'],
  },
  addTagToFeatures: {
    given: [FLAG, PARENT],
    when: [
      '/projects/default/tags',
      { features: ['$', '$.parent'], tags: { addedTags: [{ value: 'new' }], removedTags: [] } },
    ],
    events: ['feature-tagged', 'feature-tagged'],
  },
  changeProject: {
    given: [FLAG, PROJECT],
    when: [`${FEATURES}/$/changeProject`, { newProjectId: '$' }],
    events: ['feature-project-change', 'feature-project-change'],
  },
  addDefaultStrategyToProjectEnvironment: {
    given: [PROJECT],
    when: ['/projects/$/environments/production/default-strategy', { name: 'default' }],
    events: ['default-strategy-updated'],
  },
  // It is off before and after: while it is on, no other row would record anything.
  toggleMaintenance: {
    given: [['POST', '/maintenance', { enabled: true }]],
    when: ['/maintenance', { enabled: false }],
    events: ['setting-updated'],
  },
  complete: {
    given: [FLAG],
    when: [`${FEATURES}/$/lifecycle/complete`, { status: 'kept' }],
    events: ['feature-completed'],
  },
  uncomplete: {
    given: [FLAG, ['POST', `${FEATURES}/$/lifecycle/complete`, { status: 'kept' }]],
    when: [`${FEATURES}/$/lifecycle/uncomplete`],
    events: ['feature-uncompleted'],
  },
  createFeatureLink: {
    given: [FLAG],
    when: [`${FEATURES}/$/link`, { url: 'https://tracker.example/1' }],
    events: ['feature-metadata-updated'],
  },
  updateFeatureLink: {
    given: [['POST', FEATURES, { name: '$', links: [LINK] }]],
    when: [`${FEATURES}/$/link/ticket`, { url: 'https://tracker.example/2' }],
    events: ['feature-metadata-updated'],
  },
  deleteFeatureLink: {
    given: [['POST', FEATURES, { name: '$', links: [LINK] }]],
    when: [`${FEATURES}/$/link/ticket`],
    events: ['feature-metadata-updated'],
  },
  createTagType: { when: ['/tag-types', { name: '$' }], events: ['tag-type-created'] },
  updateTagType: {
    given: [TAG_TYPE],
    when: ['/tag-types/$', { description: 'new' }],
    events: ['tag-type-updated'],
  },
  deleteTagType: { given: [TAG_TYPE], when: ['/tag-types/$'], events: ['tag-type-deleted'] },
  bulkToggleFeaturesEnvironmentOn: {
    given: [FLAG, STRATEGY],
    when: [BULK_SWITCH('on'), { features: ['$'] }],
    events: ['feature-environment-enabled'],
  },
  bulkToggleFeaturesEnvironmentOff: {
    given: [FLAG, STRATEGY, SWITCHED_ON],
    when: [BULK_SWITCH('off'), { features: ['$'] }],
    events: ['feature-environment-disabled'],
  },
  addFavoriteFeature: {
    asUser: true,
    given: [FLAG],
    when: [`${FEATURES}/$/favorites`],
    events: ['feature-favorited'],
  },
  removeFavoriteFeature: {
    asUser: true,
    given: [FLAG, ['POST', `${FEATURES}/$/favorites`]],
    when: [`${FEATURES}/$/favorites`],
    events: ['feature-unfavorited'],
  },
  addFavoriteProject: {
    asUser: true,
    given: [PROJECT],
    when: ['/projects/$/favorites'],
    events: ['project-favorited'],
  },
  removeFavoriteProject: {
    asUser: true,
    given: [PROJECT, ['POST', '/projects/$/favorites']],
    when: ['/projects/$/favorites'],
    events: ['project-unfavorited'],
  },
  updateProjectEnterpriseSettings: {
    given: [PROJECT],
    when: ['/projects/$/settings', { mode: 'private' }],
    events: ['project-updated'],
  },
  addFeatureDependency: {
    given: [FLAG, PARENT],
    when: [`${FEATURES}/$/dependencies`, { feature: '$.parent' }],
    events: ['feature-dependency-added'],
  },
  deleteFeatureDependency: {
    given: [FLAG, PARENT, DEPENDENCY],
    when: [`${FEATURES}/$/dependencies/$.parent`],
    events: ['feature-dependency-removed'],
  },
  deleteFeatureDependencies: {
    given: [FLAG, PARENT, DEPENDENCY],
    when: [`${FEATURES}/$/dependencies`],
    events: ['feature-dependencies-removed'],
  },
  createUser: { when: ['/user-admin', { username: '$', rootRole: 3 }], events: ['user-created'] },
  updateUser: { given: [USER], when: ['/user-admin/@', { name: 'new' }], events: ['user-updated'] },
  deleteUser: {
    given: [
      USER,
      ['POST', '/projects/default/users/@/roles/5'],
      ['POST', '/user-admin/@/tokens', PERSONAL],
      ['GET', '/user-admin/search?q=$'],
    ],
    when: ['/user-admin/@'],
    events: ['project-user-removed', 'pat-deleted', 'user-deleted'],
  },
  createUserToken: { given: [USER], when: ['/user-admin/@/tokens', PERSONAL], events: ['pat-created'] },
  deleteUserToken: {
    given: [['POST', '/user-admin/1/tokens', PERSONAL]],
    when: ['/user-admin/1/tokens/@'],
    events: ['pat-deleted'],
  },
  createServiceAccount: {
    when: ['/service-account', { username: '$', rootRole: 3 }],
    events: ['service-account-created'],
  },
  updateServiceAccount: {
    given: [SERVICE_ACCOUNT],
    when: ['/service-account/@', { name: 'new', rootRole: 2 }],
    events: ['service-account-updated'],
  },
  deleteServiceAccount: {
    given: [SERVICE_ACCOUNT],
    when: ['/service-account/@'],
    events: ['service-account-deleted'],
  },
  createServiceAccountToken: {
    given: [SERVICE_ACCOUNT],
    when: ['/service-account/@/token', PERSONAL],
    events: ['pat-created'],
  },
  deleteServiceAccountToken: {
    given: [SERVICE_ACCOUNT, ['POST', '/service-account/@/token', PERSONAL]],
    when: ['/service-account/^/token/@'],
    events: ['pat-deleted'],
  },
  createPat: { asUser: true, when: ['/user/tokens', PERSONAL], events: ['pat-created'] },
  deletePat: {
    asUser: true,
    given: [['POST', '/user/tokens', PERSONAL]],
    when: ['/user/tokens/@'],
    events: ['pat-deleted'],
  },
  createApiToken: {
    when: ['/api-tokens', { tokenName: '$', type: 'admin' }],
    events: ['api-token-created'],
  },
  createProjectApiToken: {
    when: ['/projects/default/api-tokens', { tokenName: '$', type: 'client' }],
    events: ['api-token-created'],
  },
  deleteProjectApiToken: {
    given: [['POST', '/projects/default/api-tokens', { tokenName: '$', type: 'client' }]],
    when: ['/projects/default/api-tokens/@'],
    events: ['api-token-deleted'],
  },
  updateApiToken: {
    given: [API_TOKEN],
    when: ['/api-tokens/@', { expiresAt: '2999-01-01T00:00:00Z' }],
    events: ['api-token-updated'],
  },
  deleteApiToken: { given: [API_TOKEN], when: ['/api-tokens/@'], events: ['api-token-deleted'] },
};

const WRITES = ROUTES.filter((route) => route.kind === 'write');

/** The path that a row asks for, held against the pattern of its route. */
function assertReaches({ path, operationId }: Route, asked: string): void {
  const pattern = path.replaceAll(/:[A-Za-z]+/g, '[^/]+').replaceAll('.', '\\.');
  assert.match(asked, new RegExp(`^${pattern}$`), `the row of ${operationId} asks its route`);
}

describeInterface('what a write records', (server) => {
  let userToken: string;
  before(async () => {
    const user = await addUser(server(), 1);
    userToken = user.token;
  });

  it('is said here for every write, and for nothing else', () => {
    const operations = WRITES.map((route) => route.operationId).sort();
    assert.deepEqual(Object.keys(ROWS).sort(), operations);
  });

  for (const [index, route] of WRITES.entries()) {
    it(`${route.operationId}: ${ROWS[route.operationId]?.events.join(', ')}`, async () => {
      const row = ROWS[route.operationId];
      assert(row !== undefined, `${route.operationId} has no row`);
      const options = row.asUser ? { token: userToken } : {};
      let last = '';
      let former = '';
      const fill = (text: string): string =>
        text.replaceAll('$', `row-${index}`).replaceAll('@', last).replaceAll('^', former);
      const body = (value: unknown): unknown => {
        if (value === undefined) return undefined;
        const filled = fill(JSON.stringify(value));
        // Ids of users and events are numbers.
        return JSON.parse(/^[0-9]+$/.test(last) ? filled.replaceAll(`"${last}"`, last) : filled);
      };
      for (const [method, path, given] of row.given ?? []) {
        const response = await server().call(method, fill(path), body(given), options);
        assert(response.status < 300, `${method} ${fill(path)}: ${response.body?.message}`);
        const found = Array.isArray(response.body) ? response.body[0] : response.body;
        former = last;
        last = String(
          found?.digest ?? found?.id ?? found?.roles?.id ?? found?.events?.[0]?.id ?? found?.secret ?? last,
        );
      }
      const [path, sent] = row.when;
      assertReaches(route, fill(path));
      const { response, events } = await recording(server(), () =>
        server().call(route.method, fill(path), body(sent), options),
      );
      assert.equal(response.status, route.success.status, response.body?.message);
      const types = events.map((event) => event.type);
      assert.deepEqual(types, row.events);
      assert(types.every((type) => EVENT_TYPES.some((known) => known === type)));
    });
  }
});
