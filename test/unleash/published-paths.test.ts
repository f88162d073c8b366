/**
 * Every path that Unleash 6.10 publishes and this server has too is asked, and what it responds is held against what Unleash publishes:
 * the status, and the schema of the body. What differs, and what is not here, is in docs/unleash-compatibility.md, each with its reason.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { addUser } from '../support/interface.ts';
import { describeInterface, ROOT_FOLDER } from '../support/server.ts';
import { departure, MISSING, SHARED, sharedOperation } from './published-paths.ts';
import { conformsToPublished } from './published-schemas.ts';

const DEFAULT = '/projects/default';
const FLAG = `${DEFAULT}/features/flag`;
const CHILD = `${DEFAULT}/features/child`;
const DEVELOPMENT = `${FLAG}/environments/development`;
const INTEGRATION = {
  ...{ provider: 'webhook', enabled: false, events: ['feature-created'] },
  parameters: { url: 'https://hooks.example/flags' },
};
const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['1'] };
const VARIANTS = [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' }];
const STRATEGY = { name: 'flexibleRollout', parameters: { rollout: '50', groupId: 'flag' } };
const FEATURES = { features: ['flag'] };
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
  ['PUT', '/segments/@segment', { name: 'some', constraints: [CONSTRAINT] }],
  [
    'POST',
    `${DEVELOPMENT}/strategies`,
    { ...STRATEGY, constraints: [CONSTRAINT], variants: VARIANTS },
    'strategy',
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
  ['POST', `${CHILD}/dependencies`, { feature: 'flag' }],
  ['POST', '/features/flag/tags', { type: 'simple', value: 'red' }],
  [
    'PUT',
    `${DEFAULT}/tags`,
    { ...FEATURES, tags: { addedTags: [], removedTags: [{ type: 'simple', value: 'blue' }] } },
  ],
  ['POST', '/addons', INTEGRATION, 'addon'],
  ['PUT', '/addons/@addon', INTEGRATION],
  ['GET', '/addons/@addon'],
  ['GET', '/addons/@addon/events'],
  ['POST', '/tag-types', { name: 'team', description: 'Who owns it', icon: 'T' }],
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
  ['PUT', '/context/country', { description: 'other' }],
  ['POST', '/strategies', { name: 'own', parameters: [] }],
  ['PUT', '/strategies/own', { name: 'own', description: 'text', parameters: [] }],
  ['POST', '/strategies/own/deprecate'],
  ['POST', '/strategies/own/reactivate'],
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
  ['POST', '/user-admin/@root/change-password', { password: 'Some-password-1' }],
  ['POST', '/user/change-password', { password: 'Other-password-2', oldPassword: 'Some-password-1' }],
  ['POST', '/user-admin/reset-password', { id: 'ada@example.com' }],
  ['POST', '/invite-link/tokens', { name: 'team', expiresAt: '2999-01-01T00:00:00.000Z' }, 'invitation'],
  ['PUT', '/invite-link/tokens/@invitation', { enabled: false }],
  ['PUT', '/user-admin/@user', { name: 'Ada L.', rootRole: 3 }],
  ['POST', '/user/tokens', PAT, 'pat'],
  ['POST', '/metrics/applications/shop', { description: 'The shop' }],
  [
    'POST',
    '/playground/advanced',
    { context: { appName: 'shop' }, environments: ['development'], projects: ['default'] },
  ],
  ['POST', '/features/validate', { name: 'free' }],
  ['POST', '/constraints/validate', { contextName: 'userId', operator: 'IN', values: ['7'] }],
  ['POST', `${DEFAULT}/archive/validate`, FEATURES],
  ['POST', '/ui-config/cors', { frontendApiOrigins: ['*'] }],
  ['POST', '/maintenance', { enabled: false }],
  ['PUT', '/feature-types/release/lifetime', { lifetimeDays: 7 }],
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
    ...['/metrics/applications/shop', '/metrics/applications/shop/overview'],
    ...['/metrics/instances/shop/environment/development', '/projects', DEFAULT],
    ...[`${DEFAULT}/applications`, `${DEFAULT}/context`, `${DEFAULT}/dependencies`],
    ...[`${DEFAULT}/features`, `${CHILD}/parents`, DEVELOPMENT, `${DEVELOPMENT}/strategies`],
    ...[`${DEVELOPMENT}/strategies/@strategy`, `${DEVELOPMENT}/variants`, `${FLAG}/variants`],
    ...[`${DEFAULT}/flag-creators`],
    ...[`${DEFAULT}/insights`, `${DEFAULT}/overview`, `${DEFAULT}/sdks/outdated`, `${DEFAULT}/status`],
    ...['/search/events', '/search/features', '/segments', '/segments/@segment'],
    ...[
      '/segments/@segment/strategies',
      '/strategies',
      '/strategies/default',
      '/tag-types',
      '/tag-types/team',
    ],
    ...['/ui-config', '/user', '/user-admin', '/user-admin/1'],
    ...[
      '/user/roles?projectId=default',
      '/user-admin/access',
      '/user-admin/1/permissions',
      '/event-creators',
    ],
    ...['/user-admin/admin-count', '/user-admin/inactive', '/invite-link/tokens'],
    ...[`${DEFAULT}/api-tokens`, '/api-tokens/sdk', '/addons'],
    ...['/user-admin/search?q=admin', '/user/profile', '/user/tokens'],
  ].map((path) => ['GET', path] as const),
  ['POST', '/events/search', {}],
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
  ['DELETE', '/tag-types/team'],
  ['DELETE', '/addons/@addon'],
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

type OtherCall = readonly [method: string, path: string, token: string | null, body?: unknown];

/** Outside of the administrative interface. `@name` stands for a token or a secret. */
const SEEN = { start: '2026-11-22T00:00:00.000Z', stop: '2026-11-22T00:01:00.000Z' };
const COUNTS = { appName: 'shop', instanceId: 'one', bucket: { ...SEEN, toggles: {} } };
const REGISTRATION = {
  appName: 'shop',
  instanceId: 'one',
  interval: 10,
  started: SEEN.start,
  strategies: [],
};
const PASSWORD = 'Third-password-3';
const OTHER_CALLS: readonly OtherCall[] = [
  ['GET', '/health', null],
  ['GET', '/api/client/features', '@client'],
  ['GET', '/api/client/features/flag', '@client'],
  ['POST', '/api/client/register', '@client', REGISTRATION],
  ['POST', '/api/client/metrics', '@client', COUNTS],
  ['POST', '/api/client/metrics/bulk', '@client', { applications: [], metrics: [] }],
  ['POST', '/edge/validate', null, { tokens: ['@client'] }],
  ['GET', '/api/frontend', '@frontend'],
  ['POST', '/api/frontend', '@frontend', { context: { userId: '1' } }],
  ['GET', '/auth/reset/validate?token=@reset', null],
  ['POST', '/auth/reset/password', null, { token: '@reset', password: PASSWORD }],
  ['POST', '/auth/simple/login', null, { username: 'root@example.com', password: PASSWORD }],
  ['GET', '/invite/@invitation/validate', null],
  [
    'POST',
    '/invite/@invitation/signup',
    null,
    { email: 'guest@example.com', name: 'Guest', password: PASSWORD },
  ],
];

