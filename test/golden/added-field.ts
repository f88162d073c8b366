/**
 * Checks a build whose table of metadata has one more field, `owner`: every way into and out of a flag carries it, and
 * what release 0.1.0 wrote reads as if it had been there. Responses are held against the API description meanwhile.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import '../support/check-responses.ts';
import { copyOf, flagstaff, outputOf } from '../support/operator.ts';
import { startTestServer, type TestServer, temporaryFolder } from '../support/server.ts';

/** The row that adds the field. Older flags get another value than new ones, so that the checks can tell them apart. */
export const OWNER_ROW = {
  file: 'domain/flags/metadata.ts',
  find: '};\n\ntype Table =',
  replace: `  owner: row({
    schema: v.nullable(v.string('a string or null')),
    initial: null,
    removed: null,
    cloned: 'kept',
    listed: true,
    added: { release: 'none', contentVersion: 4, documentVersion: 4, older: 'unknown' },
  }),
};

type Table =`,
} as const;

/** The two copies that are written field by field. */
export const OWNER_COPIES = [
  {
    file: 'domain/flags/flag.ts',
    find: '    createdAt: body.createdAt,',
    replace: '    owner: metadata.owner,\n    createdAt: body.createdAt,',
  },
  {
    file: 'domain/flags/flag.ts',
    find: '    createdAt: identity.createdAt,',
    replace: '    owner: metadata.owner,\n    createdAt: identity.createdAt,',
  },
] as const;

/** The lines of a segment's row that add the same field to segments. */
export const OWNED_SEGMENT = [
  {
    file: 'domain/kinds/segment.ts',
    find: '  constraints: v.pipe(\n',
    replace: "  owner: v.optional(v.nullable(v.string('a string or null')), null),\n  constraints: v.pipe(\n",
  },
  {
    file: 'domain/kinds/segment.ts',
    find: '  defaults: {},\n',
    replace: `  defaults: {},
  newFields: {
    owner: { release: 'none', contentVersion: 4, documentVersion: 4, older: 'unknown' },
  },
`,
  },
  {
    file: 'domain/kinds/segment.ts',
    find: '    project: null,\n',
    replace: "    project: null,\n    owner: 'ada',\n",
  },
] as const;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FLAGS = '/projects/default/features';
const OWNED = `${FLAGS}/owned`;

/** The faults that the compiler finds in the domain of this build: the file, and the first line of the message. */
export async function compilerFindings(): Promise<readonly string[]> {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const roots = ['decide/decide.ts', 'state/apply.ts', 'desired/state-import.ts'];
  const program = ts.createProgram(
    roots.map((path) => join(ROOT, 'src/domain', path)),
    options,
  );
  const sources = program.getSourceFiles().filter(({ isDeclarationFile }) => !isDeclarationFile);
  const findings = sources.flatMap((source) => program.getSemanticDiagnostics(source));
  return findings.map(({ file, messageText }) => {
    const message = ts.flattenDiagnosticMessageText(messageText, '\n').split('\n', 1)[0];
    return `${file?.fileName.slice(ROOT.length)}: ${message}`;
  });
}

/** A flag, or a segment. */
interface Owned {
  readonly name: string;
  readonly owner: unknown;
}

/** The flags of a state document, of all its projects. */
function flagsIn(document: { readonly projects: readonly { readonly flags: readonly Owned[] }[] }) {
  const flags = document.projects.flatMap((project) => project.flags);
  assert(flags.length > 0);
  return flags;
}

