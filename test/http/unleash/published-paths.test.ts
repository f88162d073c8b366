/**
 * Every path of the administrative interface that Unleash 6.10 publishes and this server has too is asked, and what it responds is
 * held against what Unleash publishes: the status, and the schema of the body. What differs is in a list, each with its reason.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { addUser } from '../../support/interface.ts';
import { describeInterface, ROOT_FOLDER } from '../../support/server.ts';
import { departure, MISSING, SHARED, sharedOperation } from '../../support/unleash/published-paths.ts';
import { conformsToPublished } from '../../support/unleash/published-schemas.ts';

const DEFAULT = '/projects/default';
const FLAG = `${DEFAULT}/features/flag`;
const CHILD = `${DEFAULT}/features/child`;
const DEVELOPMENT = `${FLAG}/environments/development`;
const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['1'] };
const VARIANTS = [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' }];
const STRATEGY = { name: 'flexibleRollout', parameters: { rollout: '50', groupId: 'flag' } };
const FEATURES = { features: ['flag'] };
const CONTEXT = { context: { appName: 'shop' }, environment: 'development', projects: ['default'] };
const IMPORT = {
  project: 'default',
  environment: 'production',
  data: { features: [{ name: 'imported' }], featureStrategies: [{ ...STRATEGY, featureName: 'imported' }] },
};
const PAT = { description: 'laptop', expiresAt: '2999-01-01T00:00:00.000Z' };

type Call = readonly [method: string, path: string, body?: unknown];

/** `@name` in a path or body stands for what an earlier call kept under it: the field `id`, or the secret of a token. */
const CALLS: readonly (readonly [...Call, keep?: string | undefined] | Call)[] = [
  ['POST', `${DEFAULT}/features`, { name: 'flag' }],
  ['POST', `${DEFAULT}/features`, { name: 'child' }],
  ['POST', `${DEFAULT}/features`, { name: 'gone' }],
  ['POST', `${FLAG}/clone`, { name: 'clone' }],
  ['POST', '/segments', { name: 'some', constraints: [CONSTRAINT] }, 'segment'],
  ['POST', '/segments/validate', { name: 'other' }],
  ['PUT', '/segments/@segment', { name: 'some', constraints: [CONSTRAINT] }],
  [
    'POST',
    `${DEVELOPMENT}/strategies`,
    { ...STRATEGY, constraints: [CONSTRAINT], variants: VARIANTS },
    'strategy',
  ],
  [
    'POST',
    '/segments/strategies',
    { projectId: 'default', strategyId: '@strategy', environmentId: 'development', segmentIds: ['@segment'] },
  ],
  ['PUT', `${DEVELOPMENT}/strategies/@strategy`, { ...STRATEGY, segments: ['@segment'] }],
  ['PATCH', `${DEVELOPMENT}/strategies/@strategy`, [{ op: 'replace', path: '/title', value: 'Half' }]],
  ['POST', `${DEVELOPMENT}/strategies/set-sort-order`, [{ id: '@strategy', sortOrder: 1 }]],
  ['POST', `${DEVELOPMENT}/on`],
  ['PUT', FLAG, { name: 'flag', description: 'text' }],
  ['PATCH', FLAG, [{ op: 'replace', path: '/description', value: 'other' }]],
  ['PUT', `${FLAG}/variants`, VARIANTS],
  ['PATCH', `${FLAG}/variants`, [{ op: 'replace', path: '/0/name', value: 'b' }]],
  ['PUT', `${DEVELOPMENT}/variants`, VARIANTS],
  ['PATCH', `${DEVELOPMENT}/variants`, [{ op: 'replace', path: '/0/name', value: 'b' }]],
  ['PUT', `${FLAG}/variants-batch`, { variants: VARIANTS, environments: ['development'] }],
  ['POST', `${CHILD}/dependencies`, { feature: 'flag' }],
  ['POST', '/features/flag/tags', { type: 'simple', value: 'red' }],
  ['PUT', '/features/flag/tags', { addedTags: [{ type: 'simple', value: 'blue' }], removedTags: [] }],
  [
    'PUT',
    `${DEFAULT}/tags`,
    { ...FEATURES, tags: { addedTags: [], removedTags: [{ type: 'simple', value: 'blue' }] } },
  ],
  ['POST', '/tags', { type: 'simple', value: 'free' }],
  ['POST', '/tag-types', { name: 'team', description: 'Who owns it', icon: 'T' }],
  ['POST', '/tag-types/validate', { name: 'squad', description: '' }],
  ['PUT', '/tag-types/team', { description: 'Who owns the flag' }],
  ['POST', `${FLAG}/favorites`],
  ['POST', `${DEFAULT}/favorites`],
  ['POST', `${FLAG}/link`, { url: 'https://tracker.example/1', title: 'Ticket' }],
  ['GET', FLAG, undefined, 'link'],
  ['PUT', `${FLAG}/link/@link`, { url: 'https://tracker.example/2' }],
  ['POST', `${FLAG}/lifecycle/complete`, { status: 'kept' }],
  ['GET', `${FLAG}/lifecycle`],
  ['POST', `${FLAG}/lifecycle/uncomplete`],
  [
    'POST',
    '/context',
    { name: 'country', description: 'text', stickiness: true, legalValues: [{ value: 'fi' }] },
  ],
  ['POST', '/context/validate', { name: 'region' }],
  ['PUT', '/context/country', { description: 'other' }],
  ['POST', '/context/country/legal-values', { value: 'se', description: 'Sweden' }],
  ['POST', '/strategies', { name: 'own', parameters: [] }],
  ['PUT', '/strategies/own', { name: 'own', description: 'text', parameters: [] }],
  ['POST', '/strategies/own/deprecate'],
  ['POST', '/strategies/own/reactivate'],
  ['POST', '/constraints/validate', CONSTRAINT],
  ['POST', `${DEFAULT}/environments/development/default-strategy`, STRATEGY],
  [
    'POST',
    '/api-tokens',
    { tokenName: 'sdk', type: 'client', projects: ['default'], environment: 'development' },
    'token',
  ],
  [
    'POST',
    `${DEFAULT}/api-tokens`,
    { tokenName: 'sdk', type: 'client', environment: 'development' },
    'projectToken',
  ],
  ['PUT', '/api-tokens/@token', { expiresAt: '2999-01-01T00:00:00.000Z' }],
  ['POST', '/user-admin', { name: 'Ada', email: 'ada@example.com', rootRole: 2, sendEmail: false }, 'user'],
  ['POST', '/user-admin/validate-password', { password: 'Some-password-1' }],
  ['POST', '/user-admin/@root/change-password', { password: 'Some-password-1' }],
  ['POST', '/user/change-password', { password: 'Other-password-2', oldPassword: 'Some-password-1' }],
  ['POST', '/user-admin/reset-password', { id: 'ada@example.com' }],
  ['POST', '/invite-link/tokens', { name: 'team', expiresAt: '2999-01-01T00:00:00.000Z' }, 'invitation'],
  ['GET', '/invite-link/tokens/@invitation'],
  ['PUT', '/invite-link/tokens/@invitation', { enabled: false }],
  ['PUT', '/user-admin/@user', { name: 'Ada L.', rootRole: 3 }],
  ['POST', '/user/tokens', PAT, 'pat'],
  ['POST', '/metrics/applications/shop', { description: 'The shop' }],
  ['POST', '/playground', CONTEXT],
  [
    'POST',
    '/playground/advanced',
    { context: { appName: 'shop' }, environments: ['development'], projects: ['default'] },
  ],
  ['POST', '/features/validate', { name: 'free' }],
  ['POST', `${DEFAULT}/archive/validate`, FEATURES],
  ['POST', '/ui-config/cors', { frontendApiOrigins: ['*'] }],
  ['POST', '/maintenance', { enabled: false }],
  ['PUT', '/environments/sort-order', { development: 1, production: 2 }],
  ['POST', '/environments/production/off'],
  ['POST', '/environments/production/on'],
  ['POST', `${DEFAULT}/stale`, { ...FEATURES, stale: false }],
  ['DELETE', `${DEFAULT}/features/gone`],
  ['GET', '/archive/features'],
  ['GET', '/archive/features/default'],
  ...[
    ...['/api-tokens', '/client-metrics/features/flag', '/client-metrics/features/flag/raw', '/context'],
    ...['/context/userId', '/context/userId/strategies', '/environments', '/environments/project/default'],
    ...['/environments/development', '/events', '/events/flag', '/feature-types', '/features/flag/tags'],
    ...['/instance-admin/statistics', '/lifecycle/count', '/maintenance', '/metrics/applications'],
    ...['/metrics/applications/shop', '/metrics/applications/shop/overview', '/metrics/sdks/outdated'],
    ...['/metrics/instances/shop/environment/development', '/personal-dashboard', '/projects', DEFAULT],
    ...[
      '/personal-dashboard/default',
      `${DEFAULT}/applications`,
      `${DEFAULT}/dependencies`,
      `${DEFAULT}/dora`,
    ],
    ...[`${DEFAULT}/features`, `${CHILD}/parents`, DEVELOPMENT, `${DEVELOPMENT}/strategies`],
    ...[`${DEVELOPMENT}/strategies/@strategy`, `${DEVELOPMENT}/variants`, `${FLAG}/variants`],
    ...[`${FLAG}/parent-variants`, `${DEFAULT}/flag-creators`, `${DEFAULT}/health-report`],
    ...[`${DEFAULT}/insights`, `${DEFAULT}/overview`, `${DEFAULT}/sdks/outdated`, `${DEFAULT}/status`],
    ...[
      '/search/events',
      '/search/features',
      '/segments',
      '/segments/strategies/@strategy',
      '/segments/@segment',
    ],
    ...[
      '/segments/@segment/strategies',
      '/strategies',
      '/strategies/default',
      '/tag-types',
      '/tag-types/team',
    ],
    ...['/tags', '/tags/simple', '/tags/simple/red', '/ui-config', '/user', '/user-admin', '/user-admin/1'],
    ...[
      '/user/roles?projectId=default',
      '/user-admin/access',
      '/user-admin/1/permissions',
      '/event-creators',
    ],
    ...['/user-admin/admin-count', '/user-admin/inactive', '/invite-link/tokens', '/telemetry/settings'],
    ...[`${DEFAULT}/api-tokens`, '/api-tokens/sdk', '/addons'],
    ...['/user-admin/search?q=admin', '/user/profile', '/user/tokens'],
  ].map((path) => ['GET', path] as const),
  ['POST', '/events/search', {}],
  ['GET', '/instance-admin/statistics/csv'],
  ['POST', '/feedback', { feedbackId: 'pnps', neverShow: true }],
  ['PUT', '/feedback/pnps', { neverShow: false }],
  ['POST', '/splash/new-menu'],
  ['POST', '/record-ui-error', { errorMessage: 'x is undefined' }],
  ['POST', '/ui-config', { frontendSettings: { frontendApiOrigins: ['*'] } }],
  ['POST', '/features-batch/export', { environment: 'development', features: ['flag', 'child'] }],
  ['POST', '/features-batch/validate', IMPORT],
  ['POST', '/features-batch/import', IMPORT],
  ['POST', `${DEVELOPMENT}/off`],
  ['POST', `${DEFAULT}/bulk_features/environments/development/on`, FEATURES],
  ['POST', `${DEFAULT}/bulk_features/environments/development/off`, FEATURES],
  ['DELETE', `${FLAG}/link/@link`],
  ['DELETE', `${FLAG}/favorites`],
  ['DELETE', `${DEFAULT}/favorites`],
  ['DELETE', `${CHILD}/dependencies/flag`],
  ['DELETE', `${CHILD}/dependencies`],
  ['DELETE', `${DEVELOPMENT}/strategies/@strategy`],
  ['DELETE', '/segments/@segment'],
  ['DELETE', '/features/flag/tags/simple/red'],
  ['DELETE', '/tags/simple/free'],
  ['DELETE', '/tag-types/team'],
  ['DELETE', '/context/country/legal-values/se'],
  ['DELETE', '/context/country'],
  ['DELETE', '/strategies/own'],
  ['DELETE', `${DEFAULT}/api-tokens/@projectToken`],
  ['DELETE', '/api-tokens/@token'],
  ['DELETE', '/user/tokens/@pat'],
  ['DELETE', '/user-admin/@user'],
  ['DELETE', '/metrics/applications/shop'],
  ['POST', '/archive/revive/gone'],
  ['POST', `${DEFAULT}/archive`, { features: ['gone'] }],
  ['POST', `${DEFAULT}/revive`, { features: ['gone'] }],
  ['DELETE', `${DEFAULT}/features/gone`],
  ['DELETE', '/archive/gone'],
  ['DELETE', `${DEFAULT}/features/clone`],
  ['POST', `${DEFAULT}/delete`, { features: ['clone'] }],
  ['DELETE', `${DEFAULT}/environments/production`],
  ['POST', `${DEFAULT}/environments`, { environment: 'production' }],
];

