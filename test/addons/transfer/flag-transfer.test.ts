/** Exports of flags, and their way into another environment, project or service. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addProject, addUser } from '../../support/interface.ts';
import { type Call, describeInterface, serverFor } from '../../support/server.ts';
import { recordedUnleash } from '../../support/unleash/recorded-unleash.ts';

const FLAGS = '/projects/default/features';
const TRANSFER = '/features-batch';

const CONSTRAINT = { contextName: 'country', operator: 'IN', values: ['fi'] };
const STRATEGY = {
  name: 'flexibleRollout',
  title: 'Half',
  constraints: [{ contextName: 'plan', operator: 'NUM_GT', value: '3' }],
  parameters: { rollout: '50', groupId: 'flag', stickiness: 'userId' },
  variants: [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' }],
};

async function did(call: Call, method: string, path: string, body?: unknown) {
  const response = await call(method, path, body);
  assert.ok(response.status < 300, `${method} ${path}: ${JSON.stringify(response.body)}`);
  return response.body;
}

/** A parent and a child with everything that an export can have. */
async function fill(call: Call): Promise<void> {
  const { id } = await did(call, 'POST', '/segments', { name: 'Nordic', constraints: [CONSTRAINT] });
  await did(call, 'POST', '/context', { name: 'plan', legalValues: [{ value: '3' }], sortOrder: 3 });
  await did(call, 'POST', '/tag-types', { name: 'team', description: 'Who owns it' });
  await did(call, 'POST', FLAGS, { name: 'parent', description: 'Größe' });
  await did(call, 'POST', FLAGS, {
    name: 'child',
    description: null,
    type: 'experiment',
    impressionData: true,
    links: [{ id: 'l', url: 'https://tracker.example/1', title: null }],
  });
  const here = `${FLAGS}/child/environments/development`;
  await did(call, 'POST', `${here}/strategies`, { ...STRATEGY, segments: [id] });
  await did(call, 'POST', `${here}/strategies`, { name: 'default', disabled: true });
  await did(call, 'POST', `${here}/on`);
  await did(call, 'PUT', `${here}/variants`, [{ name: 'v', weight: 1000, weightType: 'variable' }]);
  await did(call, 'POST', '/features/child/tags', { type: 'team', value: 'checkout' });
  await did(call, 'POST', `${FLAGS}/child/dependencies`, { feature: 'parent', variants: ['v'] });
}

const exported = (call: Call, query: object = { project: 'default' }) =>
  did(call, 'POST', `${TRANSFER}/export`, { environment: 'development', ...query });

/** Without what each service numbers by itself. */
function comparable(file: Record<string, unknown>): unknown {
  const { features, featureStrategies, featureEnvironments, segments, ...rest } = file as Record<
    string,
    { id?: unknown; project?: unknown; environment?: unknown; segments?: readonly unknown[] }[]
  >;
  return {
    ...rest,
    features: features?.map(({ project: _, ...flag }) => flag),
    featureStrategies: featureStrategies?.map(({ id: _, segments: ids = [], ...strategy }) => ({
      ...strategy,
      segments: ids.length,
    })),
    featureEnvironments: featureEnvironments?.map(({ environment: _, ...one }) => one),
    segments: segments?.map(({ id: _, ...segment }) => segment),
  };
}

const newestId = async (call: Call): Promise<number> =>
  (await did(call, 'POST', '/events/search', { limit: 1 })).events[0].id;