/** The rows of a section of the page: operations, each with a reason. */
function operationsNamed(section: RegExp): ReadonlySet<string> {
  const page = readFileSync(join(ROOT_FOLDER, 'docs/unleash-compatibility.md'), 'utf8').split(/^## /m);
  const rows = page.find((one) => section.test(one))?.matchAll(/^\| (`[^|]+`) \| .{8,} \|$/gm) ?? [];
  return new Set(
    [...rows].flatMap(([, first = '']) =>
      [...first.matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, one]) => one ?? ''),
    ),
  );
}

const keptFrom = (body: Record<string, unknown>, as: string): unknown =>
  as === 'token' || as === 'projectToken' || as === 'invitation'
    ? body['secret']
    : as === 'link'
      ? (body['links'] as { id: string }[])[0]?.id
      : body['id'];

describeInterface('the paths that Unleash publishes too', (server) => {
  it('respond as published, but for those that the page lists with a reason', async () => {
    const root = await addUser(server(), 1, { name: 'Root', email: 'root@example.com' });
    const kept = new Map<string, unknown>([['root', root.id]]);
    const fill = (text: string): string =>
      text
        .replaceAll(/"@(\w+)"/g, (_, name) => JSON.stringify(kept.get(name)))
        .replaceAll(/@(\w+)/g, (whole, name) => (kept.has(name) ? String(kept.get(name)) : whole));
    const listed = operationsNamed(/^Responses that differ/);
    const found = new Map<string, string>();
    const asked = new Set<string>();
    const ask = async (method: string, path: string, token: string | null, body?: unknown) => {
      const operation = sharedOperation(method, path);
      // Of rows for paths that this server has not (yet), none is asked; a slip in a path leaves one that no row asks.
      if (operation === undefined) return undefined;
      const sent = body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body)));
      const response = await server().callBelow('')(method, path, sent, { token });
      const isGood = response.status < 300 || listed.has(operation);
      assert(isGood, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
      asked.add(operation);
      const differs = departure(operation, response.status, response.body);
      if (differs !== null) found.set(operation, differs);
      return response.body;
    };
    for (const [method, path, body, keep] of CALLS as readonly (readonly [
      string,
      string,
      unknown?,
      string?,
    ])[]) {
      const received = await ask(method, `/api/admin${fill(path)}`, root.token, body);
      if (keep !== undefined) kept.set(keep, keptFrom(received, keep));
      if (path.startsWith('/user-admin/search')) conformsToPublished('usersSearchSchema', received, path);
    }
    const make = async (path: string, body: unknown) =>
      (await server().call('POST', path, body, { token: root.token })).body;
    for (const type of ['client', 'frontend']) {
      kept.set(
        type,
        (await make('/api-tokens', { tokenName: type, type, environment: 'development' })).secret,
      );
    }
    const { resetPasswordUrl } = await make('/user-admin/reset-password', { id: 'root@example.com' });
    kept.set('reset', new URL(resetPasswordUrl, server().origin).hash.split('=').at(-1));
    const invited = await make('/invite-link/tokens', { name: 'all', expiresAt: '2999-01-01T00:00:00.000Z' });
    kept.set('invitation', invited.secret);
    for (const [method, path, token, body] of OTHER_CALLS) {
      await ask(method, fill(path), token === null ? null : fill(token), body);
    }
    // Their response is the text "OK", which SDKs for browsers read; none is published.
    for (const [path, body] of [
      ['register', REGISTRATION],
      ['metrics', COUNTS],
    ] as const) {
      const url = `${server().origin}/api/frontend/client/${path}`;
      const headers = { authorization: fill('@frontend'), 'content-type': 'application/json' };
      const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      assert.equal(status, 200);
      asked.add(`POST /api/frontend/client/${path}`);
    }
    for (const [operation, differs] of found) {
      assert(listed.has(operation), `${operation} is not as published, which nobody decided: ${differs}`);
    }
    assert.deepEqual([...found.keys()].sort(), [...listed].sort());
    assert.deepEqual(
      SHARED.filter((one) => !asked.has(one)),
      [],
      'every shared path is asked',
    );
  });
});

it('the page of what differs has a reason for every operation that only Unleash has, and for no other', () => {
  assert.deepEqual([...operationsNamed(/^Operations that are not here/)].sort(), [...MISSING].sort());
});
