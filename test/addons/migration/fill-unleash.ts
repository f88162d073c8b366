/** Puts some of everything that moves into a real Unleash, through its own Admin API. */
import type { AdminClient } from '../../../src/host/admin-client.ts';

const OPERATORS: readonly object[] = [
  { contextName: 'country', operator: 'IN', values: ['DE', 'FR', 'ES'] },
  { contextName: 'country', operator: 'NOT_IN', values: ['US'], inverted: true },
  { contextName: 'appName', operator: 'STR_STARTS_WITH', values: ['d', 'F'], caseInsensitive: true },
  { contextName: 'userId', operator: 'STR_CONTAINS', values: ['3'] },
  { contextName: 'age', operator: 'NUM_GTE', value: '7' },
  { contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-01-01T00:00:00.000Z' },
  { contextName: 'appVersion', operator: 'SEMVER_GT', value: '1.2.3' },
];

/** Resolves when `flagCount` flags are there, each with two environments, and segments, fields, users and tags beside them. */
export async function fillUnleash(client: AdminClient, flagCount: number): Promise<void> {
  await client.call('POST', '/context', {
    name: 'country',
    description: 'Where the user is',
    stickiness: true,
    legalValues: [{ value: 'DE', description: 'Germany' }, { value: 'FR' }, { value: 'ES' }, { value: 'US' }],
  });
  for (const name of ['age', 'appVersion']) await client.call('POST', '/context', { name });
  await client.call('POST', '/strategies', {
    name: 'by-tenant',
    description: 'For one tenant',
    parameters: [{ name: 'tenant', type: 'string', description: 'Its id', required: true }],
  });
  const segment = (await client.call('POST', '/segments', {
    name: 'beta-testers',
    description: 'Those who asked for it',
    project: 'default',
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['1', '2', '30'] }],
  })) as { id: number };
  await client.call('PUT', '/feature-types/release/lifetime', { lifetimeDays: 33 });
  for (const [at, rootRole] of [1, 2, 3].entries()) {
    await client.call('POST', '/user-admin', {
      email: `person-${at}@example.com`,
      name: `Person ${at}`,
      rootRole,
      sendEmail: false,
    });
  }
  for (let at = 0; at < flagCount; at++) await fillFlag(client, at, segment.id);
}

async function fillFlag(client: AdminClient, at: number, segmentId: number): Promise<void> {
  const name = `flag-${String(at).padStart(4, '0')}`;
  const path = `/projects/default/features/${name}`;
  const types = ['release', 'experiment', 'operational', 'kill-switch', 'permission'];
  await client.call('POST', '/projects/default/features', {
    name,
    type: types[at % types.length],
    description: `The flag of number ${at}`,
    impressionData: at % 3 === 0,
  });
  const strategies = `${path}/environments/production/strategies`;
  await client.call('POST', strategies, {
    name: 'flexibleRollout',
    title: at % 2 === 0 ? 'Slowly' : '',
    disabled: at % 11 === 0,
    parameters: { rollout: String((at * 7) % 101), stickiness: 'default', groupId: name },
    constraints: [{ values: [], ...OPERATORS[at % OPERATORS.length] }],
    segments: at % 4 === 0 ? [segmentId] : [],
    variants:
      at % 5 === 0
        ? [
            {
              name: 'red',
              weight: 300,
              weightType: 'fix',
              stickiness: 'default',
              payload: { type: 'string', value: '#f00' },
            },
            { name: 'blue', weight: 700, weightType: 'variable', stickiness: 'default' },
          ]
        : [],
  });
  if (at % 3 === 1) {
    await client.call('POST', strategies, {
      name: 'userWithId',
      parameters: { userIds: '1,5,9' },
      constraints: [],
    });
  }
  if (at % 6 === 0)
    await client.call('POST', strategies, { name: 'by-tenant', parameters: { tenant: 'one' } });
  await client.call('POST', `${path}/environments/development/strategies`, { name: 'default' });
  await client.call('POST', `${path}/environments/development/on`);
  if (at % 2 === 0) await client.call('POST', `${path}/environments/production/on`);
  if (at % 7 === 0) {
    await client.call('PUT', `${path}/environments/production/variants`, [
      // Not by name, as some reads of Unleash sort them.
      { name: 'two', weight: 500, weightType: 'variable', stickiness: 'userId' },
      {
        name: 'one',
        weight: 500,
        weightType: 'variable',
        stickiness: 'userId',
        payload: { type: 'json', value: '{"a":1}' },
      },
    ]);
  }
  if (at % 8 === 0)
    await client.call('POST', `/features/${name}/tags`, { type: 'simple', value: `team-${at % 3}` });
  if (at % 9 === 5)
    await client.call('POST', `${path}/dependencies`, { feature: 'flag-0000', enabled: true, variants: [] });
  if (at % 13 === 12)
    await client.call('PUT', path, {
      type: 'release',
      description: 'Done',
      stale: true,
      impressionData: false,
    });
  if (at % 17 === 16) await client.call('DELETE', path);
}

/** Changes something of every kind of what `fillUnleash` made; resolves with the number of changes. */
export async function changeUnleash(client: AdminClient): Promise<number> {
  const flag = (at: number): string => `/projects/default/features/flag-${String(at).padStart(4, '0')}`;
  const { segments } = (await client.call('GET', '/segments')) as { segments: { id: number }[] };
  const { strategies } = (await client.call('GET', `${flag(1)}/environments/production`)) as {
    strategies: { id: string }[];
  };
  const changes: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['POST', '/projects/default/features', { name: 'made-later', type: 'release' }],
    ['POST', '/projects/default/features/made-later/environments/production/strategies', { name: 'default' }],
    ['POST', '/projects/default/features/made-later/environments/production/on'],
    ['POST', `${flag(0)}/environments/production/off`],
    ['POST', `${flag(1)}/environments/production/on`],
    [
      'PUT',
      `${flag(1)}/environments/production/strategies/${strategies[0]?.id}`,
      {
        name: 'flexibleRollout',
        parameters: { rollout: '100', stickiness: 'userId', groupId: 'changed' },
        constraints: [],
      },
    ],
    ['DELETE', `${flag(1)}/environments/production/strategies/${strategies[1]?.id}`],
    ['PUT', flag(2), { type: 'release', description: 'Changed', stale: true, impressionData: true }],
    [
      'PUT',
      `${flag(2)}/environments/production/variants`,
      [{ name: 'late', weight: 1000, weightType: 'variable', stickiness: 'default' }],
    ],
    ['POST', '/features/flag-0002/tags', { type: 'simple', value: 'late' }],
    ['POST', `${flag(3)}/dependencies`, { feature: 'flag-0000', enabled: true, variants: [] }],
    ['DELETE', flag(6)],
    [
      'PUT',
      `/segments/${segments[0]?.id}`,
      {
        name: 'beta-testers',
        project: 'default',
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['1', '7'] }],
      },
    ],
    [
      'PUT',
      '/context/country',
      { name: 'country', description: 'Later', stickiness: true, legalValues: [{ value: 'DE' }] },
    ],
    ['POST', '/user-admin', { email: 'late@example.com', name: 'Late', rootRole: 3, sendEmail: false }],
  ];
  for (const [method, path, body] of changes) await client.call(method, path, body);
  return changes.length;
}
