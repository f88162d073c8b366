/**
 * The interface of OpenFeature's command line: its calls as that program makes them (pull, push and the comparison before it), and each
 * response held against the contract that it publishes (`api/v0/sync.yaml` of its repository).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { addToken, makeFlagWithVariants } from '../../support/applications.ts';
import '../../support/check-responses.ts';
import { addProject, addStrategy, addUser, environmentPath, makeFlag } from '../../support/interface.ts';
import { describeInterface, type ReceivedResponse, type RequestOptions } from '../../support/server.ts';

const FLAG = {
  type: 'object',
  required: ['key', 'type', 'defaultValue'],
  properties: {
    key: { type: 'string' },
    name: { type: 'string' },
    // The contract forgets the floats that the manifest itself has.
    type: { enum: ['boolean', 'string', 'integer', 'float', 'object'] },
    description: { type: ['string', 'null'] },
    defaultValue: { type: ['boolean', 'string', 'number', 'object'] },
  },
};
const DETAIL = {
  type: 'object',
  properties: { field: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
};
const ajv = new Ajv({ allowUnionTypes: true });
const CONTRACT = {
  GET: ajv.compile({
    type: 'object',
    required: ['flags'],
    properties: { flags: { type: 'array', items: FLAG } },
  }),
  written: ajv.compile({
    type: 'object',
    required: ['flag', 'updatedAt'],
    properties: { flag: FLAG, updatedAt: { type: 'string' } },
  }),
  DELETE: ajv.compile({
    type: 'object',
    required: ['message', 'archivedAt'],
    properties: { message: { type: 'string' }, archivedAt: { type: ['string', 'null'] } },
  }),
  error: ajv.compile({
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'status'],
        properties: {
          message: { type: 'string' },
          status: { type: 'integer' },
          details: { type: 'array', items: DETAIL },
        },
      },
    },
  }),
};

interface Typed {
  readonly type: string;
  readonly defaultValue: unknown;
  readonly description?: string;
}

type Manifest = Readonly<Record<string, Typed>>;

describeInterface("OpenFeature's command line", (server) => {
  async function call(method: string, path: string, body?: unknown, options: RequestOptions = {}) {
    const token = options.token === undefined ? undefined : `Bearer ${options.token}`;
    const sent = token === undefined ? {} : { token };
    const response = await server().callBelow('/openfeature')(method, path, body, sent);
    const { status, headers, body: answer } = response;
    const { error } = answer ?? {};
    const valid =
      CONTRACT[status >= 400 ? 'error' : method === 'GET' || method === 'DELETE' ? method : 'written'];
    assert(valid(answer), `${method} ${path}: ${status} ${JSON.stringify([answer, valid.errors])}`);
    if (status >= 400) assert.equal(error.status, status);
    else assert.match(headers.get('x-manifest-capabilities') ?? '', /^read(,write)?(,delete)?$/);
    return response;
  }

  /** The path below which the command line finds a project, in the address that it is given. */
  const below = (project: string): string =>
    project === 'default' ? '/v0/manifest' : `/projects/${project}/openfeature/v0/manifest`;

  async function pull(project: string): Promise<Manifest> {
    const { body } = await call('GET', below(project));
    const flags = body.flags.map(({ key, type, defaultValue, description }: Typed & { key: string }) => [
      key,
      { type, defaultValue, description: description ?? '' },
    ]);
    return Object.fromEntries(flags);
  }

  /** Creates and changes what the comparison finds, one request a flag, and stops at the first refusal. */
  async function push(project: string, manifest: Manifest): Promise<readonly string[]> {
    const there = await pull(project);
    const done: string[] = [];
    const keys = Object.keys(manifest);
    for (const key of [...keys.filter((one) => !(one in there)), ...keys.filter((one) => one in there)]) {
      const { description = '', ...value } = manifest[key]!;
      const wanted = { ...value, description };
      if (key in there && JSON.stringify(sorted(there[key]!)) === JSON.stringify(sorted(wanted))) continue;
      const body = { key, ...value, description: description || null };
      const [method, path] = key in there ? ['PUT', `/${key}`] : ['POST', ''];
      const { status, body: answer } = await call(method!, `${below(project)}/flags${path}`, body);
      done.push(status < 300 ? `${method} ${key}` : `${method} ${key}: ${status} ${answer.error.message}`);
      if (status >= 300) break;
    }
    return done;
  }

  const sorted = (value: object) => Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));

  const refusedWith = ({ status, body }: ReceivedResponse) => [
    status,
    body.error.message,
    body.error.details[0]?.field,
  ];

  const MANIFEST: Manifest = {
    'new-search': { type: 'boolean', defaultValue: false, description: 'The new search.' },
    greeting: { type: 'string', defaultValue: 'Grüß Gott' },
    'nothing-said': { type: 'string', defaultValue: '' },
    'page-size': { type: 'integer', defaultValue: 50 },
    discount: { type: 'float', defaultValue: 0.15 },
    'whole-float': { type: 'float', defaultValue: 2 },
    theme: { type: 'object', defaultValue: { primary: '#0b5394', sizes: [1, 2.5], constructor: null } },
  };

  for (const project of ['default', 'shop']) {
    it(`pulls what it has pushed, of every type, in the project ${project}`, async () => {
      if (project !== 'default') await addProject(server(), project);
      const own = Object.fromEntries(
        Object.entries(MANIFEST).map(([key, value]) => [`${project}-${key}`, { description: '', ...value }]),
      );
      assert.deepEqual(
        await push(project, own),
        Object.keys(own).map((key) => `POST ${key}`),
      );
      const pulled = await pull(project);
      assert.deepEqual(Object.fromEntries(sorted(pulled)), Object.fromEntries(sorted(own)));
      assert.deepEqual(await push(project, pulled), []);
    });
  }

  it('changes default values and descriptions, and a repeated push changes nothing', async () => {
    await addProject(server(), 'changing');
    await push('changing', {
      size: { type: 'integer', defaultValue: 1 },
      mood: { type: 'string', defaultValue: 'good' },
    });
    const changed = {
      size: { type: 'integer', defaultValue: 2, description: 'In pages.' },
      mood: { type: 'string', defaultValue: 'better' },
    };
    assert.deepEqual(await push('changing', changed), ['PUT size', 'PUT mood']);
    assert.deepEqual(await push('changing', changed), []);
    const { body } = await server().call(
      'GET',
      '/projects/changing/features/size/environments/production/variants',
    );
    assert.deepEqual(
      body.variants.map(({ name, payload }: Record<string, unknown>) => [name, payload]),
      [['default', { type: 'number', value: '2' }]],
    );
  });

  it('serves values of the type to applications', async () => {
    const values: Manifest = {
      'served-text': { type: 'string', defaultValue: 'a' },
      'served-count': { type: 'integer', defaultValue: 7 },
      'served-share': { type: 'float', defaultValue: 0.5 },
      'served-shape': { type: 'object', defaultValue: { a: [1] } },
      'served-switch': { type: 'boolean', defaultValue: false },
    };
    await push('default', values);
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    for (const [key, { type, defaultValue }] of Object.entries(values)) {
      await addStrategy(server().call, key);
      assert.equal((await server().call('POST', `${environmentPath(key)}/on`)).status, 200);
      const { body } = await server().callBelow('/ofrep/v1')('POST', `/evaluate/flags/${key}`, {}, { token });
      assert.deepEqual(body.value, type === 'boolean' ? true : defaultValue, key);
    }
  });

  it('has flags of others by the payloads of their variants, and names those without a counterpart', async () => {
    const payload = (type: string, value: string) => ({ payload: { type, value } });
    const variants = (...payloads: readonly object[]) =>
      payloads.map((one, at) => ({ name: `v${at}`, weight: 500, ...one }));
    const { call: admin } = server();
    await makeFlagWithVariants(admin, 'of-csv', variants(payload('csv', 'a,b')));
    await makeFlagWithVariants(
      admin,
      'of-numbers',
      variants(payload('number', '1'), payload('number', '1.5')),
    );
    await makeFlagWithVariants(admin, 'of-long', variants(payload('number', '9007199254740993')));
    await makeFlagWithVariants(admin, 'of-names', variants({}, {}));
    await makeFlagWithVariants(admin, 'of-list', variants(payload('json', '[1]')));
    await makeFlagWithVariants(admin, 'of-both', variants(payload('string', 'a'), payload('number', '1')));
    await makeFlagWithVariants(admin, 'of-some', variants(payload('string', 'a'), {}));
    await makeFlag(admin, 'of-strategy');
    await addStrategy(admin, 'of-strategy', {
      variants: [{ name: 'x', weight: 1000, stickiness: 'default', ...payload('json', '{"x":1}') }],
    });
    const pulled = await pull('default');
    assert.deepEqual(
      ['of-csv', 'of-numbers', 'of-long', 'of-names', 'of-strategy'].map((key) => [
        pulled[key]?.type,
        pulled[key]?.defaultValue,
      ]),
      [
        ['string', 'a,b'],
        ['float', 1],
        ['float', 2 ** 53],
        ['boolean', false],
        ['object', { x: 1 }],
      ],
    );
    const { body } = await call('GET', below('default'));
    assert.deepEqual(body.withoutCounterpart, [
      { key: 'of-list', reason: 'A payload of its variants is JSON, but no object.' },
      { key: 'of-both', reason: 'The payloads of its variants have different types.' },
      { key: 'of-some', reason: 'Some of its variants have a payload and others have none.' },
    ]);
    const put = (key: string, value: Typed) =>
      call('PUT', `${below('default')}/flags/${key}`, { key, ...value });
    assert.deepEqual(refusedWith(await put('of-both', { type: 'string', defaultValue: 'b' })), [
      409,
      'A manifest cannot have the flag "of-both": The payloads of its variants have different types.',
      undefined,
    ]);
    assert.deepEqual(refusedWith(await put('of-csv', { type: 'string', defaultValue: 'b' })), [
      409,
      'The flag "of-csv" has no variant "default" in an environment, and the payload of that is the default value; add one first.',
      'defaultValue',
    ]);
    assert.equal(
      (await put('of-csv', { type: 'string', defaultValue: 'a,b', description: 'Two.' })).status,
      200,
    );
  });

  it('refuses what cannot be, names the field, and changes nothing', async () => {
    await push('default', {
      kept: { type: 'string', defaultValue: 'kept' },
      gone: { type: 'boolean', defaultValue: false },
    });
    const flags = `${below('default')}/flags`;
    assert.equal((await call('DELETE', `${flags}/gone`)).status, 200);
    const before = server().server.store.engine.lastId;
    const post = (body: object) => call('POST', flags, { key: 'bad', ...body });
    for (const [type, defaultValue] of [
      ['boolean', true],
      ['string', 1],
      ['integer', 1.5],
      ['integer', 2 ** 53],
      ['float', '1'],
      ['object', [1]],
      ['object', null],
    ] as const) {
      const [status, message, field] = refusedWith(await post({ type, defaultValue }));
      assert.deepEqual([status, field], [400, 'defaultValue'], message);
      assert.match(message, new RegExp(`^The default value of a flag of type ${type} must be .+\\.$`));
    }
    assert.deepEqual(refusedWith(await post({ type: 'number', defaultValue: 1 })).slice(0, 3)[2], 'type');
    assert.equal(refusedWith(await post({ type: 'boolean', defaultValue: false, name: 'Bad' }))[2], 'name');
    assert.equal(
      refusedWith(await call('POST', flags, { key: 'kept', type: 'string', defaultValue: '' }))[0],
      409,
    );
    assert.deepEqual(
      refusedWith(await call('POST', flags, { key: 'gone', type: 'string', defaultValue: '' })).slice(0, 2),
      [409, 'A flag named "gone" exists already, archived in the project "default".'],
    );
    const put = (path: string, body: object) => call('PUT', `${flags}/${path}`, body);
    assert.deepEqual(refusedWith(await put('kept', { key: 'kept', type: 'integer', defaultValue: 1 })), [
      409,
      'The type of the flag "kept" cannot be changed from string to integer.',
      'type',
    ]);
    assert.deepEqual(refusedWith(await put('kept', { key: 'other', type: 'string' }))[2], 'key');
    assert.equal(refusedWith(await put('gone', { key: 'gone', type: 'boolean' }))[0], 409);
    assert.equal(refusedWith(await put('missing', { key: 'missing', type: 'boolean' }))[0], 404);
    assert.equal(refusedWith(await call('DELETE', `${flags}/gone`))[0], 409);
    assert.equal(refusedWith(await call('DELETE', `${flags}/missing`))[0], 404);
    assert.equal(refusedWith(await call('GET', below('missing')))[0], 404);
    assert.equal(server().server.store.engine.lastId, before);
    assert(!('gone' in (await pull('default'))));
  });

  it('needs a token, and tells and asks for the rights in the project', async () => {
    await addProject(server(), 'closed');
    const member = await addUser(server(), 3);
    const path = '/projects/closed/users/';
    await server().call('POST', `${path}${member.id}/roles/5`);
    const viewer = await addUser(server(), 3);
    const capabilities = async (token: string, project: string) =>
      (await call('GET', below(project), undefined, { token })).headers.get('x-manifest-capabilities');
    assert.equal(await capabilities(member.token, 'closed'), 'read,write,delete');
    assert.equal(await capabilities(member.token, 'default'), 'read');
    assert.equal(await capabilities(viewer.token, 'closed'), 'read');
    const body = { key: 'by-member', type: 'string', defaultValue: 'a' };
    const post = (project: string, token: string) => call('POST', `${below(project)}/flags`, body, { token });
    assert.equal((await post('default', member.token)).status, 403);
    assert.equal((await post('closed', viewer.token)).status, 403);
    assert.equal((await post('closed', member.token)).status, 201);
    const at = `${below('closed')}/flags/by-member`;
    assert.equal((await call('PUT', at, body, { token: viewer.token })).status, 403);
    assert.equal((await call('DELETE', at, undefined, { token: viewer.token })).status, 403);
    assert.equal((await call('GET', below('default'), undefined, { token: 'user:unknown' })).status, 401);
    const client = await addToken(server(), { type: 'client', environment: 'development' });
    assert.equal((await call('GET', below('default'), undefined, { token: client })).status, 403);
  });

  it('asks for the permission on variants where a value has a payload', async () => {
    const { body } = await server().call('POST', '/roles', {
      ...{ name: 'creator', description: '', type: 'custom' },
      permissions: [{ name: 'CREATE_FEATURE' }, { name: 'UPDATE_FEATURE' }],
    });
    await addProject(server(), 'own');
    const { id, token } = await addUser(server(), 3);
    await server().call('POST', `/projects/own/users/${id}/roles/${body.roles.id}`);
    const post = (value: Typed & { key: string }) => call('POST', `${below('own')}/flags`, value, { token });
    assert.equal((await post({ key: 'a-switch', type: 'boolean', defaultValue: false })).status, 201);
    const refused = await post({ key: 'a-text', type: 'string', defaultValue: 'a' });
    assert.match(refused.body.error.message, /UPDATE_FEATURE_VARIANTS/);
    assert.equal(refused.status, 403);
  });

  it('has a value with a payload refused where an environment takes change requests', async () => {
    await addProject(server(), 'protected');
    const value = { key: 'before-protection', type: 'string', defaultValue: 'a' };
    const flags = `${below('protected')}/flags`;
    assert.equal((await call('POST', flags, value)).status, 201);
    const config = '/projects/protected/environments/production/change-requests/config';
    assert.equal((await server().call('PUT', config, { changeRequestsEnabled: true })).status, 200);
    for (const refused of [
      await call('POST', flags, { ...value, key: 'behind-protection' }),
      await call('PUT', `${flags}/${value.key}`, { ...value, defaultValue: 'b' }),
    ]) {
      assert.equal(refused.status, 403);
      assert.match(refused.body.error.message, /^The environment "production" .+ by change request alone/);
    }
    assert.equal(
      (await call('POST', flags, { key: 'a-boolean', type: 'boolean', defaultValue: false })).status,
      201,
    );
    const { description: _, ...pulled } = (await pull('protected'))[value.key]!;
    assert.deepEqual(pulled, { type: 'string', defaultValue: 'a' });
  });

  it('gets back each value of a type exactly, whatever it is (seed 50)', async () => {
    const typed = (type: string, arbitrary: fc.Arbitrary<unknown>) =>
      arbitrary.map((defaultValue) => ({ type, defaultValue: JSON.parse(JSON.stringify(defaultValue)) }));
    const value = fc.oneof(
      typed('string', fc.string({ unit: 'grapheme' })),
      typed('integer', fc.maxSafeInteger()),
      typed('float', fc.double({ noNaN: true, noDefaultInfinity: true })),
      typed(
        'object',
        fc.dictionary(fc.string(), fc.jsonValue()).filter((one) => !('__proto__' in one)),
      ),
    );
    await addProject(server(), 'random');
    let count = 0;
    await fc.assert(
      fc.asyncProperty(value, async (sent) => {
        count += 1;
        const key = `random-${count}`;
        assert.deepEqual(await push('random', { [key]: sent }), [`POST ${key}`]);
        const { description: _, ...pulled } = (await pull('random'))[key]!;
        assert.deepEqual(pulled, sent);
      }),
      { numRuns: 100, seed: 50 },
    );
  });
});