/** What differs, and who decides that it does. */
const CREATED =
  'The interface document: 201 (endpoints 3 and 7). `variants` is null when there are none (docs/specification/flags.md#fields).';
const NULL_VARIANTS =
  '`variants` is null when there are none (docs/specification/flags.md#fields); Unleash 8 allows it.';
const NO_BODY = 'The interface document: 200 without a body (endpoints 13 and 14).';
const VERSION_TEXT = 'The interface document: `version` is a string (endpoints 15 and 16).';
const OF_FLAG = '/projects/{projectId}/features/{featureName}';
const SWITCH = `POST ${OF_FLAG}/environments/{environment}`;

const DEPARTURES: Readonly<Record<string, string>> = {
  'POST /projects/{projectId}/features': CREATED,
  [`POST ${OF_FLAG}/clone`]: CREATED,
  [`PUT ${OF_FLAG}`]: NULL_VARIANTS,
  [`PATCH ${OF_FLAG}`]: NULL_VARIANTS,
  [`${SWITCH}/on`]: NO_BODY,
  [`${SWITCH}/off`]: NO_BODY,
  [`GET ${OF_FLAG}/variants`]: VERSION_TEXT,
  [`PUT ${OF_FLAG}/variants`]: VERSION_TEXT,
  [`PATCH ${OF_FLAG}/variants`]: VERSION_TEXT,
  [`PUT ${OF_FLAG}/variants-batch`]: VERSION_TEXT,
  [`GET ${OF_FLAG}/environments/{environment}/variants`]: VERSION_TEXT,
  [`PUT ${OF_FLAG}/environments/{environment}/variants`]: VERSION_TEXT,
  [`PATCH ${OF_FLAG}/environments/{environment}/variants`]: VERSION_TEXT,
  [`GET ${OF_FLAG}/environments/{environment}/strategies`]:
    'A list of strategies, as Unleash itself responds with; the published schema is that of one.',
  'GET /user-admin/search':
    'A list of users, as Unleash itself responds with (usersSearchSchema); the published schema is that of another path.',
};

