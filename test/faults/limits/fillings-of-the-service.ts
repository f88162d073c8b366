/** Fillings of what flags share, and of projects and people. */
import assert from 'node:assert/strict';
import { environmentPath } from '../../support/interface.ts';
import type { Call } from '../../support/server.ts';
import {
  all,
  allEnvironments,
  FILLING_AT_ONCE,
  type Filling,
  makeFlag,
  makeUser,
  many,
  NEVER,
  untilRefused,
} from './filling.ts';

/** Passwords are hashed one at a time, and few of strangers wait. */
const SIGN_UPS_AT_ONCE = 3;

const PASSWORD = 'a password of many characters';

const longId = (index: number): string => `project-${index}-`.padEnd(100, 'p');

const makeProjects = (call: Call, count: number, fields: object = {}): Promise<void> =>
  all(count, (index) =>
    call('POST', '/projects', { id: longId(index), name: `project ${index}`, ...fields }),
  );

/** Permissions in projects: those of environments in each environment, as many as one role may have. */
async function permissionsIn(call: Call, environments: number): Promise<readonly object[]> {
  const { body } = await call('GET', '/permissions');
  const { environments: perEnvironment, project } = body.permissions;
  const inEach = many(environments, (index) =>
    perEnvironment[0].permissions.map(({ name }: { readonly name: string }) => ({
      name,
      environment: `environment-${index}`,
    })),
  ).flat();
  return [...inEach, ...project.map(({ name }: { readonly name: string }) => ({ name }))].slice(0, 500);
}

const FILLINGS_OF_PROJECTS: readonly Filling[] = [
  {
    name: 'environments',
    fill: async (call) => {
      const made = await allEnvironments(call);
      await all(500, async (index) => {
        await makeFlag(call, index);
        for (let environment = 0; environment < made; environment += 1)
          await call('POST', `${environmentPath(`flag-${index}`, `environment-${environment}`)}/strategies`, {
            name: 'default',
          });
        return call('POST', `${environmentPath(`flag-${index}`, 'environment-0')}/on`);
      });
    },
    names: { environment: 'environment-1', name: 'environment-1' },
    changes: [
      [
        'POST',
        '/projects/default/bulk_features/environments/environment-2/on',
        { features: many(500, (index) => `flag-${index}`) },
      ],
      ['DELETE', '/projects/default/environments/environment-3'],
      ['DELETE', '/environments/environment-4'],
    ],
  },
  {
    name: 'rules of projects',
    fill: async (call) => {
      const featureNaming = {
        pattern: '(?:[a-z]|[0-9]|-|[^\\pL])*'.repeat(6).padEnd(200, 'n?'),
        description: '\u0001'.repeat(1_000),
      };
      const linkTemplates = many(20, () => ({
        title: '\u0001'.repeat(255),
        urlTemplate: `https://t.example/${'€'.repeat(600)}`,
      }));
      const settings = { featureNaming, featureLimit: 10_000, linkTemplates };
      await all(1, () => call('PUT', '/projects/default/settings', settings));
      await all(500, (index) => makeFlag(call, index));
      await untilRefused(100_000, (index) =>
        call('POST', '/projects', { id: longId(index), name: 'p'.repeat(255), ...settings }),
      );
    },
    names: { projectId: longId(0) },
    changes: [
      ['PUT', '/projects/default/settings', { featureLimit: 1 }],
      ['PUT', '/projects/default/settings', { featureNaming: null, featureLimit: null, linkTemplates: null }],
      ['DELETE', `/projects/${longId(1)}`],
    ],
  },
  {
    name: 'descriptions of projects',
    fill: async (call) => {
      await untilRefused(100_000, (index) =>
        call('POST', '/projects', {
          id: longId(index),
          name: '€'.repeat(255),
          description: '\u0001'.repeat(10_000),
        }),
      );
    },
    names: { projectId: longId(0) },
    changes: [['DELETE', `/projects/${longId(1)}`]],
  },
  {
    name: 'default strategies',
    fill: async (call) => {
      const made = await allEnvironments(call);
      const strategy = { name: 'default', title: '\u0001'.repeat(10_000) };
      const setIn = (project: string) => (environment: number) =>
        call(
          'POST',
          `/projects/${project}/environments/environment-${environment}/default-strategy`,
          strategy,
        );
      await all(made, setIn('default'));
      await untilRefused(1_000, async (index) => {
        let response = await call('POST', '/projects', { id: longId(index), name: `project ${index}` });
        for (let at = 0; at < made && response.status < 300; at += 1)
          response = await setIn(longId(index))(at);
        return response;
      });
    },
    names: { projectId: longId(0), environment: 'environment-1', name: 'environment-1' },
    changes: [
      ['DELETE', `/projects/${longId(1)}/environments/environment-3`],
      ['DELETE', `/projects/${longId(1)}`],
      ['DELETE', '/environments/environment-4'],
    ],
  },
  {
    name: 'context fields and strategy types',
    fill: async (call) => {
      await untilRefused(1_000, (index) =>
        call('POST', '/context', {
          name: `field-${index}`,
          legalValues: many(450, (value) => ({ value: `${value}`.padStart(90, 'v'), description: '€' })),
        }),
      );
      await untilRefused(1_000, (index) =>
        call('POST', '/strategies', {
          name: `type-${index}`,
          parameters: many(40, (parameter) => ({
            name: `parameter-${parameter}`,
            type: 'string',
            description: 'd'.repeat(200),
          })),
        }),
      );
      await all(20, (index) => makeFlag(call, index));
    },
    names: { contextField: 'field-1', strategyName: 'type-1' },
  },
];

