/**
 * Writes values at the bounds of each text, list and number field that the description names, and beyond them. Each is
 * accepted, or refused with its field; what is accepted loads again after a kill, is served on every surface, and survives an
 * export.
 */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { describeInterface } from '../../../src/http/description/document.ts';
import { addUser } from '../../support/interface.ts';
import { flagstaff } from '../../support/operator.ts';
import {
  type Call,
  isOfStream,
  type ReceivedResponse,
  startTestServer,
  type TestServer,
  temporaryFolder,
} from '../../support/server.ts';
import { SURFACES } from '../../support/surfaces.ts';
import { startEdge } from './edges.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape.
type Json = any;
type Step = string | number;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

type FieldKind = 'text' | 'number' | 'list' | 'record' | 'any';

interface Field {
  readonly at: readonly Step[];
  readonly kind: FieldKind;
  /** The first item of a list that the example leaves empty, and where it is. */
  readonly item?: readonly [at: readonly Step[], value: Json];
}

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly example: Json;
  readonly fields: readonly Field[];
}

const DOCUMENT: Json = JSON.parse(
  JSON.stringify(describeInterface({ surfaces: SURFACES, version: '0', basePath: '', open: false })),
);

function resolved(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : DOCUMENT.components.schemas[schema.$ref.split('/').pop() ?? ''];
}

/** The fields below a schema, nested ones too. `example`: the value there, for the names of a record. */
function fieldsOf(given: Schema, example: Json, at: readonly Step[] = []): Field[] {
  const schema = resolved(given);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.flatMap((one) => fieldsOf(one, example, at));
  const types = [schema.type ?? []].flat();
  const fields: Field[] = [];
  if (types.includes('string') || schema.enum !== undefined || typeof schema.const === 'string')
    fields.push({ at, kind: 'text' });
  if (types.includes('number') || types.includes('integer')) fields.push({ at, kind: 'number' });
  if (types.includes('array')) {
    fields.push({ at, kind: 'list' }, ...itemFieldsOf(schema.items ?? {}, example, [...at, 0]));
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    fields.push(...fieldsOf(property, example?.[name], [...at, name]));
  }
  if (typeof schema.additionalProperties === 'object') {
    const [name = 'field'] = Object.keys(example ?? {});
    fields.push(
      { at, kind: 'record' },
      ...fieldsOf(schema.additionalProperties, example?.[name], [...at, name]),
    );
  }
  return types.length === 0 && fields.length === 0 ? [{ at, kind: 'any' }] : fields;
}

function itemFieldsOf(items: Schema, list: Json, at: readonly Step[]): Field[] {
  if (list?.[0] !== undefined) return fieldsOf(items, list[0], at);
  const value = sampleOf(items);
  return fieldsOf(items, value, at).map((field) => ({ ...field, item: [at, value] }));
}

/** A value with what its schema requires. */
function sampleOf(given: Schema): Json {
  const { anyOf, type, items = {}, properties = {}, required = [], enum: choices } = resolved(given);
  if (anyOf !== undefined) return sampleOf(anyOf[0] ?? {});
  if (choices !== undefined) return choices[0];
  switch ([type].flat()[0]) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
    case 'array':
      return [sampleOf(items)];
    case 'number':
    case 'integer':
      return 1;
    default:
      return 'some';
  }
}

function* described(): Generator<[method: string, path: string, operation: Json]> {
  // Nothing of what signs somebody in is stored, or shown again.
  for (const [path, operations] of Object.entries<Json>(DOCUMENT.paths))
    for (const [method, operation] of /^\/auth\/(?:sessions?|simple)\b/.test(path)
      ? []
      : Object.entries<Json>(operations))
      yield [method.toUpperCase(), path, operation];
}

/** Operations that take a body with such a field. */
const OPERATIONS: readonly Operation[] = [...described()].flatMap(
  ([method, path, { operationId, requestBody }]) => {
    const content = requestBody?.content['application/json'];
    if (content === undefined) return [];
    const all = fieldsOf(content.schema, content.example);
    const fields = [...new Map(all.map((field) => [`${field.kind} ${field.at.join('/')}`, field])).values()];
    return fields.length === 0 ? [] : [{ id: operationId, method, path, example: content.example, fields }];
  },
);

