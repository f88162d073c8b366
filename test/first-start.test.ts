/** What a new data folder starts with, by default and from IMPORT_FILE. */
import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { exportState } from '../src/actors/state-file.ts';
import { ConfigError } from '../src/config.ts';
import { IMPORT_MARKER } from '../src/first-start.ts';
import { DataFolderError } from '../src/persistence/disk/data-folder-error.ts';
import { startTestServer, temporaryFolder } from './support/server.ts';

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

  it('starts with a project, two environments and a user who owns it', async () => {
    const server = await startTestServer();
    const { directory, projects } = server.server.store.engine.world;
    assert.deepEqual([...projects.keys()], ['default']);
    assert.deepEqual(
      directory.environments.map((one) => one.name),
      ['development', 'production'],
    );
    assert.deepEqual([...(projects.get('default')?.members ?? [])], [[1, 4]]);
    assert.equal(directory.users.get(1)?.username, 'admin');
    await server.stop();
  });

  it('starts with the state of IMPORT_FILE instead, and exports the same document', async () => {
    const first = await startTestServer();
    await first.call('POST', '/projects/default/features', { name: 'moved', type: 'experiment' });
    await first.call('POST', '/projects/default/features/moved/environments/production/strategies', {
      name: 'default',
    });
    await first.call('POST', '/projects/default/features/moved/environments/production/on');
    const exported = exportState(first.server.store.engine.world);
    await first.stop();
    const second = await startTestServer({ env: { IMPORT_FILE: document(JSON.stringify(exported)) } });
    assert.deepEqual(exportState(second.server.store.engine.world), exported);
    const flag = await second.call('GET', '/projects/default/features/moved');
    assert.equal(flag.body.environments[1].enabled, true);
    await second.restart();
    assert.deepEqual(exportState(second.server.store.engine.world), exported, 'and it is not imported twice');
    await second.stop();
  });

  for (const [what, text, place] of [
    ['no JSON', '{ "formatVersion": 1,', /line 1/],
    ['of the wrong shape', '{ "formatVersion": 1, "projects": 5 }', /at \/projects/],
    ['of another format', '{ "formatVersion": 99 }', /at \/formatVersion/],
  ] as const) {
    it(`does not start with an IMPORT_FILE that is ${what}: it says where, and records nothing`, async () => {
      const folder = newFolder();
      const start = startTestServer({ folder, env: { IMPORT_FILE: document(text) } });
      await assert.rejects(start, (error) => error instanceof ConfigError && place.test(error.message));
      assert(!existsSync(join(folder, IMPORT_MARKER)));
      const server = await startTestServer({ folder });
      assert.equal((await server.call('GET', '/projects/default')).status, 200);
      await server.stop();
    });
  }

  it('does not start with an IMPORT_FILE that is not there', async () => {
    const start = startTestServer({ folder: newFolder(), env: { IMPORT_FILE: '/nowhere/state.json' } });
    await assert.rejects(
      start,
      (error) => error instanceof ConfigError && /cannot be read/.test(error.message),
    );
  });

  it('is refused when an import into it was cut short', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, IMPORT_MARKER), '');
    await assert.rejects(startTestServer({ folder }), DataFolderError);
  });
});