const FILLINGS_OF_PEOPLE: readonly Filling[] = [
  {
    name: 'tokens',
    fill: async (call) => {
      await all(100, (index) =>
        call('POST', '/projects', { id: `project-${index}`, name: `project ${index}` }),
      );
      const projects = many(100, (index) => `project-${index}`);
      await untilRefused(10_000, (index) =>
        call('POST', '/api-tokens', {
          tokenName: `token-${index}`,
          type: 'client',
          environment: 'development',
          projects,
        }),
      );
    },
    names: { projectId: 'project-0' },
    changes: [['DELETE', '/projects/project-1']],
  },
  {
    name: 'people',
    fill: async (call) => {
      const ids: number[] = [];
      await all(1_000, async (index) => {
        const made = await call('POST', '/user-admin', { username: `user-${index}`, rootRole: 3 });
        ids.push(made.body.id);
        return made;
      });
      const users = ids.map((id) => ({ user: { id } }));
      await untilRefused(10_000, (index) =>
        call('POST', '/groups', { name: `group-${index}`, users, description: 'd' }),
      );
      await all(1_000, (index) => call('PUT', `/projects/default/groups/${index + 1}/roles`, { roles: [4] }));
      await untilRefused(1_000, (index) =>
        call('POST', '/roles', {
          name: `role-${index}`,
          description: 'd'.repeat(250),
          permissions: [{ name: 'CREATE_FEATURE' }],
        }),
      );
      await untilRefused(1_000, (index) =>
        call('POST', `/user-admin/${ids[0]}/tokens`, { description: `token-${index}`, expiresAt: NEVER }),
      );
    },
    changes: [
      ['DELETE', '/user-admin/2'],
      ['DELETE', '/groups/1'],
    ],
  },
  {
    name: 'favorites',
    fill: async (call, { readAs }) => {
      // As many more as requests are under way when one is refused.
      const count = 1_000 + FILLING_AT_ONCE;
      await makeProjects(call, count);
      const nameOf = (index: number): string =>
        index < 2 ? `flag-${index}` : `flag-${index}-`.padEnd(100, 'n');
      await all(count, (index) => makeFlag(call, index, { name: nameOf(index) }));
      const users = await Promise.all(many(20, (index) => makeUser(call, `user-${index}`)));
      for (const { token } of users) {
        const mark = (path: string) => call('POST', `/projects/${path}/favorites`, undefined, { token });
        assert.equal(await untilRefused(2_000, (index) => mark(`default/features/${nameOf(index)}`)), 1_000);
        assert.equal(await untilRefused(2_000, (index) => mark(longId(index))), 1_000);
      }
      readAs(users[0]?.token ?? '');
    },
    names: { projectId: longId(0) },
    changes: [
      ['DELETE', `/projects/${longId(1)}`],
      ['DELETE', '/user-admin/2'],
    ],
  },
  {
    name: 'custom roles',
    fill: async (call, { readAs }) => {
      const permissions = await permissionsIn(call, await allEnvironments(call));
      const ids: number[] = [];
      await untilRefused(1_000, async (index) => {
        const fields = { name: `role-${index}`, description: '€'.repeat(255), permissions };
        const made = await call('POST', '/roles', {
          ...fields,
          type: index === 0 ? 'root-custom' : 'custom',
        });
        if (made.status < 300) ids.push(made.body.roles.id);
        return made;
      });
      await makeProjects(call, 1_000);
      const { id, token } = await makeUser(call, 'holder');
      const roleOf = (index: number) => ids[1 + (index % (ids.length - 1))];
      await all(1_000, (index) =>
        call('POST', `/projects/${longId(index)}/users/${id}/roles/${roleOf(index)}`),
      );
      await all(1, () => call('PUT', `/user-admin/${id}`, { rootRole: ids[0] }));
      readAs(token);
    },
    names: { projectId: longId(0), roleId: '7', environment: 'environment-1', name: 'environment-1' },
    changes: [
      ['DELETE', '/environments/environment-4'],
      ['DELETE', '/roles/7'],
      ['DELETE', '/user-admin/2'],
    ],
  },
  {
    name: 'personal tokens',
    fill: async (call) => {
      const ownersOf = async (path: string, fields: (index: number) => object): Promise<number[]> => {
        const ids: number[] = [];
        await all(60, async (index) => {
          const made = await call('POST', path, { rootRole: 3, ...fields(index) });
          ids.push(made.body.id);
          return made;
        });
        return ids;
      };
      const users = await ownersOf('/user-admin', (index) => ({ username: `user-${index}` }));
      const accounts = await ownersOf('/service-account', (index) => ({ name: `account ${index}` }));
      const paths = [
        ...users.map((id) => `/user-admin/${id}/tokens`),
        ...accounts.map((id) => `/service-account/${id}/token`),
      ];
      const make = (path: string) => (index: number) =>
        call('POST', path, { description: `${index}`.padEnd(255, '€'), expiresAt: NEVER });
      const counts: number[] = [];
      for (const path of paths) counts.push(await untilRefused(1_000, make(path)));
      assert(
        counts.every((count) => count === 100),
        `${counts}`,
      );
    },
    names: { id: '2' },
    changes: [
      ['DELETE', '/user-admin/2'],
      ['DELETE', '/service-account/70'],
    ],
  },
  {
    name: 'invitations and sign-ups',
    fill: async (call, { below }) => {
      const secrets: string[] = [];
      await untilRefused(1_000, async (index) => {
        const made = await call('POST', '/invite-link/tokens', { name: '€'.repeat(255), expiresAt: NEVER });
        if (index === 0 || made.status < 300) secrets.push(made.body.secret);
        return made;
      });
      const signUp = (secret: string) => (index: number) =>
        below('/invite')('POST', `/${secret}/signup`, {
          username: `${secret.slice(0, 8)}-${index}`,
          email: `${secret.slice(0, 8)}-${index}@${'e'.repeat(50)}.example`,
          // Nobody may be called what looks like another's name.
          name: `${secret.slice(0, 8)}-${index}-`.padEnd(255, '€'),
          password: PASSWORD,
        });
      const [first = '', ...others] = secrets;
      assert.equal(await untilRefused(1_000, signUp(first), SIGN_UPS_AT_ONCE), 500);
      await all(others.length, (index) => signUp(others[index] ?? '')(0), SIGN_UPS_AT_ONCE);
      await all(20_000, (index) =>
        call('POST', '/user-admin', { username: `user-${index}`.padEnd(255, 'u'), rootRole: 3 }),
      );
    },
    changes: [['DELETE', '/user-admin/2']],
  },
  {
    name: 'sessions',
    fill: async (call, { below, readAs }) => {
      const tokens = (await Promise.all(many(210, (index) => makeUser(call, `user-${index}`)))).map(
        ({ token }) => token,
      );
      // The oldest end: 50 of one, and 10,000 of all, make room for one more.
      await all(tokens.length * 51, (index) =>
        below('/auth')('POST', '/session', undefined, { token: tokens[index % tokens.length] ?? null }),
      );
      readAs(tokens.at(-1) ?? '');
    },
    changes: [['DELETE', '/user-admin/200']],
  },
];

export const FILLINGS_OF_THE_SERVICE: readonly Filling[] = [...FILLINGS_OF_PEOPLE, ...FILLINGS_OF_PROJECTS];