describeInterface('an export of flags', (server) => {
  it('goes into another service as one change, is the same there, and changes nothing the second time', async (t) => {
    const { call } = server();
    await fill(call);
    const file = await exported(call);
    const other = await serverFor(t);

    await addProject(other, 'shop');
    const before = await newestId(other.call);
    const wanted = { project: 'shop', environment: 'production', data: file };
    const missing = await other.call('POST', `${TRANSFER}/import`, wanted);
    assert.equal(missing.status, 400);
    assert.match(missing.body.message, /no segments of these names .*: Nordic\./);
    assert.equal(await newestId(other.call), before);

    // Another number than in the service that the file comes from.
    for (const name of ['first', 'Nordic'])
      await did(other.call, 'POST', '/segments', { name, constraints: [CONSTRAINT] });
    await did(other.call, 'POST', `${TRANSFER}/import`, wanted);
    const there = await exported(other.call, { features: ['parent', 'child'], environment: 'production' });
    assert.deepEqual(comparable(there), comparable(file));
    const { features } = await exported(other.call, { tag: 'team:checkout' });
    assert.deepEqual(
      features.map(({ name }: { name: string }) => name),
      ['child'],
    );

    const after = await newestId(other.call);
    await did(other.call, 'POST', `${TRANSFER}/import`, wanted);
    assert.equal(await newestId(other.call), after);
    const found = await did(other.call, 'POST', '/events/search', { type: 'features-imported' });
    assert.deepEqual(
      found.events.map(({ project, environment, data }: Record<string, unknown>) => [
        project,
        environment,
        data,
      ]),
      [['shop', 'production', { features: ['parent', 'child'] }]],
    );
  });

  it('comes from Unleash 6.10, as it was recorded there, with all that it has', async (t) => {
    const { exported: recordedFile } = recordedUnleash();
    const file = recordedFile as Record<string, readonly Record<string, unknown>[]>;
    const other = await serverFor(t);

    const { call } = other;
    for (const { name } of file['segments'] ?? [])
      await did(call, 'POST', '/segments', { name, constraints: [CONSTRAINT] });
    await did(call, 'POST', '/strategies', { name: 'by-tenant' });
    await did(call, 'POST', `${TRANSFER}/import`, {
      project: 'default',
      environment: 'production',
      data: file,
    });
    const archived = (file['features'] ?? []).filter((flag) => flag['archived']).map(({ name }) => name);
    assert.ok(archived.length > 0);
    const inFile = (part: string): readonly Record<string, unknown>[] =>
      (file[part] ?? []).filter((one) => !archived.includes(one['featureName'] ?? one['name']));
    const there = await exported(call, { project: 'default', environment: 'production' });
    assert.deepEqual(
      there.features.map(({ name }: { name: string }) => name),
      inFile('features').map(({ name }) => name),
    );
    for (const part of ['featureStrategies', 'featureTags', 'segments', 'contextFields', 'dependencies'])
      assert.equal(there[part].length, inFile(part).length, part);
    for (const [at, strategy] of inFile('featureStrategies').entries()) {
      const { name, featureName, parameters } = there.featureStrategies[at];
      assert.deepEqual(
        { name, featureName, parameters },
        {
          name: strategy['name'],
          featureName: strategy['featureName'],
          parameters: strategy['parameters'],
        },
      );
    }
  });

  it('replaces what flags are in the environment, and leaves archived ones alone', async () => {
    const { call } = server();
    const file = await exported(call);
    const here = `${FLAGS}/child/environments/development`;
    const { strategies } = await did(call, 'GET', here);
    await did(call, 'PATCH', `${here}/strategies/${strategies[0].id}`, [
      { op: 'replace', path: '/title', value: 'changed' },
    ]);
    await did(call, 'POST', `${here}/strategies`, { name: 'default' });
    await did(call, 'PUT', `${here}/variants`, []);
    await did(call, 'POST', '/features/child/tags', { value: 'other' });
    await did(call, 'DELETE', '/features/child/tags/team/checkout');
    const wanted = { project: 'default', environment: 'development', data: file };
    const { errors, warnings, permissions } = await did(call, 'POST', `${TRANSFER}/validate`, wanted);
    assert.deepEqual([errors, permissions], [[], []]);
    assert.deepEqual(
      warnings.map(({ affectedItems }: { affectedItems: string[] }) => affectedItems),
      [['parent', 'child'], ['child']],
    );
    await did(call, 'POST', `${TRANSFER}/import`, wanted);
    assert.deepEqual(await exported(call), file);
    assert.equal((await did(call, 'GET', here)).strategies[0].id, strategies[0].id);

    await did(call, 'POST', FLAGS, { name: 'old' });
    const withOld = await exported(call);
    await did(call, 'DELETE', `${FLAGS}/old`);
    await did(call, 'POST', `${TRANSFER}/import`, { ...wanted, data: withOld });
    assert.equal((await did(call, 'GET', `${FLAGS}/old`)).archived, true);
    assert.deepEqual(await exported(call), file, 'an export has no archived flags');
  });

  it('tells before an import which new names break the rules of the project, and which legal values are missing', async () => {
    const { call } = server();
    const rules = { featureNaming: { pattern: 'team-[a-z]+', example: 'team-a' }, featureLimit: 2 };
    await did(call, 'POST', '/projects', { id: 'ruled', name: 'Ruled' });
    await did(call, 'POST', '/projects/ruled/features', { name: 'Before' });
    await did(call, 'PUT', '/projects/ruled/settings', rules);
    await did(call, 'POST', '/context', { name: 'size', legalValues: [{ value: 'small' }] });
    await did(call, 'POST', '/context', { name: 'any' });
    const check = async (names: readonly string[], values: readonly string[]) => {
      const contextFields = ['size', 'any'].map((name) => ({
        name,
        legalValues: values.map((value) => ({ value })),
      }));
      const data = { features: names.map((name) => ({ name })), contextFields };
      const wanted = { project: 'ruled', environment: 'development', data };
      const { errors } = await did(call, 'POST', `${TRANSFER}/validate`, wanted);
      const imported = await call('POST', `${TRANSFER}/import`, wanted);
      return { errors, status: imported.status };
    };
    const { errors, status } = await check(['Zebra', 'Before', 'Ape', 'team-a'], ['small', 'large']);
    assert.deepEqual(
      errors.map(({ affectedItems }: { affectedItems: string[] }) => affectedItems),
      [['size'], ['Ape', 'Zebra'], []],
    );
    assert.match(errors[1].message, /team-\[a-z\]\+/);
    assert.match(errors[2].message, /would have 4 flags .* limit is 2/);
    assert.equal(status, 400);
    assert.equal((await check(['Ape'], [])).status, 400);
    assert.equal((await check(['team-a', 'team-b'], ['small'])).status, 409);
    assert.deepEqual(await check(['Before', 'team-a'], ['small']), { errors: [], status: 200 });
  });

  it('tells all that stands in the way of an import at once, and imports nothing of it', async () => {
    const { call } = server();
    await addProject(server(), 'elsewhere');
    await did(call, 'POST', '/projects/elsewhere/features', { name: 'taken' });
    const before = await newestId(call);
    const data = {
      features: [{ name: 'new' }, { name: 'new' }, { name: 'taken' }, { name: 'second' }],
      featureStrategies: [
        { featureName: 'new', name: 'flexiblRollout', segments: [99] },
        { featureName: 'second', name: 'flexibleRollout', parameters: { rollout: '101' } },
        { featureName: 'nobody', name: 'default' },
      ],
      dependencies: [
        { feature: 'new', dependencies: [{ feature: 'missing' }] },
        { feature: 'second', dependencies: [{ feature: 'new' }] },
      ],
    };
    const wanted = { project: 'default', environment: 'development', data };
    const { errors } = await did(call, 'POST', `${TRANSFER}/validate`, wanted);
    assert.deepEqual(
      errors.map(({ affectedItems }: { affectedItems: string[] }) => affectedItems),
      [
        ['new'],
        ['nobody'],
        ['taken (in the project "elsewhere")'],
        ['flexiblRollout'],
        ['99, of which the file has no name'],
        ['second: The parameter rollout must be a percentage from 0 to 100, not "101".'],
        ['new: there is no flag missing', 'second: the flag new has a parent of its own'],
      ],
    );
    const refused = await call('POST', `${TRANSFER}/import`, wanted);
    assert.deepEqual([refused.status, refused.body.details.length], [400, 7]);
    for (const [field, value, pattern] of [
      ['project', 'nowhere', /no project "nowhere"/],
      ['environment', 'developmet', /Did you mean "development"/],
    ] as const) {
      const { status, body } = await call('POST', `${TRANSFER}/import`, { ...wanted, [field]: value });
      assert.deepEqual([status, body.details[0].path], [400, `/body/${field}`]);
      assert.match(body.message, pattern);
    }
    assert.equal(await newestId(call), before);
  });

  it('is bounded by a number of flags and by bytes', async () => {
    const { call } = server();
    await addProject(server(), 'large');
    const description = 'x'.repeat(6_000);
    const chunk = (from: number, fields: object) =>
      Array.from({ length: 100 }, (_, at) => ({ name: `large-${from + at}`, ...fields }));
    for (let from = 0; from < 200; from += 100) {
      const data = { features: chunk(from, from === 0 ? { description } : {}) };
      await did(call, 'POST', `${TRANSFER}/import`, { project: 'large', environment: 'development', data });
    }
    const bytes = await call('POST', `${TRANSFER}/export`, { environment: 'development', project: 'large' });
    assert.deepEqual([bytes.status, /than 512 KiB/.test(bytes.body.message)], [409, true]);
    const names = chunk(100, {}).map(({ name }) => name);
    assert.equal((await exported(call, { features: names })).features.length, 100);
    const more = Array.from({ length: 51 }, (_, at) => ({ name: `more-${at}` }));
    const strategies = (count: number) =>
      more.flatMap(({ name: featureName }) =>
        Array.from({ length: count }, () => ({ name: 'default', featureName })),
      );
    const wide = {
      project: 'large',
      environment: 'development',
      data: { features: more, featureStrategies: strategies(23) },
    };
    const events = await call('POST', `${TRANSFER}/import`, wide);
    assert.deepEqual(
      [events.status, /1225 events; one can record 1200/.test(events.body.message)],
      [409, true],
    );
    await did(call, 'POST', `${TRANSFER}/import`, { ...wide, data: { features: more } });
    const count = await call('POST', `${TRANSFER}/export`, { environment: 'development', project: 'large' });
    assert.deepEqual([count.status, /More than 250 flags/.test(count.body.message)], [409, true]);
    const features = Array.from({ length: 251 }, (_, at) => ({ name: `f${at}` }));
    const wanted = { project: 'large', environment: 'development', data: { features } };
    assert.equal((await call('POST', `${TRANSFER}/import`, wanted)).status, 400);
  });

  it('is imported by those who may change flags of the project, and what flags share by those who may change that', async () => {
    const { call } = server();
    const [viewer, member] = [await addUser(server(), 3), await addUser(server(), 3)];
    await did(call, 'POST', `/projects/default/users/${member.id}/roles/5`);
    const importBy = (token: string, data: object) =>
      call('POST', `${TRANSFER}/import`, { project: 'default', environment: 'development', data }, { token });
    const features = [{ name: 'of-a-member' }];
    const refused = await importBy(viewer.token, { features });
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /CREATE_FEATURE, UPDATE_FEATURE/);
    assert.equal((await importBy(member.token, { features })).status, 200);
    const contextFields = [{ name: 'shoe-size' }];
    const shared = await importBy(member.token, { features, contextFields });
    assert.deepEqual([shared.status, /needs: CREATE_CONTEXT_FIELD\./.test(shared.body.message)], [403, true]);
    const wanted = { project: 'default', environment: 'development', data: { features, contextFields } };
    const { permissions } = (await call('POST', `${TRANSFER}/validate`, wanted, { token: viewer.token }))
      .body;
    assert.ok(permissions[0].affectedItems.includes('CREATE_CONTEXT_FIELD'));
  });
});
