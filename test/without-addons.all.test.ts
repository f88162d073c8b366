/**
 * The core without add-ons. Their folders, their tests and their lines in the list are taken away: each of them in turn, with those that
 * need it, and all together.
 */
// Own process: it waits for other processes, and does nothing else meanwhile.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, it } from 'node:test';
import ts from 'typescript';
import { NEEDED } from './rooms.ts';
import { processFor, ROOT_FOLDER, serverFor, temporaryFolder } from './support/server.ts';

const IMPORT = /(?:\bfrom|\bimport\(|\bimport)\s*'(\.[^']+)'/g;
const ADDON_LIST = 'src/start/addons.ts';
const FOLDERS = ['src', 'test', 'bench', 'web'];
const LEFT_OUT = /^(?:\.git|coverage|dist|node_modules|data|release-.*)$/;

/** Files about the whole product: its manual, its limits, its bench, its pages, Unleash beside it, and the long forms of all tests of faults. */
const OF_THE_PRODUCT =
  /^(?:bench|test\/(?:bench|browser|limits|unleash))\/|^test\/[^/]+$|^test\/faults\/(?:long-forms|run)\.ts$/;

/** Folders of tests in which an add-on would be missed: what starts a server, asks it, and opens the folders of releases. */
const TESTS_OF_THE_CORE = ['test/cli', 'test/golden', 'test/http', 'test/process', 'test/start'];

const ADDONS = readdirSync(join(ROOT_FOLDER, 'src/addons'));

/** Paths of sources, each with those that it imports. */
const IMPORTS: ReadonlyMap<string, readonly string[]> = new Map(
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT_FOLDER, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  ).map((file) => {
    const imports = [...readFileSync(join(ROOT_FOLDER, file), 'utf8').matchAll(IMPORT)];
    return [file, imports.map(([, target = '']) => normalize(join(dirname(file), target)))];
  }),
);

const addonOf = (file: string): string | undefined => /^(?:src|test)\/addons\/([^/]+)\//.exec(file)?.[1];

/** The files of add-ons, and whatever imports one of them, but for the list. */
function filesOf(addons: readonly string[]): ReadonlySet<string> {
  const gone = new Set([...IMPORTS.keys()].filter((file) => addons.includes(addonOf(file) ?? '')));
  for (let before = 0; before < gone.size; ) {
    before = gone.size;
    for (const [file, targets] of IMPORTS)
      if (file !== ADDON_LIST && targets.some((target) => gone.has(target))) gone.add(file);
  }
  return gone;
}

/** The add-on, and those that need it. */
function takenWith(addon: string): readonly string[] {
  return [addon, ...ADDONS.filter((other) => NEEDED[other]?.includes(addon))];
}

/** The list without the lines of these add-ons. */
function listWithout(addons: readonly string[]): string {
  let list = readFileSync(join(ROOT_FOLDER, ADDON_LIST), 'utf8');
  for (const addon of addons) {
    const line = new RegExp(`^import .* from '\\.\\./addons/${addon}/.*';\\n`, 'm');
    const name = addon.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const entry = new RegExp(`^ {2}${name}(?:\\(.*\\))?,\\n`, 'm');
    for (const one of [line, entry]) {
      assert.match(list, one);
      list = list.replace(one, '');
    }
  }
  return list.replace('= [\n];', '= [];');
}

