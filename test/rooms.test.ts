/** The structure of the code, held against the table in `rooms.ts`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NEEDED, ROOMS } from './rooms.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const CODE_FOLDERS = ['src', 'test', 'bench', 'web'];

const IMPORT = /(?:\bfrom|\bimport\()\s*'([^']+)'/g;

interface SourceFile {
  /** From the root of the repository. */
  readonly path: string;
  /** Its imports: paths from the root for files of ours, names for packages. */
  readonly imports: readonly string[];
}

function sourceFiles(folder: string): SourceFile[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const path = join(folder, name);
      const text = readFileSync(join(ROOT, path), 'utf8');
      const imports = [...text.matchAll(IMPORT)].map(([, target = '']) =>
        target.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(path), target)) : target,
      );
      return { path, imports };
    });
}

const SOURCES = sourceFiles('src');
/** A room of its own: the one file that may name every add-on. */
const ADDON_LIST = 'start/addons.ts';

function roomOf(path: string): string {
  const place = relative('src', path);
  return place === ADDON_LIST ? place : dirname(place);
}

/** Rooms that each room's files import from, as the code has it. */
function arrows(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { path, imports } of SOURCES) {
    const from = found.get(roomOf(path)) ?? new Set();
    found.set(roomOf(path), from);
    for (const target of imports) {
      if (target.startsWith('src/') && roomOf(target) !== roomOf(path)) from.add(roomOf(target));
    }
  }
  return found;
}

/** The members of one circle, in order, or null. */
function circleIn(graph: ReadonlyMap<string, Iterable<string>>): string[] | null {
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const circle = visit(next, [...path, node]);
      if (circle !== null) return circle;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const circle = visit(node, []);
    if (circle !== null) return circle;
  }
  return null;
}

test('every import between folders of src is an arrow of the table, and every arrow of the table is used', () => {
  const found = Object.fromEntries([...arrows()].map(([room, targets]) => [room, [...targets].sort()]));
  const allowed = Object.fromEntries(
    Object.entries(ROOMS).map(([room, { imports }]) => [room, [...imports].sort()]),
  );
  assert.deepEqual(found, allowed);
});

test('the folders of src import from each other in no circle', () => {
  assert.equal(circleIn(arrows()), null);
});

test('only the list of add-ons imports one, and add-ons do not import each other', () => {
  const addonOf = (room: string): string | null => /^addons\/([^/]+)/.exec(room)?.[1] ?? null;
  const offenders = [...arrows()].filter(([room, targets]) => {
    const from = addonOf(room);
    const mayImport = (to: string): boolean =>
      from !== null && (to === from || NEEDED[from]?.includes(to) === true);
    return room !== ADDON_LIST && [...targets].map(addonOf).some((to) => to !== null && !mayImport(to));
  });
  assert.deepEqual(offenders, []);
});

test('a folder of src without folders below it has at least three files', () => {
  const rooms = [...arrows().keys()];
  const leaves = rooms.filter(
    (room) => room !== '.' && room !== ADDON_LIST && !rooms.some((other) => other.startsWith(`${room}/`)),
  );
  const small = leaves.filter((leaf) => SOURCES.filter(({ path }) => roomOf(path) === leaf).length < 3);
  assert.deepEqual(small, []);
});

/** They put together what others are for themselves: tables of routes, of commands and of kinds, the parts of a server, subcommands. */
const PUTS_TOGETHER = [
  ...['src/cli/', 'src/start/', 'src/main.ts', 'src/server.ts'],
  ...['src/actors/store.ts', 'src/domain/decide/decide.ts', 'src/domain/decide/refuse-beyond-limits.ts'],
  ...['src/domain/kinds/kinds.ts', 'src/http/admin/surface.ts'],
];

test('a file that only one file imports lies beside it', () => {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of SOURCES)
    for (const target of imports) importers.set(target, [...(importers.get(target) ?? []), path]);
  const away = SOURCES.map(({ path }) => path).filter((path) => {
    const [only, ...others] = importers.get(path) ?? [];
    if (only === undefined || others.length > 0 || roomOf(only) === roomOf(path)) return false;
    return !PUTS_TOGETHER.some((one) => only.startsWith(one));
  });
  assert.deepEqual(away, []);
});

test('no files import each other in a circle, types included', () => {
  const files = CODE_FOLDERS.flatMap(sourceFiles);
  assert.equal(circleIn(new Map(files.map(({ path, imports }) => [path, imports]))), null);
});

test('a circle would be found', () => {
  assert.deepEqual(circleIn(new Map(Object.entries({ a: ['b'], b: ['c'], c: ['b'] }))), ['b', 'c', 'b']);
});

test('the domain does no I/O: of Node it imports only assertions', () => {
  const offenders = SOURCES.filter(
    ({ path, imports }) =>
      path.startsWith('src/domain/') &&
      imports.some((one) => one.startsWith('node:') && one !== 'node:assert/strict'),
  );
  assert.deepEqual(offenders, []);
});

/** Words that begin a fragment, which leans on the name below it. A comment begins with a noun phrase, or a verb in the third person. */
const FRAGMENT =
  /\/\*\*[\s*]*(?:As|Behind|In|Of|That|Those|Until|What|When|Where|Which|Who|Whoever|Whose)\b/g;

test('no doc comment begins with a fragment', () => {
  const paths = ['src', 'web', 'bench', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[jt]sx?$/.test(name))
      .map((name) => join(folder, name)),
  );
  const found = paths.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return [...text.matchAll(FRAGMENT)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    );
  });
  assert.deepEqual(found, []);
});
