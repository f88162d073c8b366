/**
 * Everything that documents and comments refer to exists: every link between pages, every page and section that a
 * comment cites, every file that ARCHITECTURE.md names, and every endpoint of the specification.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { FRAME_HEADER_BYTES } from '../src/persistence/journal/frame-format.ts';
import { encodePayload } from '../src/persistence/journal/frame-payload.ts';
import { EXIT } from '../src/process/exit-codes.ts';
import { ADDONS } from '../src/start/addons.ts';
import { unclaimedFiles } from '../src/start/unclaimed-files.ts';
import { recordedCounts } from './faults/counts.ts';
import { reliabilityPage } from './faults/render.ts';
import { FAULT_ROWS } from './faults/rows.ts';
import { MANUAL_TABLES, withTables } from './manual-tables.ts';
import { DESCRIBED } from './support/described-routes.ts';
import { messagesOf } from './support/log-messages.ts';
import { ROOT_FOLDER, temporaryFolder } from './support/server.ts';
import { ADMIN_ROUTES } from './support/surfaces.ts';

interface Reference {
  /** The file that refers, from the root of the repository. */
  readonly from: string;
  readonly line: number;
  /** A path from the root of the repository. */
  readonly path: string;
  /** Without `#`; null for the page as a whole. */
  readonly section: string | null;
}

const FOLDERS = ['bench', 'deploy', 'docs', 'src', 'test', 'web'];
const FILES = [
  ...readdirSync(ROOT_FOLDER).filter((name) => name.endsWith('.md')),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT_FOLDER, folder), { recursive: true }).map((name) => join(folder, String(name))),
  ),
  'data/README.md',
];
const PAGES = FILES.filter((path) => path.endsWith('.md'));
const SOURCES = FILES.filter((path) => /\.(?:ts|js|mjs|css|html)$/.test(path));

/** Markdown links, without images of other hosts: `[text](target)`. */
const LINK = /\]\(([^()\s]+)\)/g;