describe('without one add-on', () => {
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(ROOT_FOLDER, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    ROOT_FOLDER,
  );
  const host = ts.createIncrementalCompilerHost(options);
  const { fileExists, readFile } = host;
  const sources = new Map<string, ts.SourceFile | undefined>();
  let gone: ReadonlySet<string> = new Set();
  let list: string | undefined;
  const isList = (path: string): boolean => relative(ROOT_FOLDER, path) === ADDON_LIST;
  host.fileExists = (path) => !gone.has(relative(ROOT_FOLDER, path)) && fileExists.call(host, path);
  host.readFile = (path) => (isList(path) ? list : undefined) ?? readFile.call(host, path);
  host.hasInvalidatedResolutions = () => true;
  const read = host.getSourceFile;
  host.getSourceFile = (path, ...rest) => {
    if (isList(path)) return read.call(host, path, ...rest);
    if (!sources.has(path)) sources.set(path, read.call(host, path, ...rest));
    return sources.get(path);
  };
  // Of the check before the tests, if its notes are there.
  let builder: ts.SemanticDiagnosticsBuilderProgram | undefined = ts.readBuilderProgram(options, host);
  /** Errors in the files that the last change has touched. */
  const compile = (): readonly string[] => {
    const names = fileNames.filter((path) => !gone.has(relative(ROOT_FOLDER, path)));
    builder = ts.createSemanticDiagnosticsBuilderProgram(names, options, host, builder);
    const found: string[] = [];
    for (;;) {
      const next = builder.getSemanticDiagnosticsOfNextAffectedFile();
      if (next === undefined) return found;
      for (const { file, messageText } of next.result)
        found.push(`${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
    }
  };

  it('all of it compiles with each of them', () => assert.deepEqual(compile(), []));

  for (const addon of ADDONS) {
    const taken = takenWith(addon);

    it(`nothing that stays imports ${addon}`, () => {
      const others = [...filesOf(taken)].filter((file) => {
        const own = addonOf(file);
        return own === undefined
          ? !OF_THE_PRODUCT.test(file)
          : file.startsWith('src/') && !taken.includes(own);
      });
      assert.deepEqual(others, []);
      assert.doesNotMatch(listWithout(taken), new RegExp(`addons/(?:${taken.join('|')})/`));
    });

    it(`all else compiles without ${addon}`, () => {
      gone = filesOf(taken);
      list = listWithout(taken);
      assert.deepEqual(compile(), []);
    });
  }
});

describe('the core without any add-on', () => {
  let root: string;
  const run = (...args: readonly string[]): SpawnSyncReturns<string> => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env, maxBuffer: 2 ** 28 });
  };

  before(() => {
    root = temporaryFolder();
    const isCopied = (path: string): boolean => !LEFT_OUT.test(relative(ROOT_FOLDER, path));
    cpSync(ROOT_FOLDER, root, { recursive: true, filter: isCopied });
    symlinkSync(join(ROOT_FOLDER, 'node_modules'), join(root, 'node_modules'));
    for (const file of filesOf(ADDONS))
      for (const name of [file, file.replace(/ts$/, 'js')]) rmSync(join(root, name), { force: true });
    for (const folder of ['src/addons', 'test/addons']) rmSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, ADDON_LIST), listWithout(ADDONS));
  });

  it('compiles', () => {
    const tsc = join(ROOT_FOLDER, 'node_modules/typescript/bin/tsc');
    const { stdout, status } = run(tsc, '-p', root, '--incremental', 'false');
    assert.equal(status, 0, stdout);
  });

  it('passes its tests', () => {
    const files = TESTS_OF_THE_CORE.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.all.test.ts'))
        .map((name) => join(folder, name)),
    );
    const { stdout, status } = run('--import', 'tsx', join(root, 'test/run.ts'), ...files);
    assert.equal(status, 0, stdout);
  });

  it('opens a folder that was written with add-ons, and says what it leaves alone', async () => {
    const folder = temporaryFolder();
    cpSync(join(ROOT_FOLDER, 'test/golden/0.2.0/stopped'), folder, { recursive: true });
    const server = spawn(process.execPath, ['--import', 'tsx', join(root, 'src/main.ts')], {
      cwd: root,
      env: { ...process.env, DATA_DIR: folder, HTTP_HOST: '127.0.0.1', HTTP_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const left: unknown[] = [];
    for await (const line of createInterface({ input: server.stdout })) {
      const { names, msg } = JSON.parse(line);
      if (/they are left alone$/.test(msg)) left.push(names);
      if (/^Flagstaff listens/.test(msg)) server.kill();
    }
    assert.deepEqual(left, [['usage']]);
  });

  it('keeps what an add-on has recorded, and the add-on finds it when it is back', async (t) => {
    const folder = temporaryFolder();
    const before = await serverFor(t, { folder });
    const parameters = { url: 'https://hooks.example/secret' };
    const integration = { provider: 'webhook', enabled: false, events: ['feature-created'], parameters };
    const { body: made } = await before.call('POST', '/addons', integration);
    await before.stop();
    const without = await processFor(t, folder, {}, root);
    assert.equal((await without.call('GET', '/addons')).status, 404);
    const { body: found } = await without.call('POST', '/events/search', { type: 'addon-config-created' });
    assert.deepEqual(found.events[0].data, made);
    const flag = await without.call('POST', '/projects/default/features', { name: 'meanwhile' });
    assert.equal(flag.status, 201);
    assert.equal(await without.terminate(), 0);
    const back = await serverFor(t, { folder });
    assert.deepEqual((await back.call('GET', `/addons/${made.id}`)).body, made);
    const { world } = back.server.store.engine;
    assert.equal(world.addonRecords.get('integration')?.byId.get(made.id)?.secrets?.url, parameters.url);
    assert.equal((await back.call('GET', '/projects/default/features/meanwhile')).status, 200);
  });
});
