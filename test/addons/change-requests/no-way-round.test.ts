/**
 * No write changes what a protected environment serves, whoever calls: every write of the interface, taken from the tables of routes,
 * so that a new one is inside, as each kind of caller. Whoever may skip changes it by the same requests.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DESCRIBED, type DescribedRoute } from '../../support/described-routes.ts';
import { exampleBody } from '../../support/example-body.ts';
import { addProject, addUser } from '../../support/interface.ts';
import { serverFor, type TestServer } from '../../support/server.ts';
import { addPermitted, EDITOR, protect, ROLLOUT, succeeded } from './scene.ts';

/** Writes that turn the protection off, or end all others: they are tested by themselves. */
const LEFT_OUT = ['updateProjectChangeRequestConfig', 'toggleMaintenance'];

const FLAG = '/projects/default/features';
const [ADMIN, VIEWER, OWNER] = [1, 3, 4];
const VARIANT = { name: 'other', weight: 1000, weightType: 'variable' };

interface Scene {
  readonly server: TestServer;
  readonly strategyId: string;
  readonly segmentId: number;
  /** Id of an event before what `guarded` was given last. */
  readonly past: number;
  /** Returns what production serves. */
  served(): Promise<object>;
}

/** The flag `guarded` is on in production, with a segment, variants and the parent `parent`. */
async function sceneFor(t: Parameters<typeof serverFor>[0]): Promise<Scene> {
  const server = await serverFor(t);
  const { call } = server;
  await addProject(server, 'elsewhere');
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['1'] }];
  const { id: segmentId } = await succeeded(call('POST', '/segments', { name: 'few', constraints }));
  let strategyId = '';
  for (const name of ['parent', 'guarded', 'waiting']) {
    await succeeded(call('POST', FLAG, { name }));
    const path = `${FLAG}/${name}/environments/production`;
    const strategy = { ...ROLLOUT, segments: [segmentId] };
    const [first] = [
      await succeeded(call('POST', `${path}/strategies`, strategy)),
      await succeeded(call('POST', `${path}/strategies`, strategy)),
    ];
    if (name === 'waiting') continue;
    await succeeded(call('POST', `${path}/on`));
    if (name === 'guarded') strategyId = first.id;
  }
  const past = server.server.store.engine.lastId;
  await succeeded(
    call('PUT', `${FLAG}/guarded/environments/production/variants`, [{ ...VARIANT, name: 'one' }]),
  );
  await succeeded(call('POST', `${FLAG}/guarded/dependencies`, { feature: 'parent' }));
  await succeeded(call('POST', `${FLAG}/waiting/environments/production/strategies`, ROLLOUT));
  await protect(server, { allowSwitchOff: false });
  const token = { tokenName: 'sdk', type: 'client', environment: 'production', projects: ['*'] };
  const { secret } = await succeeded(call('POST', '/api-tokens', token));
  const served = async () => {
    const { body } = await server.callBelow('/api')('GET', '/client/features', undefined, { token: secret });
    return servedIn(body);
  };
  return { server, strategyId, segmentId, past, served };
}

type Sent = Record<string, unknown> & { readonly name: string; readonly enabled: boolean };

/** The document without what evaluates nothing: descriptions and flags that are off, but for their strategies. */
function servedIn({
  features,
  segments,
}: {
  readonly features: readonly Sent[];
  readonly segments: unknown;
}): object {
  const rules = features
    .filter(({ enabled, name }) => enabled || name === 'waiting')
    .map(({ description: _, type: __, stale: ___, impressionData: ____, ...rest }) => rest);
  return { rules, segments };
}

function pathOf({ pattern }: DescribedRoute, { strategyId, segmentId }: Scene): string {
  const id = pattern.includes('/segments/') ? String(segmentId) : '1';
  const values: Record<string, string> = {
    ...{ projectId: 'default', featureName: 'guarded', environment: 'production', child: 'guarded' },
    ...{ parent: 'parent', strategyId, id, name: 'production', strategyName: 'flexibleRollout' },
  };
  return pattern.replaceAll(/:([A-Za-z]+)/g, (_, name: string) => values[name] ?? '1');
}

