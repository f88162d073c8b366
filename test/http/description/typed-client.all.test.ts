/**
 * The way of a newcomer with the description: a client with types is generated from it, and the first walk through the
 * interface is written with that client. It has to compile, a mistake in it must not, and it has to work.
 */
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { writeSource } from '../../support/compile.ts';
import { describedTypes } from '../../support/described-types.ts';
import { ADMIN_TOKEN, ROOT_FOLDER, serverFor, temporaryFolder } from '../../support/server.ts';

const WALK = `
import createClient from 'openapi-fetch';
import type { components, paths } from './paths.js';

type Flag = components['schemas']['WholeFlag'];

export async function walk(baseUrl: string, token: string): Promise<{ flag: Flag; types: string[] }> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: token } });
  const project = { projectId: 'default' };
  const feature = { ...project, featureName: 'first' };
  const inDevelopment = { ...feature, environment: 'development' };
  const FEATURE = '/api/admin/projects/{projectId}/features/{featureName}';

  const created = await client.POST('/api/admin/projects/{projectId}/features', {
    params: { path: project },
    body: { name: 'first', type: 'experiment' },
  });
  if (created.error !== undefined) throw new Error(nameOf(created.error));
  const added = await client.POST(\`\${FEATURE}/environments/{environment}/strategies\` as const, {
    params: { path: inDevelopment },
    body: { name: 'flexibleRollout', parameters: { rollout: 25, stickiness: 'default', groupId: 'first' } },
  });
  if (added.data?.featureName !== created.data.name) throw new Error('the strategy is of another flag');
  await client.POST(\`\${FEATURE}/environments/{environment}/on\` as const, { params: { path: inDevelopment } });
  await client.PATCH(FEATURE, {
    params: { path: feature },
    body: [{ op: 'replace', path: '/description', value: 'My first flag' }],
  });
  await client.POST(\`\${FEATURE}/clone\` as const, { params: { path: feature }, body: { name: 'second' } });
  await client.DELETE(FEATURE, { params: { path: { ...project, featureName: 'second' } } });

  const { data: flag } = await client.GET(FEATURE, { params: { path: feature } });
  if (flag === undefined) throw new Error('the flag is gone');
  const { data: found } = await client.POST('/api/admin/events/search', { body: { project: 'default' } });
  return { flag, types: (found?.events ?? []).map((event) => event.type) };
}

/** Membership rules answer with a list; everything else has a name. */
function nameOf(error: { name: string } | { msg: string }[]): string {
  return 'name' in error ? error.name : error.map(({ msg }) => msg).join(' ');
}
`;

const folder = temporaryFolder();
let walkFile: string;

before(async () => {
  writeFileSync(join(folder, 'paths.d.ts'), await describedTypes());
  walkFile = writeSource(join(folder, 'walk.ts'), WALK);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(ROOT_FOLDER, 'node_modules'), join(folder, 'node_modules'));
});

/** By file: the messages of the compiler with the strictest settings. One program for all, since each costs seconds. */
function compile(texts: Readonly<Record<string, string>>): Record<string, string[]> {
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(folder, file), text);
  const paths = Object.keys(texts).map((file) => join(folder, file));
  const program = ts.createProgram(paths, {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  });
  const messages = (path: string): string[] =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  return Object.fromEntries(Object.keys(texts).map((file, index) => [file, messages(paths[index] ?? '')]));
}

describe('a client generated from the description', () => {
  it('compiles, and does not with a body, a path or a response that the description does not have', () => {
    const mistakes = {
      'wrong-body.ts': WALK.replace("type: 'experiment'", "type: 'beta'"),
      'wrong-path.ts': WALK.replace('/clone`', '/copy`'),
      'wrong-answer.ts': WALK.replace('added.data?.featureName', 'added.data?.flagName'),
    };
    const { 'walk.ts': good, ...bad } = compile({ 'walk.ts': WALK, ...mistakes });
    assert.deepEqual(good, []);
    for (const [file, text] of Object.entries(mistakes)) {
      assert.notEqual(text, WALK);
      assert.notDeepEqual(bad[file], [], `${file} is refused`);
    }
  });

  it('walks: creates, adds a strategy, switches on, patches, clones, archives, and finds the events', async (t) => {
    const server = await serverFor(t);
    const { walk } = await import(pathToFileURL(walkFile).href);
    const { flag, types } = await walk(server.origin, ADMIN_TOKEN);
    assert.equal(flag.description, 'My first flag');
    assert.equal(flag.type, 'experiment');
    assert.deepEqual(
      flag.environments.map((one: { name: string; enabled: boolean }) => [one.name, one.enabled]),
      [
        ['development', true],
        ['production', false],
      ],
    );
    assert.deepEqual(types.slice(0, 7), [
      'feature-archived',
      'feature-strategy-add',
      'feature-created',
      'feature-metadata-updated',
      'feature-environment-enabled',
      'feature-strategy-add',
      'feature-created',
    ]);
  });
});