interface Read {
  readonly path: string;
  /** Names of query parameters. */
  readonly queries: readonly string[];
}

const READS: readonly Read[] = [...described()].flatMap(([method, path, { responses, parameters = [] }]) => {
  const isStream = Object.keys(responses['200']?.content ?? {}).some(isOfStream);
  if (method !== 'GET' || isStream) return [];
  const all = parameters.map((one: Json) =>
    one.$ref === undefined ? one : DOCUMENT.components.parameters[one.$ref.split('/').pop()],
  );
  return [{ path, queries: all.flatMap((one: Json) => (one.in === 'query' ? [one.name] : [])) }];
});

const TEXTS = [
  ...[
    '',
    ' ',
    '.',
    '..',
    '\u0000',
    'a\u0007\r\nb',
    'ä',
    '\u202e🚩',
    '\ud800',
    '__proto__',
    'constructor',
    'toString',
  ],
  'x'.repeat(64 * 1024),
];
const NUMBERS = [-0, -1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 1e308, 5e-324];
const NAMES = TEXTS.filter((text) => text !== '__proto__');

/** Texts in addresses, without `.` and `..`, which clients resolve; some stand for no text. */
const IN_ADDRESSES = [
  ...TEXTS.filter((text) => !['.', '..', '\ud800'].includes(text)).map((text) =>
    encodeURIComponent(text.slice(0, 1_024)),
  ),
  ...['%', '%zz', '%ED%A0%80', '%2F', '%5C'],
];

const withName = (name: string, value: Json): Json =>
  Object.defineProperty({}, name, { value, enumerable: true, configurable: true, writable: true });

/** Texts that have the form of the usual one, but for their characters. */
const alike = (usual: string): string[] =>
  ['ä', '\u0007', '\u202e', '\ud800', ' ', '"', '/../'].map((end) => usual + end);

/** The values for a field, the first of which it always gets; `usual` is what the example has there. */
function valuesFor(kind: FieldKind, usual: Json): readonly Json[] {
  switch (kind) {
    case 'text':
      return typeof usual === 'string' ? [...alike(usual), ...TEXTS] : TEXTS;
    case 'number':
      return NUMBERS;
    case 'list': {
      const item = usual?.[0] ?? 'x';
      return [[item, item], [], [null], Array(10_000).fill(item), [[]], {}];
    }
    case 'record': {
      const [value = 'x'] = Object.values(usual ?? {});
      return [...NAMES, '__proto__'].map((name) => ({ ...usual, ...withName(name, value) })).concat([{}, []]);
    }
    case 'any':
      return [
        ...TEXTS,
        ...NUMBERS,
        null,
        [],
        {},
        withName('__proto__', 1),
        { constructor: { prototype: 1 } },
      ];
  }
}

/** A copy of a body with another value at a place. */
function changed(body: Json, [step, ...rest]: readonly Step[], value: Json): Json {
  if (step === undefined) return value;
  const copy = Array.isArray(body) ? [...body] : typeof step === 'number' ? [] : { ...body };
  copy[step] = changed(copy[step], rest, value);
  return copy;
}

const valueAt = (body: Json, at: readonly Step[]): Json => at.reduce((value, step) => value?.[step], body);

/** Stands in a body for a number that `JSON.stringify` does not write. */
const MINUS_ZERO = 'minus zero';
const jsonOf = (body: Json): string => JSON.stringify(body).replaceAll(`"${MINUS_ZERO}"`, '-0');

const ENVIRONMENT = {
  OIDC_ISSUER: 'http://127.0.0.1:1',
  OIDC_CLIENT_ID: 'client',
  OIDC_CLIENT_SECRET: 'secret',
  OIDC_BASE_URL: 'http://127.0.0.1:1',
};

const FLAG = 'checkout-redesign';
const OWN = '/projects/own';

/** Records that the examples name, and those that the paths of the operations name. */
class Scene {
  readonly server: TestServer;
  /** The token of a user who is an Admin, because an API token has no tokens of its own. */
  token = '';
  readonly ids: Record<string, Json> = {};
  readonly #strategies = new Map<string, string>();
  readonly #withRequests = new Set<string>();
  #count = 0;