async function documentOf(folder: string) {
  const { code, out, err } = await flagstaff(['export', '--data-dir', folder]);
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

async function checkUndamaged(folder: string): Promise<void> {
  const { damages } = await outputOf(['verify', '--deep', '--data-dir', folder]);
  assert.deepEqual(damages, []);
}

/** Throws an AssertionError where a golden folder of release 0.1.0 loses the field, or a request does. */
export async function checkAddedField(name: string): Promise<void> {
  const original = join(dirname(fileURLToPath(import.meta.url)), name);
  const folder = copyOf(original);
  await checkUndamaged(folder);
  const document = await documentOf(folder);
  assert.equal(
    document.formatVersion,
    4,
    'older releases refuse the document, for they would lose the field',
  );
  for (const flag of flagsIn(document)) assert.equal(flag.owner, 'unknown', `${flag.name} in the export`);
  const server = await startTestServer({ folder });
  try {
    await checkOldFlags(server);
    await checkRequests(server);
    await checkEvents(server);
    await checkRestart(server);
  } finally {
    await server.stop();
  }
  await checkUndamaged(folder);
  await checkImport(await documentOf(folder), 'bob');
  await checkImport(withoutOwners(document), 'unknown');
}

async function checkOldFlags({ call }: TestServer): Promise<void> {
  const { body } = await call('GET', FLAGS);
  assert(body.features.length > 0);
  for (const { name, owner } of body.features as readonly Owned[]) {
    assert.equal(owner, 'unknown', `${name} in the list`);
    assert.equal((await call('GET', `${FLAGS}/${name}`)).body.owner, 'unknown', name);
    const patch = [{ op: 'replace', path: '/description', value: 'patched' }];
    const patched = await call('PATCH', `${FLAGS}/${name}`, patch);
    assert.deepEqual([patched.status, patched.body.owner], [200, 'unknown'], `a patch of ${name}`);
  }
  const { body: found } = await call('POST', '/events/search', { type: 'feature-created', limit: 100 });
  for (const { data } of found.events) assert.equal(data.owner, 'unknown', 'an old event');
}

async function checkRequests({ call }: TestServer): Promise<void> {
  const ownerIs = async (owner: unknown, path = OWNED): Promise<void> =>
    assert.equal((await call('GET', path)).body.owner, owner);
  const asked = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await call(method, path, body);
    assert(response.status < 300, `${method} ${path}: ${JSON.stringify(response.body)}`);
    return response.body?.owner;
  };
  assert.equal(await asked('POST', FLAGS, { name: 'nobodys' }), null);
  assert.equal(await asked('POST', FLAGS, { name: 'owned', owner: 'ada' }), 'ada');
  const { body: created } = await call('POST', '/events/search', { feature: 'owned' });
  await ownerIs('ada');
  assert.equal(await asked('PUT', OWNED, { owner: 'bob' }), 'bob');
  assert.equal(await asked('PUT', OWNED, { description: 'x' }), 'bob', 'what a PUT leaves out stays');
  const wrong = await call('PUT', OWNED, { owner: 5 });
  assert.match(wrong.body.details[0].message, /The field owner must be a string or null, not 5/);
  assert.equal(await asked('PATCH', OWNED, [{ op: 'replace', path: '/owner', value: 'eve' }]), 'eve');
  const refused = await call('PATCH', OWNED, [{ op: 'replace', path: '/owner', value: 5 }]);
  assert.match(refused.body.message, /The field owner must be a string or null, not 5/);
  assert.equal(await asked('POST', `${OWNED}/clone`, { name: 'copied' }), 'eve');
  await ownerIs('eve', `${FLAGS}/copied`);
  assert.equal(await asked('PATCH', OWNED, [{ op: 'remove', path: '/owner' }]), null);
  await asked('POST', `${OWNED}/rollback`, { eventId: created.events[0].id });
  await ownerIs('ada');
  await asked('PUT', OWNED, { owner: 'bob' });
  await asked('POST', `${OWNED}/environments/development/strategies`, { name: 'default' });
  await asked('POST', `${OWNED}/environments/development/on`);
  await asked('POST', '/features/owned/tags', { type: 'simple', value: 'mine' });
  await ownerIs('bob');
  const { body: past } = await call('GET', `${OWNED}?at=${created.events[0].id}`);
  assert.equal(past.owner, 'ada');
  const { body: overview } = await call('GET', '/projects/default');
  assert.equal(overview.features.find((flag: Owned) => flag.name === 'owned').owner, 'bob');
}