/** Bodies for operations that need another than their example to change anything here. */
function bodyOf(one: DescribedRoute, { strategyId, segmentId }: Scene): unknown {
  const { operationId } = one.route;
  const strategy = { ...ROLLOUT, parameters: { ...ROLLOUT.parameters, rollout: '99' } };
  const own: Record<string, unknown> = {
    ...{ addFeatureStrategy: strategy, updateFeatureStrategy: strategy },
    patchFeatureStrategy: [{ op: 'replace', path: '/parameters/rollout', value: '98' }],
    setStrategySortOrder: [{ id: strategyId, sortOrder: 999 }],
    overwriteEnvironmentFeatureVariants: [VARIANT],
    overwriteFeatureVariants: [{ ...VARIANT, name: 'third' }],
    updateSegment: { id: segmentId, name: 'all', constraints: [] },
    changeProject: { newProjectId: 'elsewhere' },
  };
  if (operationId in own) return own[operationId];
  const example = exampleBody(one);
  if (example === undefined) return undefined;
  const text = JSON.stringify(example)
    .replaceAll('checkout-redesign', 'guarded')
    .replaceAll('development', 'production')
    .replaceAll('new-payment-provider', 'parent');
  return JSON.parse(text);
}

/** Operations that change something in their order below, one after the other, where they may. */
const CHANGING = [
  ...['addFeatureStrategy', 'updateFeatureStrategy', 'patchFeatureStrategy', 'setStrategySortOrder'],
  ...['overwriteFeatureVariants', 'patchFeatureVariants', 'overwriteEnvironmentFeatureVariants'],
  ...['patchEnvironmentsFeatureVariants', 'updateSegment', 'addFeatureDependency'],
  ...['toggleFeatureEnvironmentOff', 'toggleEnvironmentOff'],
];

/** All writes; those that take away what others need come last. */
const WRITES = DESCRIBED.filter(
  ({ route }) => route.kind === 'write' && !LEFT_OUT.includes(route.operationId),
).toSorted((a, b) => rankOf(a) - rankOf(b));

function rankOf({ route: { operationId, method } }: DescribedRoute): number {
  if (/archive|delete|changeProject|rollback/i.test(operationId)) return 2;
  return method === 'DELETE' || operationId.endsWith('Off') ? 1 : 0;
}

async function send(scene: Scene, one: DescribedRoute, token: string | undefined): Promise<number> {
  const call = scene.server.callBelow('');
  const { status } = await call(
    one.route.method,
    pathOf(one, scene),
    bodyOf(one, scene),
    token === undefined ? {} : { token },
  );
  return status;
}

