/** The state with which a new data folder starts, by default and from IMPORT_FILE. */
import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { DataFolderError } from '../../src/persistence/disk/data-folder.ts';
import { importMarker } from '../../src/persistence/recovery/unfinished-work.ts';
import { ConfigError } from '../../src/process/settings.ts';
import { exportState } from '../support/documents/state-document.ts';
import { serverFor, startTestServer, temporaryFolder } from '../support/server.ts';

describe('a new data folder', () => {
  const folders: string[] = [];
  const newFolder = (): string => {
    folders.push(temporaryFolder());
    return folders.at(-1) ?? '';
  };
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const document = (text: string): string => {
    const path = join(newFolder(), 'state.json');
    writeFileSync(path, text);
    return path;
  };

  it('starts with a project, two environments and a user who owns it', async (t) => {
    const server = await serverFor(t);
    const { directory, projects } = server.server.store.engine.world;
    assert.deepEqual([...projects.keys()], ['default']);
    assert.deepEqual(
      directory.environments.map((one) => one.name),
      ['development', 'production'],
    );
    assert.deepEqual([...(projects.get('default')?.members ?? [])], [[1, 4]]);
    assert.equal(directory.users.get(1)?.username, 'admin');
  });

  it('starts with the state of IMPORT_FILE instead, and exports the same document', async (t) => {
    const first = await serverFor(t);
    await first.call('POST', '/projects/default/features', { name: 'moved', type: 'experiment' });
    await first.call('POST', '/projects/default/features/moved/environments/production/strategies', {
      name: 'default',
    });
    await first.call('POST', '/projects/default/features/moved/environments/production/on');
    const exported = exportState(first.server.store.engine.world);
    await first.stop();
    const second = await serverFor(t, { env: { IMPORT_FILE: document(JSON.stringify(exported)) } });
    assert.deepEqual(exportState(second.server.store.engine.world), exported);
    const flag = await second.call('GET', '/projects/default/features/moved');
    assert.equal(flag.body.environments[1].enabled, true);
    await second.restart();
    assert.deepEqual(exportState(second.server.store.engine.world), exported, 'and it is not imported twice');
  });

  it('starts with the state of a server that has as many tokens of many projects as there may be', async (t) => {
    const first = await serverFor(t);
    const exported = exportState(first.server.store.engine.world, { credentials: true });
    await first.stop();
    const [project] = exported.projects;
    const ids = Array.from({ length: 100 }, (_, at) => `${'p'.repeat(90)}-${at}`);
    exported.projects.push(...ids.map((id) => ({ ...project!, id, name: id, members: [], flags: [] })));
    const token = { type: 'client', projects: ids, environment: 'production', expiresAt: null } as const;
    const apiTokens = Array.from({ length: 9_990 }, (_, at) => ({
      ...token,
      tokenName: `token-${at}`,
      digest: at.toString(16).padStart(64, '0'),
      createdAt: project!.createdAt,
    }));
    exported.credentials!.apiTokens.push(...apiTokens);
    const second = await serverFor(t, { env: { IMPORT_FILE: document(JSON.stringify(exported)) } });
    const { apiTokens: kept } = second.server.store.engine.world.directory;
    assert.deepEqual([...kept.values()].at(-1)?.projects, ids);
    assert(kept.size >= apiTokens.length);
  });

  it('starts with the client and frontend tokens of the settings', async (t) => {
    const env = {
      INIT_CLIENT_API_TOKENS: 'default:development.client-secret',
      INIT_FRONTEND_API_TOKENS: '*:production.frontend-secret',
    };
    const server = await serverFor(t, { env });
    const { body } = await server.call('GET', '/api-tokens');
    assert.deepEqual(
      body.tokens.map(({ tokenName, type, projects, environment }: Record<string, unknown>) => [
        ...[tokenName, type, projects, environment],
      ]),
      [
        ['admin', 'admin', ['*'], '*'],
        ['client', 'client', ['default'], 'development'],
        ['frontend', 'frontend', ['*'], 'production'],
      ],
    );
  });

  for (const token of ['default:staging.x', 'nothing:development.x']) {
    it(`does not start with the client token ${token}, whose scope does not exist`, async (t) => {
      const folder = newFolder();
      const start = startTestServer({ folder, env: { INIT_CLIENT_API_TOKENS: token } });
      await assert.rejects(
        start,
        (error) => error instanceof ConfigError && /does not exist/.test(error.message),
      );
      const server = await serverFor(t, { folder });
      assert.equal((await server.call('GET', '/projects/default')).status, 200, 'nothing was recorded');
    });
  }

  for (const [what, text, place] of [
    ['no JSON', '{ "formatVersion": 1,', /line 1/],
    ['of the wrong shape', '{ "formatVersion": 1, "projects": 5 }', /at \/projects/],
    ['of another format', '{ "formatVersion": 99 }', /at \/formatVersion/],
  ] as const) {
    it(`does not start with an IMPORT_FILE that is ${what}: it says where, and records nothing`, async (t) => {
      const folder = newFolder();
      const start = startTestServer({ folder, env: { IMPORT_FILE: document(text) } });
      await assert.rejects(start, (error) => error instanceof ConfigError && place.test(error.message));
      assert(!existsSync(importMarker(folder)));
      const server = await serverFor(t, { folder });
      assert.equal((await server.call('GET', '/projects/default')).status, 200);
    });
  }

  it('does not start with an IMPORT_FILE that is not there', async () => {
    const start = startTestServer({ folder: newFolder(), env: { IMPORT_FILE: '/nowhere/state.json' } });
    await assert.rejects(
      start,
      (error) =>
        error instanceof ConfigError &&
        /^IMPORT_FILE: .* cannot be used: there is no such file/.test(error.message),
    );
  });

  it('is refused when an import into it was cut short', async () => {
    const folder = newFolder();
    writeFileSync(importMarker(folder), '');
    await assert.rejects(startTestServer({ folder }), DataFolderError);
  });
});
