/**
 * Endpoints 1–5: project overviews and lists; creating, reading and updating a flag (docs/specification/flags.md).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  archive,
  environmentPath,
  FEATURES,
  flagEvent,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describeInterface('flags', (server) => {
  it('creates a flag with the defaults of the interface, and records it', async () => {
    const { response, events } = await recording(server(), () =>
      server().call('POST', FEATURES, { name: 'first' }),
    );
    assert.equal(response.status, 201);
    assert.match(response.body.createdAt, ISO);
    assert.deepEqual(
      { ...response.body, createdAt: '' },
      {
        name: 'first',
        project: 'default',
        description: '',
        type: 'release',
        stale: false,
        impressionData: false,
        links: [],
        createdAt: '',
        lastSeenAt: null,
        variants: null,
        archived: false,
      },
    );
    assert.deepEqual(events, [flagEvent('feature-created', 'first', { data: response.body })]);
  });

  it('creates a flag with what is sent, and ignores fields that it does not know', async () => {
    const fields = { description: null, type: 'kill-switch', impressionData: true };
    const flag = await makeFlag(server().call, 'as-sent', { ...fields, createdAt: 5, project: 'x', tea: {} });
    assert.deepEqual({ ...flag, ...fields, project: 'default' }, flag);
    assert.notEqual(flag.createdAt, 5);
  });

  it('keeps every flag type of the interface', async () => {
    for (const type of ['release', 'kill-switch', 'experiment', 'operational', 'permission']) {
      assert.equal((await makeFlag(server().call, `of-type-${type}`, { type })).type, type);
    }
  });

  it('refuses to create what breaks a rule, naming the field', async () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [{}, '/body/name'],
      [{ name: null }, '/body/name'],
      [{ name: 5 }, '/body/name'],
      [{ name: '' }, '/body/name'],
      [{ name: '.' }, '/body/name'],
      [{ name: '..' }, '/body/name'],
      [{ name: 'with space' }, '/body/name'],
      [{ name: 'slash/ed' }, '/body/name'],
      [{ name: 'ünïcode' }, '/body/name'],
      [{ name: 'line\n' }, '/body/name'],
      [{ name: 'a'.repeat(101) }, '/body/name'],
      [{ name: 'ok', description: 5 }, '/body/description'],
      [{ name: 'ok', type: 'toggle' }, '/body/type'],
      [{ name: 'ok', type: 'Release' }, '/body/type'],
      [{ name: 'ok', type: null }, '/body/type'],
      [{ name: 'ok', impressionData: 'true' }, '/body/impressionData'],
      [{ name: 'ok', impressionData: 1 }, '/body/impressionData'],
      [[], '/body'],
      ['"a string"', '/body'],
      ['null', '/body'],
    ];
    for (const [body, pointer] of cases) {
      await invalidAt(server(), pointer, { method: 'POST', path: FEATURES, body });
    }
  });

  it('takes names of 100 characters, and names that mean something to JavaScript or to routes', async () => {
    for (const name of ['a'.repeat(100), '__proto__', 'constructor', 'toString', 'validate', '...', '~.-_']) {
      await makeFlag(server().call, name);
      const { status, body } = await server().call('GET', `${FEATURES}/${name}`);
      assert.deepEqual({ status, name: body.name }, { status: 200, name });
    }
  });

  it('refuses a name that is taken: in this project, in another one, or by an archived flag', async () => {
    await addProject(server(), 'elsewhere');
    await makeFlag(server().call, 'taken');
    await makeFlag(server().call, 'taken-and-archived');
    await archive(server().call, 'taken-and-archived');
    for (const name of ['taken', 'taken-and-archived']) {
      for (const path of [FEATURES, '/projects/elsewhere/features']) {
        const { body } = await refused(server(), 409, 'NameExistsError', {
          method: 'POST',
          path,
          body: { name },
        });
        assert.match(body.message, new RegExp(`"${name}"`));
      }
    }
  });

  it('reads a flag with all its environments in their order', async () => {
    const created = await makeFlag(server().call, 'whole');
    const strategy = await addStrategy(server().call, 'whole', {}, 'production');
    await server().call('POST', `${environmentPath('whole', 'production')}/on`);
    const { status, body } = await server().call('GET', `${FEATURES}/whole`);
    assert.equal(status, 200);
    const environment = (name: string, enabled: boolean, strategies: unknown[]) => ({
      hasStrategies: strategies.length > 0,
      hasEnabledStrategies: strategies.length > 0,
      enabledStrategyCount: strategies.length,
      rollout: strategies.length > 0 ? 100 : null,
      variantCount: 0,
      sortOrder: name === 'development' ? 1 : 2,
      name,
      displayName: name,
      type: name,
      enabled,
      lastSeenAt: null,
      yes: 0,
      no: 0,
      changeRequestIds: [],
      strategies,
    });
    assert.deepEqual(body, {
      ...created,
      favorite: false,
      archivedAt: null,
      lifecycle: { stage: 'initial', enteredStageAt: created.createdAt },
      environments: [environment('development', false, []), environment('production', true, [strategy])],
      children: [],
      dependencies: [],
      tags: [],
    });
  });

  it('does not find a flag that does not exist, or under a project that is not its own', async () => {
    await addProject(server(), 'stranger');
    await makeFlag(server().call, 'at-home');
    for (const path of [
      `${FEATURES}/nobody`,
      '/projects/stranger/features/at-home',
      '/projects/nowhere/features/at-home',
    ]) {
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', {}],
        ['PATCH', []],
        ['DELETE', undefined],
      ] as const) {
        await refused(server(), 404, 'NotFoundError', { method, path, body });
      }
      await refused(server(), 404, 'NotFoundError', {
        method: 'POST',
        path: `${path}/clone`,
        body: { name: 'c' },
      });
    }
  });

  it('updates the metadata that is sent and keeps the rest, in one event', async () => {
    const before = await makeFlag(server().call, 'updated', { description: 'old', impressionData: true });
    const { response, events } = await recording(server(), () =>
      server().call('PUT', `${FEATURES}/updated`, {
        name: 'updated',
        description: 'new',
        type: 'experiment',
      }),
    );
    const after = { ...before, description: 'new', type: 'experiment' };
    assert.deepEqual(response.body, after);
    assert.deepEqual(events, [
      flagEvent('feature-metadata-updated', 'updated', { data: after, preData: before }),
    ]);
  });

  it('records that a flag became stale, or is so no longer, after the update', async () => {
    await makeFlag(server().call, 'ageing');
    for (const [stale, type] of [
      [true, 'feature-stale-on'],
      [false, 'feature-stale-off'],
    ] as const) {
      const { response, events } = await recording(server(), () =>
        server().call('PUT', `${FEATURES}/ageing`, { stale }),
      );
      assert.equal(response.body.stale, stale);
      assert.deepEqual(
        events.map((event) => event.type),
        ['feature-metadata-updated', type],
      );
      assert.deepEqual(events[1], flagEvent(type, 'ageing'));
    }
  });

  it('records nothing for an update that changes nothing', async () => {
    const before = await makeFlag(server().call, 'unchanged', { description: 'same' });
    for (const body of [{}, { description: 'same' }, { name: 'unchanged', type: 'release', stale: false }]) {
      const { response, events } = await recording(server(), () =>
        server().call('PUT', `${FEATURES}/unchanged`, body),
      );
      assert.deepEqual({ body: response.body, events }, { body: before, events: [] });
    }
  });

  it('ignores fields that an update cannot change', async () => {
    const before = await makeFlag(server().call, 'fixed');
    const sent = { project: 'x', createdAt: 'x', lastSeenAt: 5, lastSeen: 5, archived: true, variants: 'x' };
    const { response, events } = await recording(server(), () =>
      server().call('PUT', `${FEATURES}/fixed`, sent),
    );
    assert.deepEqual({ status: response.status, body: response.body }, { status: 200, body: before });
    assert.deepEqual(events, []);
  });

  it('removes a description by null', async () => {
    await makeFlag(server().call, 'described', { description: 'x' });
    const { body } = await server().call('PUT', `${FEATURES}/described`, { description: null });
    assert.equal(body.description, null);
  });

  it('refuses an update that breaks a rule, naming the field', async () => {
    await makeFlag(server().call, 'strict');
    const cases: readonly (readonly [unknown, string])[] = [
      [{ name: 'renamed' }, '/body/name'],
      [{ name: 5 }, '/body/name'],
      [{ description: {} }, '/body/description'],
      [{ type: 'none' }, '/body/type'],
      [{ stale: 'yes' }, '/body/stale'],
      [{ impressionData: 0 }, '/body/impressionData'],
      [[], '/body'],
    ];
    for (const [body, pointer] of cases) {
      await invalidAt(server(), pointer, { method: 'PUT', path: `${FEATURES}/strict`, body });
    }
  });

  it('keeps one time of creation, whatever happens to the flag', async () => {
    const { createdAt } = await makeFlag(server().call, 'timed');
    await server().call('PUT', `${FEATURES}/timed`, { description: 'x' });
    await archive(server().call, 'timed');
    assert.equal((await server().call('GET', `${FEATURES}/timed`)).body.createdAt, createdAt);
  });
});