  constructor(server: TestServer) {
    this.server = server;
  }

  async admin(method: string, path: string, body?: Json): Promise<Json> {
    const response = await this.server.call(method, path, body, { token: this.token });
    assert(response.status < 300, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }

  async prepare(): Promise<void> {
    const { ids } = this;
    const caller = await addUser(this.server, 1);
    this.token = caller.token;
    ids.caller = caller.id;
    ids.user = (
      await this.admin('POST', '/user-admin', { username: 'somebody', rootRole: 2, sendEmail: false })
    ).id;
    await this.admin('POST', '/user-admin', { username: 'forgetful', rootRole: 2, sendEmail: false });
    ids.group = (await this.admin('POST', '/groups', { name: 'some', users: [] })).id;
    ids.role = (
      await this.admin('POST', '/roles', { name: 'some', description: '', type: 'custom', permissions: [] })
    ).roles.id;
    ids.account = (
      await this.admin('POST', '/service-account', { name: 'some', username: 'robot', rootRole: 2 })
    ).id;
    await this.admin('POST', '/projects', { id: 'own', name: 'own' });
    await this.admin('POST', '/projects', { id: 'checkout', name: 'other' });
    await this.admin('DELETE', `${OWN}/environments/production`);
    await this.admin('POST', '/context', { name: 'country', legalValues: [] });
    await this.admin('POST', '/context', { name: 'own', legalValues: [] });
    await this.admin('POST', '/strategies', { name: 'own', parameters: [] });
    await this.admin('POST', '/tag-types', { name: 'own', description: '' });
    await this.admin('POST', '/segments', { name: 'Nordic customers', constraints: [] });
    ids.segment = (await this.admin('POST', '/segments', { name: 'own', constraints: [] })).id;
    const url = 'http://127.0.0.1:9/';
    ids.addon = (
      await this.admin('POST', '/addons', {
        provider: 'webhook',
        enabled: true,
        parameters: { url },
        events: ['user-created'],
      })
    ).id;
    for (const name of [FLAG, 'new-payment-provider']) {
      await this.admin('POST', '/projects/default/features', { name });
      await this.#strategy(name);
    }
    for (const type of ['client', 'frontend', 'client']) {
      const body = { tokenName: type, type, projects: ['default'], environment: 'development' };
      ids[ids[type] === undefined ? type : 'token'] = (await this.admin('POST', '/api-tokens', body)).secret;
    }
    const invitation = { name: 'team', expiresAt: '2999-01-01T00:00:00.000Z' };
    ids.invitation = (await this.admin('POST', '/invite-link/tokens', invitation)).secret;
  }

  async #strategy(flag: string): Promise<string> {
    const path = `/projects/default/features/${flag}/environments/development/strategies`;
    return (await this.admin('POST', path, { name: 'default' })).id;
  }

  /** A name that no record has yet. */
  fresh(): string {
    this.#count += 1;
    return `fresh-${this.#count}`;
  }

  /** The flag that the operation alone changes, with a strategy in development. */
  async #flagOf({ id }: Operation): Promise<string> {
    const flag = `flag-of-${id}`;
    if (this.#strategies.has(flag)) return flag;
    const links = [{ id: flag, url: 'https://tracker.example/1', title: null }];
    await this.admin('POST', '/projects/default/features', { name: flag, links });
    this.#strategies.set(flag, await this.#strategy(flag));
    return flag;
  }

  /** The change that the requests of the operation have, in a project that it alone changes. */
  async #changeOf({ id }: Operation): Promise<{ readonly project: string; readonly change: Json }> {
    const project = `requests-${id.toLowerCase()}`;
    const feature = `proposed-${id.toLowerCase()}`;
    const change = { feature, action: 'updateEnabled', payload: { enabled: true } };
    if (this.#withRequests.has(project)) return { project, change };
    await this.admin('POST', '/projects', { id: project, name: project });
    await this.admin('POST', `/projects/${project}/features`, { name: feature });
    this.#withRequests.add(project);
    return { project, change };
  }

