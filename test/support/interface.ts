/** The parts that the suites of the interface share: flags to work on, users to act as, and what a call did to the service. */
import assert from 'node:assert/strict';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { ABOUT_NOTHING, type DomainEvent, inProject } from '../../src/domain/state/events.ts';
import type { User } from '../../src/domain/state/world.ts';
import { digestOf } from '../../src/http/serving/access.ts';
import type { Call, ReceivedResponse, RequestOptions, TestServer } from './server.ts';

export const FEATURES = '/projects/default/features';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape.
type Body = any;

export async function makeFlag(call: Call, name: string, fields: object = {}): Promise<Body> {
  const { status, body } = await call('POST', FEATURES, { name, ...fields });
  assert.equal(status, 201, `the flag ${name} is created`);
  return body;
}

/** Path of a flag's environment. */
export const environmentPath = (flag: string, environment = 'development'): string =>
  `${FEATURES}/${flag}/environments/${environment}`;

export async function addStrategy(
  call: Call,
  flag: string,
  fields: object = {},
  environment = 'development',
): Promise<Body> {
  const path = `${environmentPath(flag, environment)}/strategies`;
  const { status, body } = await call('POST', path, { name: 'default', ...fields });
  assert.equal(status, 200, `a strategy is added to ${flag}`);
  return body;
}

export async function archive(call: Call, flag: string): Promise<void> {
  assert.equal((await call('DELETE', `${FEATURES}/${flag}`)).status, 202);
}

export interface RefusedCall extends RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Makes a call that must be refused so, and must leave the service exactly as it was. */
export async function refused(
  server: TestServer,
  status: number,
  name: string,
  { method, path, body, ...options }: RefusedCall,
): Promise<ReceivedResponse> {
  const { engine } = server.server.store;
  const before = { lastId: engine.lastId, state: stateHash(engine.world) };
  const response = await server.call(method, path, body, options);
  assert.deepEqual(
    { status: response.status, name: response.body?.name },
    { status, name },
    `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)}: ${response.body?.message}`,
  );
  const after = { lastId: engine.lastId, state: stateHash(engine.world) };
  assert.deepEqual(after, before, 'what is refused changes nothing');
  return response;
}

/** A 400 that names the field at fault. */
export async function invalidAt(
  server: TestServer,
  pointer: string,
  call: RefusedCall,
): Promise<ReceivedResponse> {
  const response = await refused(server, 400, 'ValidationError', call);
  const paths = response.body.details.map((detail: { path?: string }) => detail.path);
  assert(paths.includes(pointer), `${pointer} is at fault, not ${paths}: ${response.body.message}`);
  return response;
}

export interface Recorded {
  readonly response: ReceivedResponse;
  /** The events in the order in which they were recorded, without id and time. */
  readonly events: readonly Body[];
}

/** Makes a call and finds, by the search, the events that it recorded. */
export async function recording(
  server: TestServer,
  change: () => Promise<ReceivedResponse>,
): Promise<Recorded> {
  const { engine } = server.server.store;
  const firstId = engine.lastId + 1;
  const response = await change();
  const { body } = await server.call('POST', '/events/search', { limit: 100 });
  const found = body.events.filter((event: Body) => event.id >= firstId).reverse();
  assert.deepEqual(
    found.map((event: Body) => event.id),
    found.map((_: Body, index: number) => firstId + index),
    'ids follow each other without a gap',
  );
  return { response, events: found.map(({ id: _, createdAt: __, ...event }: Body) => event) };
}

/** The fields of an event about a flag, recorded by the admin token, but for those given. */
export const flagEvent = (type: string, featureName: string, fields: object = {}): object => ({
  type,
  createdBy: 'admin',
  createdByUserId: -42,
  project: 'default',
  featureName,
  environment: null,
  data: null,
  preData: null,
  tags: [],
  ...fields,
});

const SYSTEM = { name: 'test', userId: -1 } as const;
const CREATED_AT = '2024-01-01T00:00:00.000Z';

/** Puts events into the state without asking the interface, for what it refuses or has no request for. */
export function record(server: TestServer, ...events: readonly DomainEvent[]): Promise<void> {
  return server.server.store.engine.record(SYSTEM, events);
}

export interface AddedUser {
  readonly id: number;
  /** A personal token, for `call`. */
  readonly token: string;
}

/** A user who can act: with a root role, or a role in projects besides. */
export async function addUser(
  server: TestServer,
  rootRole: number,
  { expiresAt = '2999-01-01T00:00:00.000Z', ...fields }: Partial<User> & { expiresAt?: string } = {},
): Promise<AddedUser> {
  const { directory } = server.server.store.engine.world;
  const id = directory.lastUserId + 1;
  const token = `user:secret-${id}`;
  const user: User = {
    id,
    name: null,
    username: `user-${id}`,
    email: null,
    rootRole,
    createdAt: CREATED_AT,
    ...fields,
  };
  const personal = { id: directory.lastPersonalTokenId + 1, userId: id, description: '', expiresAt };
  await record(
    server,
    { type: 'user-created', ...ABOUT_NOTHING, data: user, preData: null },
    {
      type: 'pat-created',
      ...ABOUT_NOTHING,
      data: { ...personal, createdAt: CREATED_AT },
      preData: null,
      hidden: { digest: digestOf(token) },
    },
  );
  return { id, token };
}

/** A project besides `default`, in both environments, with the user `admin` as its owner. */
export function addProject(server: TestServer, id: string, environments?: readonly string[]): Promise<void> {
  const settings = {
    id,
    name: id,
    description: '',
    mode: 'open' as const,
    defaultStickiness: 'default',
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    environments: environments ?? ['development', 'production'],
  };
  const owner = { userId: 1, roleId: 4, roleName: 'Owner', email: null };
  return record(
    server,
    { type: 'project-created', ...inProject(id), data: settings, preData: null },
    { type: 'project-user-added', ...inProject(id), data: owner, preData: null },
  );
}

/** A client token: valid, and of no use on this interface. */
export async function addClientToken(server: TestServer): Promise<string> {
  const token = 'default:development.client-secret';
  const data = {
    tokenName: 'sdk',
    type: 'client',
    projects: ['default'],
    environment: 'development',
    createdAt: CREATED_AT,
    expiresAt: null,
  } as const;
  const hidden = { digest: digestOf(token) };
  await record(server, { type: 'api-token-created', ...ABOUT_NOTHING, data, preData: null, hidden });
  return token;
}

/** Calls whose key says which one they are. */
export const keyed = (call: Call, key: string): Call => {
  return (method, path, body, options = {}) =>
    call(method, path, body, { ...options, headers: { 'idempotency-key': key, ...options.headers } });
};

/** A response as a retry gets it, without the secrets that are shown once. */
export const shownOf = ({ status, body }: ReceivedResponse, hidden: object = {}): object => ({
  status,
  body: body === undefined ? null : { ...body, ...hidden },
});