const keptFrom = (body: Record<string, unknown>, as: string): unknown =>
  as === 'token' || as === 'invitation'
    ? body['secret']
    : as === 'link'
      ? (body['links'] as { id: string }[])[0]?.id
      : body['id'];

describeInterface('the paths that Unleash publishes too', (server) => {
  it('respond as published, but for those that are listed with a reason', async () => {
    const root = await addUser(server(), 1, { name: 'Root', email: 'root@example.com' });
    const { token } = root;
    const kept = new Map<string, unknown>([['root', root.id]]);
    const fill = (text: string): string =>
      text
        .replaceAll(/"@(\w+)"/g, (_, name) => JSON.stringify(kept.get(name)))
        .replaceAll(/@(\w+)/g, (whole, name) => (kept.has(name) ? String(kept.get(name)) : whole));
    const found = new Map<string, string>();
    const asked = new Set<string>();
    for (const [method, path, body, keep] of CALLS as readonly (readonly [
      string,
      string,
      unknown?,
      string?,
    ])[]) {
      const operation = sharedOperation(method, fill(path));
      // Of rows for paths that this server has not (yet), none is asked; a slip in a path leaves one that no row asks.
      if (operation === undefined) continue;
      const sent = body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body)));
      const response = await server().call(method, fill(path), sent, { token });
      assert(response.status < 300, `${method} ${path}: ${JSON.stringify(response.body)}`);
      if (keep !== undefined) kept.set(keep, keptFrom(response.body, keep));
      if (operation === 'GET /user-admin/search')
        conformsToPublished('usersSearchSchema', response.body, path);
      asked.add(operation);
      const differs = departure(operation, response.status, response.body);
      if (differs !== null) found.set(operation, differs);
    }
    for (const [operation, differs] of found) {
      assert(operation in DEPARTURES, `${operation} is not as published, which nobody decided: ${differs}`);
    }
    assert.deepEqual([...found.keys()].sort(), Object.keys(DEPARTURES).sort());
    assert.deepEqual(
      SHARED.filter((one) => !asked.has(one)),
      [],
      'every shared path is asked',
    );
  });
});

it('the page of what differs has a reason for every operation that only Unleash has, and for no other', () => {
  const page =
    readFileSync(join(ROOT_FOLDER, 'docs/unleash-compatibility.md'), 'utf8').split(/^## /m)[1] ?? '';
  const named = [...page.matchAll(/^\| `([A-Z]+ [^`]+)` \| .{8,} \|$/gm)].map(([, operation]) => operation);
  assert.deepEqual(named.sort(), [...MISSING].sort());
});
