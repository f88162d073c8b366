/** `flagstaff plan` and `flagstaff apply` on a server. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { addUser } from '../../support/interface.ts';
import { flagstaff } from '../../support/operator.ts';
import { ADMIN_TOKEN, startTestServer, type TestServer, temporaryFolder } from '../../support/server.ts';

const ROLLOUT =
  'environments: [{name: development, enabled: true, strategies: [{name: flexibleRollout, parameters: {rollout: "10", stickiness: default, groupId: one}}]}]';

describe('flagstaff plan and apply', () => {
  let server: TestServer;
  let number = 0;
  let project = '';
  const folder = temporaryFolder();
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());
  beforeEach(async () => {
    number += 1;
    project = `project-${number}`;
    await done('POST', '/projects', { id: project, name: project });
  });

  const done = async (method: string, path: string, body?: unknown) => {
    const response = await server.call(method, path, body);
    assert(response.status < 300, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const flagPath = (name: string): string => `/projects/${project}/features/${name}`;
  const file = (content: string, name = 'flags.yaml'): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const yaml = (flags: string, head = ''): string => file(`project: ${project}\n${head}flags:\n${flags}`);
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}, typed?: string) =>
    flagstaff(args, {
      env: { FLAGSTAFF_URL: server.origin, FLAGSTAFF_TOKEN: ADMIN_TOKEN, ...env },
      ...(typed === undefined ? {} : { typed }),
    });
  const lastId = (): number => server.server.store.engine.lastId;
  const ends = async (args: readonly string[], code: number, ...said: readonly RegExp[]) => {
    const ran = await run(args);
    assert.equal(ran.code, code, `${ran.out}\n${ran.err}`);
    for (const one of said) assert.match(`${ran.out}\n${ran.err}`, one);
    return ran;
  };

  it('a plan says the difference and changes nothing; an apply makes it so in one frame; the second plan is empty', async () => {
    const path = yaml(
      `  - name: one-${number}\n    description: first\n    tags: [{type: simple, value: team}]\n    ${ROLLOUT}\n  - name: two-${number}\n    dependencies: [{feature: one-${number}}]\n`,
    );
    const before = lastId();
    await ends(
      ['plan', path],
      0,
      /^Project project-\d+: 7 changes\.$/m,
      /^- create flag "one-/m,
      /in development: turn on$/m,
    );
    assert.equal(lastId(), before);
    await ends(['apply', path], 0);
    const { events } = await done('POST', '/events/search', { project, limit: 20 });
    assert.equal(events[0].type, 'features-applied');
    assert.equal(events[0].data.events, lastId() - before - 1);
    const flag = await done('GET', flagPath(`one-${number}`));
    assert.equal(flag.description, 'first');
    assert.equal(flag.environments.find((one: { name: string }) => one.name === 'development').enabled, true);
    await ends(['plan', path], 0, /nothing to change/);
    const after = lastId();
    await ends(['apply', path], 0, /nothing to change/);
    assert.equal(lastId(), after);
  });

  it('fields that the file does not have or manage stay with people', async () => {
    const name = `one-${number}`;
    const path = yaml(`  - name: ${name}\n    ${ROLLOUT}\n`, 'managed: [strategies, variants]\n');
    await ends(['apply', path], 0);
    await done('POST', `${flagPath(name)}/environments/development/on`);
    await done('PUT', flagPath(name), {
      description: 'by a person',
      type: 'experiment',
      impressionData: true,
    });
    await ends(['plan', path], 0, /nothing to change/);
    yaml(`  - name: ${name}\n    ${ROLLOUT.replace('"10"', '"20"')}\n`, 'managed: [strategies, variants]\n');
    await ends(['apply', path], 0, /strategies\[0\]\.parameters\.rollout "10" → "20"$/m);
    const flag = await done('GET', flagPath(name));
    assert.deepEqual([flag.description, flag.type], ['by a person', 'experiment']);
    const { enabled, strategies } = flag.environments.find(
      (one: { name: string }) => one.name === 'development',
    );
    assert.deepEqual([enabled, strategies[0].parameters.rollout], [true, '20']);
  });

  it('what somebody else changed is named by flag, environment and field, is not overwritten, and ends with 2', async () => {
    const name = `one-${number}`;
    const path = yaml(`  - name: ${name}\n    description: file\n    ${ROLLOUT}\n`);
    await ends(['apply', path], 0);
    await done('POST', `${flagPath(name)}/environments/development/off`);
    yaml(`  - name: ${name}\n    description: newer\n    ${ROLLOUT}\n`);
    const said = new RegExp(
      `^! flag "${name}" in development: enabled was changed by .+ at event \\d+ \\(.+\\), and stays as it is$`,
      'm',
    );
    await ends(['plan', path], 2, said);
    await ends(['apply', path], 2, said);
    const flag = await done('GET', flagPath(name));
    assert.equal(flag.description, 'newer');
    assert.equal(
      flag.environments.find((one: { name: string }) => one.name === 'development').enabled,
      false,
    );
    // With a base that knows of the change, the file has the last word.
    yaml(`  - name: ${name}\n    description: newer\n    ${ROLLOUT}\n`, `base: ${lastId()}\n`);
    await ends(['apply', path], 0, /turn on$/m);
  });

  it('the apply of another user is somebody else’s change', async () => {
    const name = `one-${number}`;
    const { token } = await addUser(server, 1);
    const path = yaml(`  - name: ${name}\n    description: mine\n`);
    await ends(['apply', path], 0);
    yaml(`  - name: ${name}\n    description: theirs\n`);
    const ran = await run(['apply', path], { FLAGSTAFF_TOKEN: token });
    assert.equal(ran.code, 2, ran.err);
    assert.equal((await done('GET', flagPath(name))).description, 'mine');
  });

  it('--prune archives what no file has, and a later file revives it', async () => {
    const names = [`one-${number}`, `two-${number}`];
    const both = names.map((name) => `  - name: ${name}\n    ${ROLLOUT}\n`);
    const path = yaml(both.join(''));
    await ends(['apply', path], 0);
    yaml(both[0] ?? '');
    await ends(['plan', path], 0, /nothing to change/);
    await ends(['apply', path, '--prune'], 0, new RegExp(`^- archive flag "${names[1]}"$`, 'm'));
    assert.equal((await done('GET', flagPath(names[1] ?? ''))).archived, true);
    yaml(both.join(''));
    await ends(['apply', path], 0, new RegExp(`^- revive flag "${names[1]}"$`, 'm'));
    const { archived, environments } = await done('GET', flagPath(names[1] ?? ''));
    assert.deepEqual(
      [archived, environments.find((one: { name: string }) => one.name === 'development').enabled],
      [false, true],
    );
    await ends(['plan', path], 0, /nothing to change/);
    await done('POST', `/projects/${project}/features`, { name: `third-${number}` });
    await ends(
      ['apply', path, '--prune'],
      2,
      new RegExp(`^! flag "third-${number}": whether it is there was changed`, 'm'),
    );
  });

  it('a plan in a file is carried out as it is, or ends with 2 where something was changed meanwhile', async () => {
    const name = `one-${number}`;
    const path = yaml(`  - name: ${name}\n    description: file\n`);
    const plan = join(folder, 'plan.json');
    await ends(['plan', path, '--out', plan], 0);
    await ends(['apply', plan], 0);
    yaml(`  - name: ${name}\n    description: newer\n`);
    await ends(['plan', path, '--out', plan], 0);
    await done('PUT', flagPath(name), { description: 'by a person', type: 'release' });
    const id = lastId();
    await ends(['apply', plan], 2, new RegExp(`The flag "${name}" was changed meanwhile: description\\.`));
    assert.equal(lastId(), id);
  });

  it('a plan about a flag that was archived or deleted meanwhile neither changes nor creates it', async () => {
    const name = `gone-${number}`;
    const plan = join(folder, 'gone.json');
    await ends(['apply', yaml(`  - name: ${name}\n`)], 0);
    await ends(['plan', yaml(`  - name: ${name}\n    description: file\n`), '--out', plan], 0);
    for (const call of [flagPath(name), `/archive/${name}`]) {
      await done('DELETE', call);
      const id = lastId();
      await ends(['apply', plan], 2, new RegExp(`"${name}" was changed meanwhile: whether it is there\\.`));
      assert.equal(lastId(), id);
    }
  });

  it('a plan that somebody edited by hand changes nothing where it cannot be', async () => {
    const name = `edited-${number}`;
    const path = yaml(`  - name: ${name}\n    description: file\n`);
    const plan = join(folder, 'edited.json');
    await ends(['plan', path, '--out', plan], 0);
    const text = readFileSync(plan, 'utf8');
    const id = lastId();
    const { projects, ...head } = JSON.parse(text);
    const [{ changes, ...ofProject }] = projects;
    const others: readonly (readonly [content: object, code: number, pattern: RegExp])[] = [
      [{ ...head }, 65, /edited\.json:1: this plan is damaged, or of another version; make another one/],
      [{ ...head, projects, format: 'flagstaff-plan-2' }, 65, /or of another version/],
      [{ ...head, projects: [...projects, ...projects] }, 65, /this plan is damaged/],
      [
        { ...head, projects: [{ ...ofProject, changes: [...changes, { ...changes[1], after: 'other' }] }] },
        69,
        new RegExp(`Another change is of description of the flag "${name}" too\\.`),
      ],
      [
        { ...head, projects: [{ ...ofProject, changes: [{ ...changes[1], field: '__proto__' }] }] },
        69,
        /The field field must be one of presence, /,
      ],
    ];
    for (const [content, code, pattern] of others) {
      writeFileSync(plan, JSON.stringify(content));
      await ends(['apply', plan], code, pattern);
    }
    writeFileSync(plan, text.replace('"file"', `${'['.repeat(50_000)}${']'.repeat(50_000)}`));
    await ends(['apply', plan], 65, /this plan is damaged/);
    assert.equal(lastId(), id);
  });

  it('on a terminal an apply asks first', async () => {
    const path = yaml(`  - name: one-${number}\n`);
    const id = lastId();
    assert.equal((await run(['apply', path], {}, 'n')).code, 64);
    assert.equal(lastId(), id);
    assert.equal((await run(['apply', path], {}, 'y')).code, 0);
    assert(lastId() > id);
  });

  it('wrong use, no server and no right end in one sentence with their exit code, and change nothing', async () => {
    const path = yaml(`  - name: one-${number}\n`);
    const id = lastId();
    const one = async (args: readonly string[], code: number, env = {}) => {
      const ran = await run(args, env);
      assert.deepEqual([ran.code, ran.out], [code, ''], ran.err);
      assert.match(ran.err, /^flagstaff: [^\n]+$/);
    };
    for (const verb of ['plan', 'apply']) {
      assert.equal((await run([verb])).code, 64);
      await one([verb, join(folder, 'none.yaml')], 66);
      await one([verb, path, path], 64);
      await one([verb, path], 69, { FLAGSTAFF_URL: `http://localhost:${await freePort()}` });
      await one([verb, path], 69, { FLAGSTAFF_TOKEN: 'wrong' });
      await one([verb, file('project: nowhere\nflags: []\n', 'nowhere.yaml')], 69);
    }
    const { token } = await addUser(server, 3);
    const viewer = await run(['apply', path], { FLAGSTAFF_TOKEN: token });
    assert.equal(viewer.code, 69);
    assert.match(viewer.err, /^flagstaff: .*403 .*lacks permissions.*CREATE_FEATURE/);
    await ends(
      [
        'apply',
        yaml(
          `  - name: one-${number}\n    environments: [{name: nowhere, enabled: false, strategies: [{name: default}]}]\n`,
        ),
      ],
      69,
      /does not have the environment "nowhere"/,
    );
    await ends(
      ['apply', yaml(`  - name: one-${number}\n    environments: [{name: development, enabled: true}]\n`)],
      69,
      /A flag is on only with strategies/,
    );
    await ends(
      [
        'apply',
        yaml(
          `  - name: one-${number}\n    environments: [{name: development, strategies: [{name: default, segments: [unknown]}]}]\n`,
        ),
      ],
      69,
      /no segments of these names.*unknown/,
    );
    assert.equal(lastId(), id + 2, 'two events made the user and the token');
  });
});