async function checkEvents({ call }: TestServer): Promise<void> {
  const { body } = await call('POST', '/events/search', { feature: 'owned', limit: 100 });
  const changes = body.events
    .filter(({ type }: { type: string }) => type === 'feature-created' || type === 'feature-metadata-updated')
    .map((event: Record<'data' | 'preData', Owned | null>) => [event.preData?.owner, event.data?.owner]);
  assert.deepEqual(changes.reverse(), [
    [undefined, 'ada'],
    ['ada', 'bob'],
    ['bob', 'bob'],
    ['bob', 'eve'],
    ['eve', null],
    [null, 'ada'],
    ['ada', 'bob'],
  ]);
}

async function checkRestart(server: TestServer): Promise<void> {
  const left = stateHash(server.server.store.engine.world);
  await server.restart();
  assert.equal(stateHash(server.server.store.engine.world), left);
  assert.equal((await server.call('GET', OWNED)).body.owner, 'bob');
}

/** The document as release 0.1.0 would have written it, with a flag that is called as the new one. */
function withoutOwners(document: { readonly projects: readonly object[] }) {
  const text = JSON.stringify({ ...document, formatVersion: 2 });
  return JSON.parse(text, (key, value) => (key === 'owner' ? undefined : value));
}

async function checkImport(document: object, owner: string): Promise<void> {
  const path = join(temporaryFolder(), 'state.json');
  writeFileSync(path, JSON.stringify(document));
  const server = await startTestServer({ env: { IMPORT_FILE: path } });
  try {
    const { body } = await server.call('GET', FLAGS);
    const owners = body.features.map((flag: Owned) => flag.owner);
    assert(owners.includes(owner), `${owners} of the import`);
    assert(!owners.includes(undefined));
  } finally {
    await server.stop();
  }
}

// The same for segments, whose table is the row of their kind.

/** Throws an AssertionError where a golden folder of release 0.2.0 loses the field of segments, or a request does. */
export async function checkAddedSegmentField(name: string): Promise<void> {
  const folder = copyOf(join(dirname(fileURLToPath(import.meta.url)), name));
  await checkUndamaged(folder);
  const document = await documentOf(folder);
  assert.equal(document.formatVersion, 4);
  assertOwned(document.segments, 'unknown');
  const server = await startTestServer({ folder });
  try {
    const { call } = server;
    assertOwned((await call('GET', '/segments')).body.segments, 'unknown');
    const { body } = await call('POST', '/events/search', { type: 'segment-created', limit: 100 });
    assertOwned(
      body.events.map(({ data }: { data: Owned }) => data),
      'unknown',
    );
    await checkSegmentRequests(server);
    const left = stateHash(server.server.store.engine.world);
    await server.restart();
    assert.equal(stateHash(server.server.store.engine.world), left);
  } finally {
    await server.stop();
  }
  const older = JSON.parse(JSON.stringify({ ...document, formatVersion: 3 }), (key, value) =>
    key === 'owner' ? undefined : value,
  );
  await checkSegmentImport(older, 'unknown');
  const bobs = document.segments.map((one: Owned) => ({ ...one, owner: 'bob' }));
  await checkSegmentImport({ ...document, segments: bobs }, 'bob');
}

function assertOwned(all: readonly Owned[], owner: string): void {
  assert(all.length > 0);
  for (const one of all) assert.equal(one.owner, owner, one.name);
}

async function checkSegmentRequests({ call }: TestServer): Promise<void> {
  const { body: created } = await call('POST', '/segments', { name: 'mine', constraints: [], owner: 'ada' });
  assert.equal(created.owner, 'ada');
  const path = `/segments/${created.id}`;
  assert.equal((await call('GET', path)).body.owner, 'ada');
  const refused = await call('PUT', path, { name: 'mine', constraints: [], owner: 5 });
  assert.match(refused.body.details[0].message, /The field owner must be a string or null, not 5/);
  assert.equal((await call('PUT', path, { name: 'mine', constraints: [] })).status, 204);
  assert.equal((await call('GET', path)).body.owner, null, 'a PUT replaces a segment');
}

async function checkSegmentImport(document: object, owner: string): Promise<void> {
  const path = join(temporaryFolder(), 'state.json');
  writeFileSync(path, JSON.stringify(document));
  const server = await startTestServer({ env: { IMPORT_FILE: path } });
  try {
    assertOwned((await server.call('GET', '/segments')).body.segments, owner);
  } finally {
    await server.stop();
  }
}