describe('a protected environment', () => {
  it('serves the same after every write by whoever may not skip', async (t) => {
    const scene = await sceneFor(t);
    const { server } = scene;
    const owner = await addUser(server, VIEWER);
    await succeeded(server.call('POST', `/projects/default/users/${owner.id}/roles/${OWNER}`));
    const flagRights = ['CREATE_FEATURE_STRATEGY', 'UPDATE_FEATURE_STRATEGY', 'DELETE_FEATURE_STRATEGY'];
    const callers = {
      'a custom role': await addPermitted(server, 'UPDATE_FEATURE_ENVIRONMENT', ...flagRights),
      'a reviewer': await addPermitted(
        server,
        'APPROVE_CHANGE_REQUEST',
        'APPLY_CHANGE_REQUEST',
        ...flagRights,
      ),
      'an Editor': await addUser(server, EDITOR),
      'an Owner of the project': owner,
      'a service account': await addUser(server, EDITOR, { isService: true }),
      'a second Admin': await addUser(server, ADMIN),
      'an Admin': await addUser(server, ADMIN),
      'an admin token': { token: undefined },
    };
    const before = await scene.served();
    for (const one of WRITES)
      for (const [who, { token }] of Object.entries(callers)) {
        const status = await send(scene, one, token);
        assert.notEqual(status, 500, one.route.operationId);
        assert.deepEqual(await scene.served(), before, `${one.route.operationId} by ${who}: ${status}`);
      }
  });

  it('is changed by the same writes of whoever may skip', async (t) => {
    const scene = await sceneFor(t);
    const skipper = await addUser(scene.server, ADMIN);
    const permissions = [{ name: 'SKIP_CHANGE_REQUEST', environment: 'production' }];
    const role = { name: 'skipper', type: 'custom', description: '', permissions };
    const { roles } = await succeeded(scene.server.call('POST', '/roles', role));
    await succeeded(scene.server.call('POST', `/projects/default/users/${skipper.id}/roles/${roles.id}`));
    const changing: string[] = [];
    let before = JSON.stringify(await scene.served());
    for (const one of WRITES) {
      await send(scene, one, skipper.token);
      const after = JSON.stringify(await scene.served());
      if (after !== before) changing.push(one.route.operationId);
      before = after;
    }
    assert.deepEqual(changing.toSorted(), CHANGING.toSorted());
    const { body } = await scene.server.call('GET', '/events?type=change-request-skipped&limit=100');
    assert.ok(body.events.length >= changing.length, 'each is told by an event of its own');
  });

  it('refuses what reaches it indirectly', async (t) => {
    const scene = await sceneFor(t);
    const { past } = scene;
    const { call } = scene.server;
    await succeeded(call('POST', `${FLAG}/guarded/environments/development/strategies`, ROLLOUT));
    await addProject(scene.server, 'small');
    const small = '/projects/small/environments/production';
    await succeeded(call('POST', '/projects/small/features', { name: 'off' }));
    await succeeded(call('POST', '/projects/small/features/off/environments/production/strategies', ROLLOUT));
    await succeeded(call('PUT', `${small}/change-requests/config`, { changeRequestsEnabled: true }));
    const data = {
      features: [{ name: 'guarded' }],
      featureStrategies: [{ ...ROLLOUT, featureName: 'guarded' }],
      featureEnvironments: [{ featureName: 'guarded', name: 'production', enabled: true }],
    };
    const before = await scene.served();
    const ways: readonly (readonly [string, string, unknown?])[] = [
      ['POST', `${FLAG}/guarded/clone`, { name: 'copy' }],
      ['POST', `${FLAG}/guarded/rollback`, { eventId: past }],
      ['POST', '/projects/default/rollback', { eventId: past }],
      ['POST', '/features-batch/import', { project: 'default', environment: 'production', data }],
      ['POST', `${FLAG}/guarded/environments/production/strategies/copy`, { from: 'development' }],
      ['POST', `${FLAG}/waiting/changeProject`, { newProjectId: 'elsewhere' }],
      ['POST', '/projects/default/archive', { features: ['guarded', 'parent'] }],
      ['DELETE', `${FLAG}/guarded/dependencies`],
      ['POST', '/projects/default/bulk_features/environments/production/off', { features: ['guarded'] }],
      ['POST', '/environments/production/off'],
      ['DELETE', '/projects/small/environments/production'],
    ];
    for (const [method, path, body] of ways) {
      const refused = await call(method, path, body);
      assert.equal(refused.status, 403, `${path}: ${refused.status} ${refused.body?.message}`);
      assert.match(refused.body.message, /change request/);
      assert.deepEqual(await scene.served(), before);
    }
    await succeeded(call('PUT', `${small}/change-requests/config`, { changeRequestsEnabled: false }));
    await succeeded(
      call('POST', '/projects/small/features/off/changeProject', { newProjectId: 'elsewhere' }),
    );
    const back = await call('POST', '/projects/elsewhere/features/off/changeProject', {
      newProjectId: 'default',
    });
    assert.equal(back.status, 403, 'a flag with strategies does not come in from elsewhere');
  });

  it('lets flags be switched off at once, unless it is told not to, and says so in an event', async (t) => {
    const { server } = await sceneFor(t);
    const off = () => server.call('POST', `${FLAG}/guarded/environments/production/off`);
    assert.equal((await off()).status, 403);
    await protect(server, { allowSwitchOff: true });
    await succeeded(off());
    const { body } = await server.call('GET', '/events?limit=1');
    const { type, data } = body.events[0];
    assert.deepEqual(
      [type, data.skip.reason, data.skip.features],
      ['change-request-skipped', 'switch-off', ['guarded']],
    );
    assert.equal((await server.call('POST', `${FLAG}/guarded/environments/production/on`)).status, 403);
  });

  it('refuses to switch a flag off where that would switch others on', async (t) => {
    const { server } = await sceneFor(t);
    await protect(server, { changeRequestsEnabled: false });
    const dependency = { feature: 'parent', enabled: false };
    await succeeded(server.call('POST', `${FLAG}/guarded/dependencies`, dependency));
    await protect(server, { allowSwitchOff: true });
    const off = (name: string) => server.call('POST', `${FLAG}/${name}/environments/production/off`);
    assert.equal((await off('parent')).status, 403);
    await succeeded(off('guarded'));
    await succeeded(off('parent'));
  });

  it('answers the repeat of a keyed write from before its protection, and changes nothing', async (t) => {
    const { server, served } = await sceneFor(t);
    const path = `${FLAG}/waiting/environments/production/strategies`;
    const keyed = () => server.call('POST', path, ROLLOUT, { headers: { 'idempotency-key': 'once' } });
    await protect(server, { changeRequestsEnabled: false });
    const first = await keyed();
    await protect(server);
    const before = await served();
    assert.deepEqual((await keyed()).body, first.body);
    assert.deepEqual(await served(), before);
  });
});