/** A page that a source names, from the root of the repository or by its name alone. */
const CITATION = /(?<![\w/.-])((?:[\w-]+\/)*[\w-]+\.md)(?:#([\w-]+))?/g;

/** A path of the repository in running text, and an argument of a command; `*` stands for any part of a name. */
const NAMED_FILE = /(?<=[` ])((?:src|test|bench|docs|web|deploy|data)\/[\w./*-]*)(?=[` \n])/g;

/** Whether a file or folder has the name, in which `*` stands for any part of one folder's or file's name. */
function exists(name: string): boolean {
  if (!name.includes('*')) return existsSync(join(ROOT_FOLDER, name));
  const pattern = new RegExp(`^${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
  return FILES.some((path) => pattern.test(path));
}

function linesOf(path: string): string[] {
  return readFileSync(join(ROOT_FOLDER, path), 'utf8').split('\n');
}

/** The links of a page into the repository. */
function linksOf(page: string): Reference[] {
  return linesOf(page).flatMap((text, at) =>
    [...text.matchAll(LINK)]
      .map((match) => match[1] ?? '')
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => {
        const [file = '', section = null] = target.split('#');
        const path = file === '' ? page : relative(ROOT_FOLDER, resolve(ROOT_FOLDER, dirname(page), file));
        return { from: page, line: at + 1, path, section };
      }),
  );
}

function citationsOf(source: string): Reference[] {
  return linesOf(source).flatMap((text, at) =>
    [...text.matchAll(CITATION)].map((match) => ({
      from: source,
      line: at + 1,
      path: match[1] ?? '',
      section: match[2] ?? null,
    })),
  );
}

/** The sections of a page as a link names them: in lower case, without punctuation, with hyphens for spaces. */
function sectionsOf(page: string): Set<string> {
  const headings = linesOf(page).filter((line) => /^#{1,6} /.test(line));
  return new Set(
    headings.map((heading) =>
      heading
        .replace(/^#+ /, '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Null when what is referred to exists, else a sentence that says what is missing. */
function faultOf({ from, line, path, section }: Reference): string | null {
  if (!exists(path)) return `${from}:${line} refers to ${path}, which does not exist`;
  if (section === null || sectionsOf(path).has(section)) return null;
  return `${from}:${line} refers to the section ${section}, which ${path} does not have`;
}

/** A citation may name a page by its file name alone, as code that writes the page does. */
const namesPageOnly = ({ path, section }: Reference): boolean =>
  section === null && PAGES.some((page) => page.endsWith(`/${path}`));

function faultsOf(references: readonly Reference[]): string[] {
  return references.map(faultOf).filter((fault) => fault !== null);
}

test('every link between pages leads to a page and a section that exist', () => {
  const links = PAGES.flatMap(linksOf);
  assert(links.length > 100, `only ${links.length} links were found`);
  assert.deepEqual(faultsOf(links), []);
});

test('every page and section that a source cites exists', () => {
  const citations = SOURCES.flatMap(citationsOf);
  assert(citations.length > 5, `only ${citations.length} citations were found`);
  assert.deepEqual(faultsOf(citations.filter((citation) => !namesPageOnly(citation))), []);
});

test('every file exists that ARCHITECTURE.md names, or CONTRIBUTING.md, its commands included', () => {
  const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap(linesOf).join('\n');
  const named = [...pages.matchAll(NAMED_FILE)].map((match) => match[1] ?? '');
  assert(named.length > 20, `only ${named.length} names were found`);
  assert.deepEqual(
    named.filter((path) => !exists(path)),
    [],
  );
});

const FLAG_PATH = '/projects/:projectId/features/:featureName';

/** The numbered rows of the specification's table of endpoints, each as method and path. */
function numberedEndpoints(): string[] {
  const row = /^\| (\d+) \| ([A-Z]+) `([^`]+)` \|/;
  return linesOf('docs/specification/README.md')
    .map((line) => row.exec(line))
    .filter((match) => match !== null)
    .map(([, , method = '', path = '']) => {
      const whole = path
        .replace('…/:environment', `${FLAG_PATH}/environments/:environment`)
        .replace('…/:featureName', FLAG_PATH);
      return `${method} ${whole}`;
    });
}

test('the reference for operators has every exit code, and no other', () => {
  const codes = linesOf('docs/operating-reference.md').flatMap(
    (line) => /^\| (\d+) \|/.exec(line)?.[1] ?? [],
  );
  assert.deepEqual(
    codes.map(Number),
    Object.values(EXIT).toSorted((a, b) => a - b),
  );
});

/** Names of commits as Git writes them: a word of hexadecimal digits with figures and letters. */
const COMMIT = /\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b/;

test('no page for readers names a commit, or gives in place of a figure that nobody counted it', () => {
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'docs/reliability.md',
    'docs/operating.md',
    'docs/operating-reference.md',
    'docs/settings.md',
  ];
  const found = pages.flatMap((page) =>
    linesOf(page).filter((line) => COMMIT.test(line) || line.includes('(not counted')),
  );
  assert.deepEqual(found, []);
  assert(COMMIT.test('seen at 0c83e97') && !COMMIT.test('12345678 feedback'));
});

test('an event such as a switch takes as many bytes of the journal as the page on operating says', () => {
  const said = /An event such as a switch takes about (\d+) bytes/.exec(
    linesOf('docs/operating.md').join(' '),
  )?.[1];
  const about = { project: 'default', featureName: 'checkout', environment: 'production' };
  const event = { type: 'feature-environment-enabled', ...about, data: null, preData: null };
  const frame = { id: 70_000, at: 1_700_000_000_000, by: 'ada', userId: 7, events: [event] };
  const bytes = FRAME_HEADER_BYTES + encodePayload(frame).length;
  assert(Math.abs(bytes - Number(said)) <= 20, `${bytes} bytes, and the page says ${said}`);
});

test('the comparison with other servers has rows that this one loses', () => {
  const rows = linesOf('README.md').map((line) => line.split('|').map((cell) => cell.trim()));
  const features = rows.filter((cells) => cells.length === 9);
  const lost = features.filter(([, , own = '', ...others]) => own.startsWith('no') && others.includes('yes'));
  assert(lost.length >= 3, lost.map(([, what]) => what).join());
});

test('every test that the table of faults names exists', () => {
  const missing = FAULT_ROWS.flatMap(({ tests }) => tests).filter(({ file, title }) => {
    const path = join(ROOT_FOLDER, 'test', file);
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(title);
  });
  assert.deepEqual(missing, []);
});

test('the page of faults is what its table and the recorded counts make', () => {
  const page = readFileSync(join(ROOT_FOLDER, 'docs/reliability.md'), 'utf8');
  assert.equal(page, reliabilityPage(recordedCounts()), 'node --import tsx test/faults/render.ts writes it');
});

test('the tables of settings, exit codes, metrics and log messages are what the code makes', () => {
  for (const page of new Set(MANUAL_TABLES.map((one) => one.page))) {
    const text = linesOf(page).join('\n');
    assert.equal(text, withTables(page, text), 'node --import tsx test/manual-tables.ts writes them');
  }
});

test('a message that is logged without a line for operators is found', () => {
  const line = "log.warn({ path }, 'Something is odd.');";
  assert.throws(
    () => messagesOf('src/odd.ts', `function odd() {\n  ${line}\n}\n`),
    /^Error: src\/odd\.ts:2 logs without/,
  );
  assert.deepEqual(messagesOf('src/odd.ts', `// Operators: look at \`path\`\n${line}\n`), [
    { message: 'Something is odd.', advice: 'look at `path`' },
  ]);
});

test('the specification numbers 23 endpoints, and the server has a route for each', () => {
  const endpoints = numberedEndpoints();
  assert.equal(endpoints.length, 23);
  const routes = new Set(ADMIN_ROUTES.map(({ method, path }) => `${method} ${path}`));
  assert.deepEqual(
    endpoints.filter((endpoint) => !routes.has(endpoint)),
    [],
  );
});

test('a reference to a page or section that does not exist is found', () => {
  const reference = { from: 'README.md', line: 1, path: 'docs/concepts.md', section: null };
  assert.equal(faultOf(reference), null);
  assert.match(faultOf({ ...reference, path: 'docs/nowhere' }) ?? '', /docs\/nowhere, which does not exist/);
  assert.match(faultOf({ ...reference, section: 'nothing' }) ?? '', /the section nothing/);
});

test('no page or source has the marks of an unfinished merge', () => {
  const mark = /^(?:<{7}|>{7}) |^={7}$/;
  const found = [...PAGES, ...SOURCES].flatMap((path) =>
    linesOf(path).flatMap((text, at) => (mark.test(text) ? [`${path}:${at + 1}`] : [])),
  );
  assert.deepEqual(found, []);
});

test('the specification, or the page on what of Unleash is here, has the path of each operation', () => {
  const pages = PAGES.filter((path) => /^docs\/(?:specification\/|unleash-compatibility)/.test(path));
  const text = pages.map((path) => readFileSync(join(ROOT_FOLDER, path), 'utf8')).join('\n');
  const missing = DESCRIBED.map(({ route }) => route).filter(({ path }) => {
    // The last named parts that follow each other: pages shorten what stands before.
    const named = /(?:\/[A-Za-z][\w.-]*)+(?=(?:\/:\w+)*$)/.exec(path)?.[0].split('/').slice(-2) ?? [];
    const words = named.filter((word) => word !== '').join('/');
    const at = text.split(words).slice(1);
    return !at.some((rest) => !/^[\w-]/.test(rest));
  });
  assert.deepEqual(
    missing.map(({ method, path }) => `${method} ${path}`),
    [],
  );
});

test('a start knows every file that data/README.md lists', async () => {
  const page = readFileSync(join(ROOT_FOLDER, 'data/README.md'), 'utf8');
  const firstColumn = [...page.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  const listed = new Set(firstColumn.map((name) => name.replaceAll('`', '').split('/')[0]!));
  assert(listed.size > 10);
  const folder = temporaryFolder();
  for (const name of listed) mkdirSync(join(folder, name.replace('<time>', '2026')));
  assert.deepEqual(await unclaimedFiles(folder, ADDONS), []);
});
