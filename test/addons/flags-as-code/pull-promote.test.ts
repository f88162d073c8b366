/** `flagstaff pull` and `flagstaff promote`, and environments that take change requests. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { addUser } from '../../support/interface.ts';
import { flagstaff } from '../../support/operator.ts';
import { ADMIN_TOKEN, serverFor, type Test, type TestServer, temporaryFolder } from '../../support/server.ts';

const CLIENT_TOKEN = '*:production.of-sdks';
const FEATURES = '/projects/default/features';

const started = (t: Test): Promise<TestServer> =>
  serverFor(t, { env: { INIT_CLIENT_API_TOKENS: CLIENT_TOKEN } });

async function done(server: TestServer, method: string, path: string, body?: unknown) {
  const response = await server.call(method, path, body);
  assert(response.status < 300, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}

const run = (server: TestServer, args: readonly string[], FLAGSTAFF_TOKEN = ADMIN_TOKEN, typed?: string) =>
  flagstaff(args, {
    env: { FLAGSTAFF_URL: server.origin, FLAGSTAFF_TOKEN },
    ...(typed === undefined ? {} : { typed }),
  });

async function ends(server: TestServer, args: readonly string[], code = 0, said = /./): Promise<string> {
  const ran = await run(server, args);
  assert.equal(ran.code, code, `${ran.out}\n${ran.err}`);
  assert.match(ran.out, said);
  return ran.out;
}

const documentOf = async (server: TestServer): Promise<string> => {
  const { features } = (
    await server.callBelow('/api/client')('GET', '/features', undefined, { token: CLIENT_TOKEN })
  ).body;
  return JSON.stringify(features);
};

const segment = { name: 'beta', constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'] }] };
const rollout = (value: string, more: object = {}) => ({
  name: 'flexibleRollout',
  parameters: { rollout: value, stickiness: 'default', groupId: 'g' },
  ...more,
});

async function fill(server: TestServer): Promise<void> {
  const { id } = await done(server, 'POST', '/segments', segment);
  for (const name of ['zebra', 'apple', 'child'])
    await done(server, 'POST', FEATURES, {
      name,
      description: `The ${name}`,
      impressionData: name === 'zebra',
    });
  const production = `${FEATURES}/zebra/environments/production`;
  const constraints = [
    { contextName: 'appName', operator: 'STR_ENDS_WITH', values: ['a: b', '# c'], caseInsensitive: true },
  ];
  await done(
    server,
    'POST',
    `${production}/strategies`,
    rollout('25', { segments: [id], constraints, title: 'yes: no' }),
  );
  await done(server, 'POST', `${production}/strategies`, { name: 'default', disabled: true });
  await done(server, 'POST', `${production}/on`);
  const variants = [
    { name: 'a', weight: 300, weightType: 'fix', payload: { type: 'json', value: '{"a": 1}' } },
    { name: 'b', weight: 700 },
  ];
  await done(server, 'PUT', `${production}/variants`, variants);
  await done(server, 'POST', '/features/apple/tags', { type: 'simple', value: 'fruit' });
  await done(server, 'POST', `${FEATURES}/child/dependencies`, { feature: 'zebra' });
  await done(server, 'POST', `${FEATURES}/child/environments/production/strategies`, { name: 'default' });
  await done(server, 'POST', `${FEATURES}/child/environments/production/on`);
}

it('a pulled file applied to an empty server gives SDKs the same bytes, and the plan is empty on both', async (t) => {
  const [from, to] = [await started(t), await started(t)];
  await fill(from);
  const path = join(temporaryFolder(), 'flags.yaml');
  await ends(from, ['pull', path], 0, /^Wrote 3 flags of the project default as of event \d+\.$/);
  await ends(from, ['plan', path], 0, /nothing to change/);
  const text = readFileSync(path, 'utf8');
  assert(text.indexOf('name: zebra') < text.indexOf('name: apple'), text);
  await done(to, 'POST', '/segments', segment);
  await ends(to, ['apply', path]);
  assert.equal(await documentOf(to), await documentOf(from));
  await ends(to, ['plan', path], 0, /nothing to change/);
  await ends(from, ['pull', path]);
  assert.equal(readFileSync(path, 'utf8'), text, 'a second pull changes nothing');
});

it('a pull takes over what others changed, and keeps comments, order and the fields that a file has', async (t) => {
  const server = await started(t);
  await fill(server);
  const path = join(temporaryFolder(), 'flags.yaml');
  writeFileSync(
    path,
    `# Ours.
project: default
managed: [description, strategies] # no switches
flags:
  # Animals come first.
  - name: zebra # striped
    description: The zebra # all of it
    environments:
      - name: production # where users are
        strategies:
          - name: flexibleRollout
            parameters: { rollout: "25", stickiness: default, groupId: g } # a quarter
  - name: gone
    description: nobody has it
`,
  );
  await done(server, 'PUT', `${FEATURES}/zebra`, {
    description: 'Another zebra',
    type: 'experiment',
    impressionData: true,
  });
  await ends(server, ['pull', path]);
  const text = readFileSync(path, 'utf8');
  for (const comment of [
    '# Ours.',
    '# no switches',
    '# Animals come first.',
    '# striped',
    '# where users are',
    '# a quarter',
  ])
    assert(text.includes(comment), `${comment}\n${text}`);
  assert.match(text, /description: Another zebra/);
  assert.match(text, /segments:\n\s+- beta/);
  assert(!/gone|enabled|experiment/.test(text), text);
  assert(text.indexOf('zebra') < text.indexOf('apple'));
  await ends(server, ['plan', path], 0, /nothing to change/);
});

it('wrong use of pull and promote ends with 64, and no file is written', async (t) => {
  const server = await started(t);
  const folder = temporaryFolder();
  const [none, other] = [join(folder, 'none.yaml'), join(folder, 'other.yaml')];
  for (const args of [
    ['pull'],
    ['pull', none, other],
    ['promote', '--from', 'development'],
    ['promote', '--from', 'development', '--to', 'development'],
    ['promote', '--from', 'development', '--to', 'production', 'unknown'],
  ])
    assert.equal((await run(server, args)).code, 64, args.join(' '));
  assert.equal((await run(server, ['pull', none], 'wrong')).code, 69);
  assert.throws(() => readFileSync(none), /ENOENT/);
});

it('promote brings what was chosen of an environment to another, and then finds nothing', async (t) => {
  const server = await started(t);
  for (const name of ['one', 'two']) {
    await done(server, 'POST', FEATURES, { name });
    const development = `${FEATURES}/${name}/environments/development`;
    await done(server, 'POST', `${development}/strategies`, rollout('50'));
    await done(server, 'POST', `${development}/on`);
  }
  const promote = ['promote', '--from', 'development', '--to', 'production'];
  await ends(
    server,
    [...promote, '--dry-run'],
    0,
    /^1\. flag "one" in production: turn on\n2\. flag "one" in production: strategies\[0\] none → /,
  );
  const chosen = await run(server, promote, ADMIN_TOKEN, '1, 2');
  assert.equal(chosen.code, 0, chosen.err);
  const isOn = async (name: string) => {
    const { environments } = await done(server, 'GET', `${FEATURES}/${name}`);
    return environments.find((one: { name: string }) => one.name === 'production').enabled;
  };
  assert.deepEqual([await isOn('one'), await isOn('two')], [true, false]);
  await ends(server, [...promote, 'two']);
  assert.equal(await isOn('two'), true);
  await ends(server, promote, 0, /^Nothing differs/);
});

it('in an environment that takes change requests the result is one in review, whose address is printed', async (t) => {
  const server = await started(t);
  await fill(server);
  const { token } = await addUser(server, 1);
  const path = join(temporaryFolder(), 'flags.yaml');
  await ends(server, ['pull', path]);
  await done(server, 'PUT', '/projects/default/environments/production/change-requests/config', {
    changeRequestsEnabled: true,
  });
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace('rollout: "25"', 'rollout: "75"').replace('The apple', 'An apple'),
  );
  const before = await documentOf(server);
  const ran = await run(server, ['apply', path], token);
  assert.equal(ran.code, 0, `${ran.out}\n${ran.err}`);
  const [, id] =
    /^Proposed the changes in production: http\S+\/#\/projects\/default\/change-requests\/(\d+)$/m.exec(
      ran.out,
    ) ?? [];
  const request = await done(server, 'GET', `/projects/default/change-requests/${id}`);
  assert.equal(request.state, 'In review');
  const [change] = request.features[0].changes;
  assert.deepEqual(
    [request.features[0].name, change.action, change.payload.parameters.rollout],
    ['zebra', 'updateStrategy', '75'],
  );
  assert.equal((await documentOf(server)).replace('An apple', 'The apple'), before);
  assert.equal((await done(server, 'GET', `${FEATURES}/apple`)).description, 'An apple');
  const again = await run(server, ['apply', path], token);
  assert.equal(again.code, 2);
  assert.match(
    again.out,
    /^Nothing was proposed in production, because your change request there is open: http/m,
  );
});

it('a request holds every kind of change that files make, and once it is applied nothing differs', async (t) => {
  const server = await started(t);
  const [author, reviewer] = [await addUser(server, 1), await addUser(server, 1)];
  await done(server, 'POST', '/segments', segment);
  for (const name of ['parent', 'child', 'gone']) {
    await done(server, 'POST', FEATURES, { name });
    const production = `${FEATURES}/${name}/environments/production`;
    if (name !== 'child')
      for (const share of ['10', '20', '30'])
        await done(server, 'POST', `${production}/strategies`, rollout(share));
    if (name !== 'child') await done(server, 'POST', `${production}/on`);
  }
  await done(server, 'PUT', '/projects/default/environments/production/change-requests/config', {
    changeRequestsEnabled: true,
  });
  const variant = { name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' };
  const inProduction = (more: object) => [{ name: 'production', ...more }];
  const path = join(temporaryFolder(), 'flags.json');
  const flags = [
    {
      name: 'parent',
      environments: inProduction({
        strategies: [rollout('10'), rollout('40', { segments: ['beta'] })],
        variants: [variant],
      }),
    },
    {
      name: 'child',
      dependencies: [{ feature: 'parent' }],
      environments: inProduction({ enabled: true, strategies: [rollout('50')] }),
    },
  ];
  writeFileSync(path, JSON.stringify({ project: 'default', base: server.server.store.engine.lastId, flags }));
  const before = await documentOf(server);
  const ran = await run(server, ['apply', path, '--prune'], author.token);
  assert.equal(ran.code, 0, `${ran.out}\n${ran.err}`);
  const [, id] = /change-requests\/(\d+)$/m.exec(ran.out) ?? [];
  const state = `/projects/default/change-requests/${id}/state`;
  await server.call('PUT', state, { state: 'Approved' }, { token: reviewer.token });
  const applied = await server.call('PUT', state, { state: 'Applied' }, { token: author.token });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  assert.notEqual(await documentOf(server), before);
  await ends(server, ['plan', path, '--prune'], 0, /nothing to change/);
});

it('what no change request can hold is said in one sentence, and neither changed nor proposed in part', async (t) => {
  const server = await started(t);
  const { token } = await addUser(server, 1);
  await done(server, 'POST', FEATURES, { name: 'gone' });
  for (const environment of ['development', 'production']) {
    const path = `${FEATURES}/gone/environments/${environment}`;
    await done(server, 'POST', `${path}/strategies`, rollout('10'));
    await done(server, 'POST', `${path}/on`);
    const config = `/projects/default/environments/${environment}/change-requests/config`;
    await done(server, 'PUT', config, { changeRequestsEnabled: true });
  }
  const { lastId } = server.server.store.engine;
  const refused = async (file: object, says: RegExp) => {
    const path = join(temporaryFolder(), 'flags.json');
    writeFileSync(path, JSON.stringify({ project: 'default', base: lastId, ...file }));
    const ran = await run(server, ['apply', path, '--prune'], token);
    assert.equal(ran.code, 64, `${ran.out}\n${ran.err}`);
    assert.match(ran.err, says);
  };
  await refused(
    { flags: [{ name: 'new' }] },
    /"gone" cannot be changed while it is on in development and in/,
  );
  const environments = [{ name: 'production', strategies: Array(25).fill({ name: 'default' }) }];
  const many = Array.from({ length: 21 }, (_, at) => ({ name: `new-${at}`, environments }));
  await refused(
    { flags: [{ name: 'gone' }, ...many] },
    /takes 500 changes, and production would get 525 in one/,
  );
  assert.equal(server.server.store.engine.lastId, lastId);
  const verb = await run(server, ['flags', 'archive', 'gone'], token);
  assert.equal(verb.code, 69);
  assert.match(verb.err, /takes changes by change request alone: propose the change with/);
});