  /** The path of a write to a new draft, after the end of the one before, which may not change any more. */
  async #requestPath(operation: Operation): Promise<string> {
    const { project, change } = await this.#changeOf(operation);
    const requests = `/projects/${project}/change-requests`;
    for (const { id } of await this.admin('GET', `${requests}/pending`))
      await this.admin('PUT', `${requests}/${id}/state`, { state: 'Cancelled' });
    const places: Record<string, Json> = { projectId: project, environment: 'development' };
    if (operation.path.includes('{id}')) {
      const proposals = `/projects/${project}/environments/development/change-requests`;
      const { id, features } = await this.admin('POST', proposals, change);
      Object.assign(places, { id, changeId: features[0].changes[0].id });
    }
    return operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => String(places[name]));
  }

  async pathOf(operation: Operation): Promise<string> {
    const { id, path } = operation;
    const { ids } = this;
    if (/\/change-requests?(?:\/\{id\}|$)/.test(path)) return this.#requestPath(operation);
    const ofFlag = /\{featureName\}|\{child\}/.test(path) && !id.startsWith('evaluate');
    const flag = ofFlag ? await this.#flagOf(operation) : FLAG;
    const values: Record<string, Json> = {
      projectId:
        path.includes('/features') ||
        !/^(?:update|set|add)Project|^rollback|^setRoles|^addEnvironment/.test(id)
          ? 'default'
          : 'own',
      ...{
        featureName: flag,
        child: flag,
        environment: id === 'copyStrategies' ? 'production' : 'development',
      },
      linkId: flag,
      strategyId: this.#strategies.get(flag),
      ...{ userId: ids.user, roleId: ids.role, name: 'production', contextField: 'own', strategyName: 'own' },
      ...{ tagType: 'own', appName: 'shop' },
      token: path.includes('invite') ? ids.invitation : ids.token,
      id: IDS.find(([part]) => path.includes(part))?.[1](ids) ?? ids.user,
    };
    return path.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name]));
  }

  /** A body that is accepted, with the names of the example where they may be taken again. */
  async bodyOf(operation: Operation): Promise<Json> {
    const { example, id } = operation;
    const { user, group } = this.ids;
    const name = this.fresh();
    switch (id) {
      case 'createFeature':
      case 'cloneFeature':
      case 'createEnvironment':
      case 'createSegment':
      case 'updateSegment':
      case 'createContextField':
      case 'createStrategy':
      case 'createTagType':
      case 'createRole':
      case 'updateRole':
      case 'createGroup':
      case 'updateGroup':
        return { ...example, name };
      case 'createManifestFlag':
      case 'createManifestFlagOfProject':
        return { ...example, key: name };
      case 'updateManifestFlag':
      case 'updateManifestFlagOfProject':
        return { ...example, key: await this.#flagOf(operation) };
      case 'createProject':
        return { ...example, id: name };
      case 'validateFeature':
        return { ...example, name: 'team-unused' };
      case 'updateFeature':
        return { ...example, name: await this.#flagOf(operation) };
      case 'applyFlagsAsCode':
        return {
          changes: [{ flag: name, environment: null, field: 'presence', before: 'absent', after: 'active' }],
        };
      case 'validateImport':
      case 'importFeatures':
        return changed(example, ['data', 'dependencies', 0, 'feature'], FLAG);
      case 'rollbackFeature':
      case 'rollbackProject':
        await this.#flagOf(operation);
        return { eventId: (await this.admin('GET', '/events')).events[0].id };
      case 'changeMyPassword':
        await this.admin('POST', `/user-admin/${this.ids.caller}/change-password`, {
          password: example.oldPassword,
        });
        return { ...example, confirmPassword: undefined };
      case 'changeUserPassword':
        return { ...example, confirmPassword: undefined };
      case 'resetUserPassword':
        return { id: 'forgetful' };
      case 'changePassword': {
        const { resetPasswordUrl } = await this.admin('POST', '/user-admin/reset-password', {
          id: 'forgetful',
        });
        return { ...example, token: resetPasswordUrl.split('=').pop() };
      }
      case 'addChange':
      case 'editChange':
        return (await this.#changeOf(operation)).change;
      case 'changeChangeRequestState':
        return { state: 'In review' };
      case 'updateChangeRequestApprovers':
        return { reviewers: [user] };
      case 'moveIntegration':
        return { eventId: 1 };
      case 'setOidcSettings':
        return this.admin('GET', '/auth/oidc/settings');
      case 'patchFeatureStrategy':
        return [{ op: 'add', path: '/parameters', value: { rollout: '50' } }];
      case 'setProjectAccess':
        return { roles: [{ id: 4, users: [user], groups: [group] }] };
      case 'addProjectAccess':
        return { roles: [4], users: [user], groups: [group] };
      case 'setRolesForGroup':
        return { roles: [4] };
      case 'addEnvironmentToProject':
        return { environment: 'production' };
      case 'deleteFeatures':
        await this.admin('POST', '/projects/default/features', { name });
        await this.admin('DELETE', `/projects/default/features/${name}`);
        return { features: [name] };
      case 'archiveFeatures':
      case 'reviveFeatures':
      case 'bulkToggleFeaturesEnvironmentOn':
      case 'bulkToggleFeaturesEnvironmentOff':
        return { features: [await this.#flagOf(operation)] };
      case 'setStrategySortOrder':
        return [{ ...example[0], id: this.#strategies.get(await this.#flagOf(operation)) }];
      case 'createUser':
      case 'addPublicSignupTokenUser':
        return { ...example, name, username: name, email: `${name}@example.com` };
      case 'createServiceAccount':
        return { ...example, username: name };
      default:
        return example;
    }
  }

  /** Switches on every flag that can be, so that SDKs evaluate it. */
  async switchOn(): Promise<void> {
    const path = '/projects/default/features';
    const { features } = await this.admin('GET', path);
    await Promise.all(
      features.map(async ({ name }: Json) => {
        const { status } = await this.server.call('POST', `${path}/${name}/environments/development/on`);
        assert([200, 409].includes(status), `${name}: ${status}`);
      }),
    );
  }

  async send(operation: Operation, body: Json): Promise<ReceivedResponse> {
    const headers = { 'content-type': 'application/json' };
    const token = this.tokenFor(operation);
    return this.server.callBelow('')(operation.method, await this.pathOf(operation), jsonOf(body), {
      token,
      headers,
    });
  }

  tokenFor({ path }: Operation): string | null {
    if (path.startsWith('/api/client')) return this.ids.client;
    if (/^\/(?:api\/frontend|ofrep)/.test(path)) return this.ids.frontend;
    return /^\/(?:api\/admin|openfeature)/.test(path) ? this.token : null;
  }
}

interface HostileCounts {
  readonly fields: number;
  readonly writes: number;
  readonly accepted: number;
  readonly reads: number;
}

interface HostileOptions {
  /** How many values each field gets, other ones from field to field; all of them unless given. */
  readonly valuesEach?: number;
  readonly first?: number;
}

/** Writes into one server, and then has everything loaded, served, exported and imported. */
export async function writeHostileFields(options: HostileOptions = {}): Promise<HostileCounts> {
  const { valuesEach = Number.POSITIVE_INFINITY, first = 0 } = options;
  const counts = { fields: 0, writes: 0, accepted: 0, reads: 0 };
  const killed = temporaryFolder();
  const server = await startTestServer({ env: ENVIRONMENT });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (!isStopped) await server.stop();
    isStopped = true;
  };
  try {
    const scene = new Scene(server);
    await scene.prepare();
    const writing = OPERATIONS.map((operation, at) => ({ operation, at }));
    const write = async (): Promise<void> => {
      for (let next = writing.shift(); next !== undefined; next = writing.shift()) {
        await writeFields(scene, next.operation, { counts, valuesEach, first: first + next.at });
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
    await scene.switchOn();
    const live = stateHash(server.server.store.engine.world);
    // No write is under way, so the copy is what a kill leaves.
    cpSync(server.folder, killed, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    await stop();
    counts.reads = await loadAndServe(scene, { folder: killed, live, valuesEach });
    await exportAndImport(killed);
  } finally {
    await stop();
    rmSync(killed, { recursive: true, force: true });
  }
  return counts;
}

async function loadAndServe(
  scene: Scene,
  { folder, live, valuesEach }: { folder: string; live: string; valuesEach: number },
): Promise<number> {
  const server = await startTestServer({ folder, env: ENVIRONMENT });
  const hash = (): string => stateHash(server.server.store.engine.world);
  try {
    assert.equal(hash(), live, 'after a kill');
    const reads = await readEverything(server, scene, valuesEach);
    await serveSdks(server, scene);
    await server.restart();
    assert.equal(hash(), live, 'from a snapshot');
    return reads;
  } finally {
    await server.stop();
  }
}

/** The values of each parameter of paths, the nth of one list with the nth of another. */
async function namesIn(admin: (path: string) => Promise<Json>): Promise<Record<string, readonly Json[]>> {
  const of = async (path: string, list: string, field: string): Promise<Json[]> =>
    (await admin(path))[list].map((one: Json) => one[field]);
  const features = await of('/projects/default/features', 'features', 'name');
  return {
    projectId: await of('/projects', 'projects', 'id'),
    ...{ featureName: features, child: features, parent: features },
    environment: await of('/environments', 'environments', 'name'),
    name: await of('/environments', 'environments', 'name'),
    contextField: (await admin('/context')).map((one: Json) => one.name),
    strategyName: await of('/strategies', 'strategies', 'name'),
    tagType: await of('/tag-types', 'tagTypes', 'name'),
    'segments/{id}': await of('/segments', 'segments', 'id'),
    'groups/{id}': await of('/groups', 'groups', 'id'),
    'service-account/{id}': await of('/service-account', 'serviceAccounts', 'id'),
    'user-admin/{id}': await of('/user-admin', 'users', 'id'),
    'addons/{id}': await of('/addons', 'addons', 'id'),
    roleId: await of('/roles', 'roles', 'id'),
    appName: await of('/metrics/applications', 'applications', 'appName'),
    token: await of('/api-tokens', 'tokens', 'tokenName'),
  };
}

/** How many responses there were. */
async function readEverything(server: TestServer, { token }: Scene, valuesEach: number): Promise<number> {
  const call = server.callBelow('');
  let reads = 0;
  const read = async (path: string): Promise<Json> => {
    const { status, body } = await call('GET', path, undefined, { token });
    reads += 1;
    assert(status < 500, `GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  /** Other ones each time. */
  const some = (): readonly string[] =>
    IN_ADDRESSES.filter((_, at) => (at + reads) % IN_ADDRESSES.length < valuesEach);
  const names = await namesIn((path) => read(`/api/admin${path}`));
  for (const { path, queries } of READS) {
    const parameters = [...path.matchAll(/\w[\w-]*\/\{id\}|\{(\w+)\}/g)].map(
      ([all, name]) => names[name ?? all] ?? [],
    );
    const rounds = Math.max(1, ...parameters.map(({ length }) => length));
    for (let round = 0; round < rounds; round += 1) {
      let at = -1;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => {
        at += 1;
        const isOfFlag = /\{(?:featureName|child|parent)\}/.test(path);
        const values = name === 'projectId' && isOfFlag ? ['default'] : (parameters[at] ?? []);
        return encodeURIComponent(String(values[round % values.length] ?? 'none'));
      });
      await read(filled);
      if (round > 0) continue;
      for (const query of queries)
        for (const text of some()) await read(`${filled}?${encodeURIComponent(query)}=${text}`);
    }
    if (!path.includes('{')) continue;
    for (const text of some()) await read(path.replaceAll(/\{\w+\}/g, text));
  }
  return reads;
}

async function serveSdks(server: TestServer, { ids }: Scene): Promise<void> {
  const ask = async (call: Call, method: string, path: string, token: string, body?: Json): Promise<Json> => {
    const response = await call(method, path, body, { token });
    assert.equal(response.status, 200, `${method} ${path}: ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const call = server.callBelow('');
  const { features } = await ask(call, 'GET', '/api/client/features', ids.client);
  await ask(call, 'GET', '/api/client/delta', ids.client);
  await ask(call, 'GET', '/api/frontend?userId=1', ids.frontend);
  await ask(call, 'POST', '/ofrep/v1/evaluate/flags', ids.frontend, { context: { targetingKey: '1' } });
  const edge = await startEdge({ 'upstream-url': server.origin, tokens: ids.client });
  try {
    const served = await ask(edge.call(''), 'GET', '/api/client/features', ids.client);
    assert.deepEqual(served.features, features);
  } finally {
    await edge.stop();
  }
}

async function exportAndImport(folder: string): Promise<void> {
  const [first, second] = [join(folder, 'first.json'), join(folder, 'second.json')];
  await exported(folder, first);
  const server = await startTestServer({
    env: { ...ENVIRONMENT, IMPORT_FILE: first },
  });
  try {
    await exported(server.folder, second);
    await moveFlags(server.call);
  } finally {
    await server.stop();
  }
  assert.deepEqual(documentIn(second), documentIn(first));
}

/** Exports the flags of a project, and imports them where they are: another environment besides might make one too large. */
async function moveFlags(call: Call): Promise<void> {
  const query = { environment: 'development', project: 'default' };
  const { status, body } = await call('POST', '/features-batch/export', query);
  assert.equal(status, 200, JSON.stringify(body));
  const request = { project: 'default', environment: 'development', data: body };
  const imported = await call('POST', '/features-batch/import', request);
  assert.equal(imported.status, 200, JSON.stringify(imported.body));
}

/** Without the token that each start on an empty folder makes. */
function documentIn(path: string): Json {
  const document = JSON.parse(readFileSync(path, 'utf8'));
  const { credentials } = document;
  credentials.apiTokens = credentials.apiTokens.filter((one: Json) => one.tokenName !== 'admin');
  return document;
}

async function exported(folder: string, to: string): Promise<void> {
  const { code, err } = await flagstaff(['export', '--data-dir', folder, '--credentials', '--to', to]);
  assert.equal(code, 0, err);
}

/** Writes that are under way at once, each of another operation. */
const WRITERS = 16;

interface FieldWrites {
  readonly counts: { -readonly [Name in keyof HostileCounts]: number };
  readonly valuesEach: number;
  readonly first: number;
}

async function writeFields(
  scene: Scene,
  operation: Operation,
  { counts, valuesEach, first }: FieldWrites,
): Promise<void> {
  const usual = await scene.bodyOf(operation);
  const { status, body: said } = await scene.send(operation, usual);
  assert(status < 300, `${operation.id}: ${status} ${JSON.stringify(said)}`);
  for (const [nth, field] of operation.fields.entries()) {
    counts.fields += 1;
    const values = valuesFor(field.kind, valueAt(usual, field.at));
    for (let index = 0; index < Math.min(valuesEach, values.length); index += 1) {
      const value = values[index === 0 ? 0 : 1 + ((first + nth + index) % (values.length - 1))];
      let body = await scene.bodyOf(operation);
      // The body is one of what a list may have as well.
      if (field.at[0] === 0 && !Array.isArray(body)) body = [body];
      else if (field.item !== undefined) body = changed(body, ...field.item);
      const response = await scene.send(
        operation,
        changed(body, field.at, Object.is(value, -0) ? MINUS_ZERO : value),
      );
      counts.writes += 1;
      if (response.status < 300) counts.accepted += 1;
      else assertNamed(operation, { at: field.at, value, response });
    }
  }
}

/** The id in a path, by a part of the path; that of a user in others. */
const IDS: readonly (readonly [string, (ids: Record<string, Json>) => Json])[] = [
  ['/segments', (ids) => ids.segment],
  ['/groups', (ids) => ids.group],
  ['/service', (ids) => ids.account],
  ['/addons', (ids) => ids.addon],
  ['/feature-types', () => 'release'],
];

/** A refusal of the value says which field it is about; those of the membership rules have no place for that. */
function assertNamed(
  { id }: Operation,
  { at, value, response }: { at: readonly Step[]; value: Json; response: ReceivedResponse },
): void {
  const { status, body } = response;
  const about = `${id} with ${JSON.stringify(value)?.slice(0, 60)} at /${at.join('/')}: ${status} ${JSON.stringify(body)}`;
  assert(status < 500, about);
  if (status !== 400 || Array.isArray(body)) return;
  const place = ['', 'body', ...at].join('/');
  const ofManifest: string[] = (body.error?.details ?? []).map((one: Json) => `/body/${one.field ?? ''}`);
  const paths: string[] = [...ofManifest, ...(body.details ?? []).map((one: Json) => one.path ?? '')];
  assert(
    paths.some((path) => path !== '' && (path.startsWith(place) || place.startsWith(path))),
    about,
  );
}
