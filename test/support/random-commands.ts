/**
 * Commands of every kind on few names, so that they meet: taken names, archived flags, parents, last owners. The
 * names are those that JavaScript's own objects have, since those are where a plain object in place of a Map shows.
 */
import fc from 'fast-check';
import type { Command } from '../../src/domain/decide/decide.ts';

const FLAGS = ['__proto__', 'constructor', 'toString', 'a', 'b'] as const;
const PROJECTS = ['default', '__proto__', 'hasOwnProperty'] as const;
const ENVIRONMENTS = ['development', 'production', 'valueOf', '__proto__'] as const;

/** Half of the time the one that is there from the start: otherwise little would ever be found. */
const mostly = (usual: string, all: readonly string[]) =>
  fc.oneof(fc.constant(usual), fc.constantFrom(...all));

const flag = mostly('constructor', FLAGS);
const parent = mostly('__proto__', FLAGS);
const child = mostly('constructor', FLAGS);
const flags = fc.uniqueArray(flag, { minLength: 1, maxLength: 4 });
const project = mostly('default', PROJECTS);
const environment = mostly('development', ENVIRONMENTS);
const userId = fc.integer({ min: 1, max: 4 });
const roleId = fc.integer({ min: 1, max: 8 });
const rootRole = fc.integer({ min: 1, max: 7 });
const text = fc.constantFrom('x', 'y', '__proto__');
const tag = fc.record({ type: fc.constantFrom('simple', 'toString'), value: fc.constant('x1') });
const digest = fc.constantFrom('1', '2', '3').map((digit) => digit.repeat(64));
const time = fc.constantFrom('2030-01-01T00:00:00.000Z', '2031-01-01T00:00:00.000Z');

const of = <T extends Command['type'], R>(type: T, model: { [K in keyof R]: fc.Arbitrary<R[K]> }) =>
  fc.record({ type: fc.constant(type), ...model }) as unknown as fc.Arbitrary<Command>;

const strategy = fc.record({
  name: fc.constantFrom('default', 'flexibleRollout', '__proto__'),
  title: fc.constant(null),
  disabled: fc.boolean(),
  constraints: fc.constant([]),
  parameters: fc.constantFrom(null, { rollout: 50, constructor: 'kept' }),
  variants: fc.constant([]),
  segments: fc.constant([]),
});

const variants = fc.constantFrom(
  [],
  [{ name: 'only', weight: 1000, weightType: 'variable' as const, stickiness: 'default', overrides: [] }],
);

const NEEDED: readonly fc.Arbitrary<Command>[] = [
  of('create-flag', { project, name: flag, metadata: fc.record({ stale: fc.boolean() }) }),
  of('add-strategy', { project, flag, environment, strategy }),
  of('switch-environment', { project, flag, environment, enabled: fc.boolean() }),
  of('add-dependency', {
    project,
    child,
    dependency: fc.record({ feature: parent, enabled: fc.boolean(), variants: fc.constant([]) }),
  }),
  of('create-user', {
    fields: fc.record({ username: text, email: fc.constantFrom(null, 'a@example.com'), rootRole }),
  }),
  of('add-member', { project, userId, roleId }),
];

const groupId = fc.integer({ min: 1, max: 2 });
const granted = {
  project,
  members: fc.uniqueArray(fc.record({ userId, roleId }), { selector: (one) => one.userId, maxLength: 3 }),
  groups: fc.uniqueArray(fc.record({ groupId, roleId }), { selector: (one) => one.groupId, maxLength: 2 }),
};
const roleFields = fc.record({
  name: text,
  description: text,
  type: fc.constantFrom('custom' as const, 'root-custom' as const),
  permissions: fc.subarray([
    { name: 'CREATE_FEATURE', environment: null },
    { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' },
  ]),
});
const groups = fc.constant('groups');
const roles = fc.constant('roles');
const groupFields = fc.record({
  name: text,
  rootRole: fc.option(rootRole, { nil: null }),
  users: fc.array(userId, { maxLength: 3 }),
});

const OTHERS: readonly fc.Arbitrary<Command>[] = [
  of('update-flag', { project, flag, metadata: fc.record({ description: text, stale: fc.boolean() }) }),
  of('clone-flag', { project, flag, name: flag, replaceGroupId: fc.boolean() }),
  of('archive-flag', { project, flag }),
  of('archive-flags', { project, flags }),
  of('revive-flags', { project, flags }),
  of('delete-flags', { project, flags }),
  of('mark-flags-stale', { project, flags, stale: fc.boolean() }),
  of('tag-flag', { project, flag, tag }),
  of('untag-flag', { project, flag, tag }),
  of('remove-dependency', { project, child, parent }),
  of('remove-dependencies', { project, child }),
  of('set-variants', { project, flag, environment: fc.option(environment), variants }),
  of('change-member', { project, userId, roleId }),
  of('remove-member', { project, userId, roleId }),
  of('set-project-access', granted),
  of('grant-project-access', granted),
  of('revoke-project-access', { project, groupId }),
  of('create-record', { kind: roles, fields: roleFields }),
  of('update-record', { kind: roles, id: roleId, fields: roleFields }),
  of('delete-record', { kind: roles, id: roleId }),
  of('create-record', { kind: groups, fields: groupFields }),
  of('update-record', { kind: groups, id: groupId, fields: groupFields }),
  of('delete-record', { kind: groups, id: groupId }),
  of('create-project', {
    id: project,
    fields: fc.record({ name: text }),
    environments: fc.option(fc.uniqueArray(environment, { minLength: 1 }), { nil: undefined }),
  }),
  of('update-project', { project, fields: fc.record({ name: text }) }),
  of('delete-project', { project }),
  of('add-project-environment', { project, environment }),
  of('remove-project-environment', { project, environment }),
  of('create-environment', { name: environment, fields: fc.record({ type: text }) }),
  of('update-environment', { name: environment, fields: fc.record({ enabled: fc.boolean() }) }),
  of('order-environments', {
    order: fc.uniqueArray(fc.tuple(environment, fc.integer({ min: 0, max: 9 })), {
      selector: ([one]) => one,
    }),
  }),
  of('delete-environment', { name: environment }),
  of('update-user', { userId, fields: fc.record({ username: text, rootRole }) }),
  of('delete-user', { userId }),
  of('create-api-token', {
    token: fc.record({
      digest,
      tokenName: text,
      type: fc.constant('client'),
      projects: fc.uniqueArray(project, { minLength: 1 }),
      environment,
      expiresAt: fc.option(time),
    }),
  }),
  of('update-api-token', { digest, expiresAt: fc.option(time) }),
  of('delete-api-token', { digest }),
  of('create-personal-token', { userId, digest, description: text, expiresAt: time }),
  of('delete-personal-token', { userId, id: fc.integer({ min: 1, max: 5 }) }),
];

/** Any command; those that everything else needs come more often, so that much of it is there to be met. */
export const anyCommand: fc.Arbitrary<Command> = fc
  .oneof({ weight: 3, arbitrary: fc.oneof(...NEEDED) }, { weight: 4, arbitrary: fc.oneof(...OTHERS) })
  // fast-check makes some objects without a prototype, which nothing that comes out of JSON is.
  .map((command) => structuredClone(command));

/** Commands, as many as the limits say, not as few as fast-check likes. */
export const anyCommands = fc.array(anyCommand, { minLength: 20, maxLength: 120, size: 'max' });
