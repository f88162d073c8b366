/** Sentences of the specification and of the page on what differs from Unleash, each with requests that show whether it holds. They run in this order, on one server. */

/** Method, path below `/api/admin`, body, and the status, or what the body of a 200 or 201 is asked for as `status field=JSON`. */
type Asked = readonly [method: string, path: string, body: unknown, expected: number | string];

export interface Sentence {
  readonly page: string;
  /** A part of a line of the page. */
  readonly quote: string;
  readonly asked: readonly Asked[];
}

const FLAGS = '/projects/default/features';
const DEV = '/environments/development';
const strategy = (parts: object = {}): object => ({ name: 'default', ...parts });
const constraint = (operator: string, parts: object): object => ({
  contextName: 'userId',
  operator,
  ...parts,
});
const rule = (operator: string, parts: object): object =>
  strategy({ constraints: [constraint(operator, parts)] });
const add = (body: object, expected: number | string): Asked => [
  'POST',
  `${FLAGS}/said${DEV}/strategies`,
  body,
  expected,
];
const variants = (body: unknown, expected: number | string): Asked => [
  'PUT',
  `${FLAGS}/said/variants`,
  body,
  expected,
];
const create = (body: object, expected: number | string): Asked => ['POST', FLAGS, body, expected];
const even = (name: string, parts: object = {}): object => ({ name, weight: 0, ...parts });
const user = (parts: object): object => ({ rootRole: 3, ...parts });

const onPage = (page: string, sentences: readonly (readonly [string, ...Asked[]])[]): Sentence[] =>
  sentences.map(([quote, ...asked]) => ({ page, quote, asked }));

const on = (page: string, sentences: readonly (readonly [string, ...Asked[]])[]): Sentence[] =>
  onPage(`docs/specification/${page}.md`, sentences);

export const SENTENCES: readonly Sentence[] = [
  ...on('flags', [
    [
      "A flag's name has 1 to 100 characters",
      create({ name: 'said' }, 201),
      create({ name: 'x'.repeat(100) }, 201),
      create({ name: 'x'.repeat(101) }, 400),
      create({ name: '' }, 400),
    ],
    ["of `A–Z a–z 0–9 - _ . ~ ! ' ( ) *`", create({ name: "aZ9-_.~!'()*" }, 201)],
    ['is neither `.` nor `..`', create({ name: '.' }, 400), create({ name: '..' }, 400)],
    [
      'Any other name is a 400',
      create({ name: 'a b' }, 400),
      create({ name: 'ä' }, 400),
      create({ name: 'a/b' }, 400),
      create({ name: 'a%' }, 400),
    ],
    ['a name that is taken is a 409', create({ name: 'said' }, 409)],
    [
      '`release` (the default), `experiment`',
      create({ name: 'typed' }, '201 type="release"'),
      create({ name: 'typed.2', type: 'experiment' }, '201 type="experiment"'),
    ],
    [
      'Any other type is a 400',
      create({ name: 'typed.3', type: 'sunset' }, 400),
      create({ name: 'typed.3', type: 'Release' }, 400),
    ],
    ['`name` is required.', create({}, 400), create({ name: null }, 400)],
    [
      '`description` is the empty string when it was not sent',
      create({ name: 'plain' }, '201 description=""'),
    ],
    ['`impressionData` is false', create({ name: 'plain.2' }, '201 impressionData=false')],
    [
      '`variants` (null when there are none)',
      create({ name: 'plain.3' }, '201 variants=null'),
      ['GET', `${FLAGS}/plain.3`, undefined, '200 variants=null'],
    ],
    ['(a string or null)', create({ name: 'nulled', description: null }, '201 description=null')],
    [
      '`tags`, at most 100, are added in the same change',
      create({ name: 'tagged', tags: [{ type: 'simple', value: 'said' }] }, 201),
      create(
        {
          name: 'tagged.2',
          tags: Array.from({ length: 101 }, (_, at) => ({ type: 'simple', value: `t${at}` })),
        },
        400,
      ),
    ],
    [
      '`name` may repeat the flag',
      ['PUT', `${FLAGS}/said`, { name: 'said', description: 'x' }, '200 description="x"'],
      ['PUT', `${FLAGS}/said`, { name: 'other' }, 400],
    ],
    [
      'are ignored: the response is 200 and they keep their values',
      [
        'PUT',
        `${FLAGS}/said`,
        { project: 'none', archived: true, createdAt: '2001-01-01T00:00:00Z' },
        '200 project="default"',
      ],
      ['GET', `${FLAGS}/said`, undefined, '200 archived=false'],
    ],
    [
      'not sent keeps its value',
      ['PUT', `${FLAGS}/said`, { stale: true }, '200 description="x"'],
      ['PUT', `${FLAGS}/said`, { stale: false }, '200 stale=false'],
    ],
    [
      'It is disabled in every environment and not stale',
      ['POST', `${FLAGS}/said/clone`, { name: 'clone' }, '201 stale=false'],
      ['POST', `${FLAGS}/said/clone`, { name: 'clone' }, 409],
    ],
    [
      '`http://` or `https://`',
      ['POST', `${FLAGS}/said/link`, { url: 'ftp://x.example' }, 400],
      ['POST', `${FLAGS}/said/link`, { url: 'https://x.example', title: null }, 204],
    ],
    [
      'and no `@` before its path',
      ['POST', `${FLAGS}/said/link`, { url: 'https://a@x.example' }, 400],
      ['POST', `${FLAGS}/said/link`, { url: 'https://x.example\\@y' }, 400],
    ],
    [
      'a title has at most 255',
      ['POST', `${FLAGS}/said/link`, { url: 'https://x.example', title: 'x'.repeat(256) }, 400],
    ],
    [
      'Endpoint 4 responds 200, with `archived: true`',
      create({ name: 'gone' }, 201),
      ['DELETE', `${FLAGS}/gone`, undefined, 202],
      ['GET', `${FLAGS}/gone`, undefined, '200 archived=true'],
    ],
    ['Archiving it again responds 202', ['DELETE', `${FLAGS}/gone`, undefined, 202]],
    [
      'cloning included, is a 409',
      ['POST', `${FLAGS}/gone/clone`, { name: 'gone.2' }, 409],
      ['PUT', `${FLAGS}/gone`, { description: 'x' }, 409],
    ],
    ['archived flags keep theirs', create({ name: 'gone' }, 409)],
    [
      'An unknown project is a 404',
      ['GET', '/projects/none/features/said', undefined, 404],
      ['POST', '/projects/none/features', { name: 'x' }, 404],
    ],
    [
      'A project without flags has 100',
      ['POST', '/projects', { id: 'empty', name: 'Empty' }, 201],
      ['GET', '/projects/empty', undefined, '200 health=100'],
    ],
    ['The overview (endpoint 1) has `version` 1', ['GET', '/projects/empty', undefined, '200 version=1']],
    [
      '`version` 2. The list can be filtered',
      ['GET', '/projects/empty/features', undefined, '200 version=2'],
    ],
  ]),
  ...on('switches', [
    ['without any, the response is a 409', ['POST', `${FLAGS}/said${DEV}/on`, undefined, 409]],
    [
      'Enabling what is enabled',
      add(strategy(), 200),
      ['POST', `${FLAGS}/said${DEV}/on`, undefined, 200],
      ['POST', `${FLAGS}/said${DEV}/on`, undefined, 200],
      ['POST', `${FLAGS}/said${DEV}/off`, undefined, 200],
      ['POST', `${FLAGS}/said${DEV}/off`, undefined, 200],
    ],
  ]),
  ...on('strategies', [
    ['An unknown one is a 400', add({ name: 'flexibelRollout' }, 400)],
    [
      '`parameters` is returned exactly as it was sent',
      add(strategy({ parameters: { share: 7, of: 'all' } }), '200 parameters={"share":7,"of":"all"}'),
    ],
    [
      'a number from 0 to 100 or its text',
      add({ name: 'flexibleRollout', parameters: { rollout: '100' } }, 200),
      add({ name: 'flexibleRollout', parameters: { rollout: 0 } }, 200),
      add({ name: 'flexibleRollout', parameters: { rollout: 101 } }, 400),
      add({ name: 'flexibleRollout', parameters: { rollout: 'some' } }, 400),
    ],
    ['`disabled` defaults to false', add(strategy(), '200 disabled=false')],
    ['An unknown id is a 400', add(strategy({ segments: [4711] }), 400)],
    [
      'each needs `stickiness`',
      add(strategy({ variants: [even('a')] }), 400),
      add(strategy({ variants: [even('a', { stickiness: 'default' })] }), 200),
    ],
    [
      'which starts at 0',
      ['POST', `${FLAGS}/clone/environments/production/strategies`, strategy(), '200 sortOrder=0'],
    ],
    [
      'gets one above',
      ['POST', `${FLAGS}/clone/environments/production/strategies`, strategy(), '200 sortOrder=1'],
    ],
    [
      '`values`, with at least one string that is not empty',
      ...['IN', 'NOT_IN', 'STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'].flatMap((one) => [
        add(rule(one, { values: ['a'] }), 200),
        add(rule(one, { values: [''] }), 400),
        add(rule(one, { values: [] }), 400),
      ]),
    ],
    [
      '| `value`, a number |',
      ...['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE'].flatMap((one) => [
        add(rule(one, { value: '2.5' }), 200),
        add(rule(one, { value: 'two' }), 400),
      ]),
    ],
    [
      'an ISO 8601 date-time',
      ...['DATE_AFTER', 'DATE_BEFORE'].flatMap((one) => [
        add(rule(one, { value: '2026-01-01T00:00:00Z' }), 200),
        add(rule(one, { value: 'today' }), 400),
      ]),
    ],
    [
      '| `value`, a semantic version |',
      ...['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_LT'].flatMap((one) => [
        add(rule(one, { value: '1.2.3' }), 200),
        add(rule(one, { value: '1.2' }), 400),
      ]),
    ],
    ['Anything else is a 400', add(rule('LIKE', { values: ['a'] }), 400)],
    [
      'that the project does not have, is a 404',
      ['POST', `${FLAGS}/said/environments/none/strategies`, strategy(), 404],
    ],
  ]),
  ...on('variants', [
    ['Names are unique within their list', variants([even('a'), even('a')], 400)],
    [
      'Weights are integers from 0 to 1000',
      variants([{ name: 'a', weight: 0.5 }], 400),
      variants([{ name: 'a', weight: 1001 }], 400),
      variants([{ name: 'a', weight: -1 }], 400),
    ],
    ['has at least one `variable` variant', variants([even('a', { weightType: 'fix' })], 400)],
    [
      'add up to less than 1000',
      variants([even('a'), { name: 'b', weight: 1000, weightType: 'fix' }], 400),
      variants([even('a'), { name: 'b', weight: 999, weightType: 'fix' }], 200),
    ],
    [
      'A payload of type `json` must parse as JSON',
      variants([even('a', { payload: { type: 'json', value: '{' } })], 400),
      variants([even('a', { payload: { type: 'json', value: '{}' } })], 200),
    ],
    [
      'one of type `number` must be a number',
      variants([even('a', { payload: { type: 'number', value: 'x' } })], 400),
      variants([even('a', { payload: { type: 'number', value: '5' } })], 200),
    ],
    [
      'The other types are `csv` and `string`',
      variants([even('a', { payload: { type: 'csv', value: 'a,b' } })], 200),
      variants([even('a', { payload: { type: 'xml', value: 'a' } })], 400),
    ],
    ['Each variant must have a `weight`', variants([{ name: 'a' }], 400)],
    [
      'get 334, 333 and 333',
      variants([even('a'), even('b'), even('c')], '200 variants.0.weight=334'),
      ['GET', `${FLAGS}/said/variants`, undefined, '200 variants.2.weight=333'],
    ],
    ['An empty list removes all variants', variants([], '200 variants=[]')],
    ['The response is `{ "version": "1"', ['GET', `${FLAGS}/said/variants`, undefined, '200 version="1"']],
  ]),
  ...on('targeting', [
    [
      'GET, PUT (204) and DELETE (204) `/segments/:id`',
      ['POST', '/segments', { name: 'people', constraints: [] }, '201 name="people"'],
      ['PUT', '/segments/1', { name: 'people', constraints: [] }, 204],
    ],
    ['a taken one is a 409', ['POST', '/segments', { name: 'people', constraints: [] }, 409]],
    [
      'archived flags included, cannot be deleted (409)',
      add(strategy({ segments: [1] }), 200),
      ['DELETE', '/segments/1', undefined, 409],
    ],
    [
      'deleted (409); their `createdAt` is null',
      ...['environment', 'userId', 'appName', 'currentTime', 'sessionId', 'remoteAddress'].flatMap(
        (name): Asked[] => [
          ['GET', `/context/${name}`, undefined, '200 createdAt=null'],
          ['DELETE', `/context/${name}`, undefined, 409],
        ],
      ),
    ],
    [
      'so a field that is used can be deleted',
      ['POST', '/context', { name: 'land' }, 201],
      add(strategy({ constraints: [{ contextName: 'land', operator: 'IN', values: ['x'] }] }), 200),
      ['DELETE', '/context/land', undefined, 200],
    ],
    [
      'The predefined types are `default`',
      ...['default', 'flexibleRollout', 'userWithId', 'remoteAddress', 'applicationHostname'].map(
        (name): Asked => ['GET', `/strategies/${name}`, undefined, '200 deprecated=false'],
      ),
    ],
    [
      'and the deprecated',
      ...['gradualRolloutRandom', 'gradualRolloutSessionId', 'gradualRolloutUserId'].map(
        (name): Asked => ['GET', `/strategies/${name}`, undefined, '200 deprecated=true'],
      ),
    ],
    [
      'They can be deprecated, and neither changed nor',
      ['PUT', '/strategies/default', { name: 'default', parameters: [] }, 409],
      ['DELETE', '/strategies/default', undefined, 409],
    ],
    [
      'A type that a flag uses cannot be deleted',
      ['POST', '/strategies', { name: 'own', parameters: [] }, 201],
      add({ name: 'own' }, 200),
      ['DELETE', '/strategies/own', undefined, 409],
    ],
    [
      'constraints may use `IN_CIDR`',
      add(rule('IN_CIDR', { values: ['10.0.0.0/8'] }), 200),
      add(rule('IN_CIDR', { values: ['10.0.0.0/99'] }), 400),
    ],
    [
      'a regular expression in the syntax of RE2',
      add(rule('REGEX', { value: '^a+$' }), 200),
      add(rule('REGEX', { value: '(?=a)' }), 400),
    ],
    [
      '`SEMVER_GTE` and `SEMVER_LTE`',
      add(rule('SEMVER_GTE', { value: '1.0.0' }), 200),
      add(rule('SEMVER_LTE', { value: '1.0.0' }), 200),
    ],
    [
      'a flag may have tags of a type that has not been',
      ['POST', '/features/said/tags', { type: 'unheard', value: 'of' }, 201],
    ],
    [
      'The type `simple` is always there',
      ['GET', '/tag-types/simple', undefined, 200],
      ['DELETE', '/tag-types/simple', undefined, 409],
    ],
  ]),
  ...on('membership', [
    ['| 1 | Admin | `root` |', ['GET', '/roles/1', undefined, '200 name="Admin"']],
    ['| 2 | Editor | `root` |', ['GET', '/roles/2', undefined, '200 name="Editor"']],
    ['| 3 | Viewer | `root` |', ['GET', '/roles/3', undefined, '200 name="Viewer"']],
    ['| 4 | Owner | `project` |', ['GET', '/roles/4', undefined, '200 type="project"']],
    ['| 5 | Member | `project` |', ['GET', '/roles/5', undefined, '200 type="project"']],
    [
      'only Owner and Member can be held in a project',
      ['POST', '/user-admin', user({ username: 'held' }), '201 id=2'],
      ...[1, 2, 3].map((role): Asked => ['POST', `/projects/default/users/2/roles/${role}`, undefined, 404]),
    ],
    [
      'All five can be a user',
      ...[1, 2, 3, 4, 5].map(
        (rootRole): Asked => ['PUT', '/user-admin/2', { rootRole }, `200 rootRole=${rootRole}`],
      ),
    ],
    ['A predefined role can be neither changed nor deleted', ['DELETE', '/roles/1', undefined, 409]],
    [
      '17 for a user who is a member',
      ['POST', '/projects/default/users/2/roles/5', undefined, 200],
      [
        'POST',
        '/projects/default/users/2/roles/5',
        undefined,
        '400 0.msg="User already has access to project=default"',
      ],
    ],
    [
      'would demote or remove the only Owner',
      [
        'DELETE',
        '/projects/default/users/1/roles/4',
        undefined,
        '400 0.msg="A project must have at least one owner"',
      ],
      ['PUT', '/projects/default/users/1/roles/5', undefined, 400],
    ],
    [
      '18 for a user who is not a member',
      ['PUT', '/projects/empty/users/2/roles/5', undefined, 200],
      ['PUT', '/projects/default/users/2/roles/5', undefined, 200],
    ],
    [
      '19 with a role that the user does not hold',
      ['DELETE', '/projects/default/users/2/roles/4', undefined, 404],
    ],
    [
      'an unknown project, user or role',
      ['POST', '/projects/none/users/2/roles/5', undefined, 404],
      ['POST', '/projects/default/users/99/roles/5', undefined, 404],
      ['POST', '/projects/default/users/2/roles/99', undefined, 404],
    ],
    [
      'A group has a name, users',
      ['POST', '/groups', { name: 'team', users: [{ user: { id: 1 } }] }, '201 name="team"'],
    ],
  ]),
  ...on('common', [
    [
      'a number where a string is expected is a 400',
      create({ name: 7 }, 400),
      create({ name: 'n', stale: 'yes' }, 400),
    ],
    ['Fields that the server does not know are ignored', create({ name: 'known', unheardOf: 1 }, 201)],
    [
      'A body that is not JSON, or has the wrong shape',
      ['POST', FLAGS, '{"name":', 400],
      ['POST', FLAGS, [], 400],
    ],
    ['the path exists but not for this method', ['PATCH', '/projects', undefined, 405]],
    [
      'the path names something that does not exist',
      ['GET', `${FLAGS}/none`, undefined, '404 name="NotFoundError"'],
    ],
    ['everything that the path names exists (404)', ['POST', '/projects/none/features', { name: 7 }, 404]],
    ['the body is well formed and keeps the rules (400)', ['POST', `${FLAGS}/gone/clone`, { name: 7 }, 400]],
    ['invalid encoding is a 400', ['GET', `${FLAGS}/%zz`, undefined, 400]],
    ['Unknown query parameters are ignored', ['GET', '/projects/default?unheard=of', undefined, 200]],
    [
      'A `test` operation that does not hold is a 409',
      ['PATCH', `${FLAGS}/said`, [{ op: 'test', path: '/description', value: 'no' }], 409],
    ],
    [
      'A malformed operation, a path that does not exist',
      ['PATCH', `${FLAGS}/said`, [{ op: 'put', path: '/description' }], 400],
      ['PATCH', `${FLAGS}/said`, [{ op: 'remove', path: '/none' }], 400],
    ],
    [
      'A path that contains `__proto__`',
      ...['__proto__', 'constructor', 'prototype'].map(
        (one): Asked => ['PATCH', `${FLAGS}/said`, [{ op: 'add', path: `/${one}`, value: 1 }], 400],
      ),
    ],
    [
      'A patch is applied as a whole or not at all',
      [
        'PATCH',
        `${FLAGS}/said`,
        [
          { op: 'replace', path: '/description', value: 'new' },
          { op: 'test', path: '/stale', value: true },
        ],
        409,
      ],
      ['GET', `${FLAGS}/said`, undefined, '200 description="x"'],
    ],
  ]),
  ...onPage('docs/unleash-compatibility.md', [
    ['deleting the project `default`', ['DELETE', '/projects/default', undefined, 409]],
    [
      'an unknown project or environment',
      ['GET', '/projects/none/features', undefined, 404],
      ['POST', `${FLAGS}/said/environments/none/on`, undefined, 404],
    ],
    ['with an id that is no number | 400 | 404', ['GET', '/segments/people', undefined, 404]],
    [
      '400; one is made where `id` is missing',
      ['POST', '/projects', { id: ' ', name: 'Blank' }, 400],
      ['POST', '/projects', { id: '', name: 'Blank' }, 400],
      ['POST', '/projects', { name: 'Missing' }, '201 id="missing"'],
    ],
    [
      'takes `archived` and `variants` | ignores them',
      create({ name: 'ignored', archived: true, variants: [even('a')] }, '201 archived=false'),
      ['GET', `${FLAGS}/ignored`, undefined, '200 variants=null'],
    ],
    [
      '`DELETE /archive/:featureName` of others does nothing',
      ['DELETE', '/archive/ignored', undefined, 409],
      ['POST', '/projects/default/delete', { features: ['ignored'] }, 409],
    ],
    [
      'with [`replaceGroupId`]',
      [
        'POST',
        `${FLAGS}/ignored${DEV}/strategies`,
        { name: 'flexibleRollout', parameters: { groupId: 'ignored' } },
        200,
      ],
      ['POST', `${FLAGS}/ignored/clone`, { name: 'ignored.2' }, 201],
      ['GET', `${FLAGS}/ignored.2${DEV}/strategies`, undefined, '200 0.parameters.groupId="ignored"'],
    ],
    [
      'ignores an impossible `status` or `sortOrder`',
      ['GET', '/search/features?status=on', undefined, 400],
      ['GET', '/search/features?sortOrder=up', undefined, 400],
    ],
    [
      '`flexibleRollout` alone',
      ['POST', `/projects/default${DEV}/default-strategy`, { name: 'default', parameters: {} }, 200],
    ],
    [
      'admin tokens make none',
      ['POST', '/api-tokens', { tokenName: 'made', type: 'admin' }, '201 type="admin"'],
    ],
    [
      'may be for all environments (`*`)',
      ['POST', '/api-tokens', { tokenName: 'all', type: 'client', environment: '*' }, 400],
    ],
    ['responds without `rootRole`', ['PUT', '/user-admin/2', { name: 'Held' }, '200 rootRole=5']],
    [
      'a flag twice is a 409',
      [
        'POST',
        '/features-batch/import',
        {
          project: 'default',
          environment: 'development',
          data: { features: [{ name: 'twice' }, { name: 'twice' }], featureStrategies: [] },
        },
        400,
      ],
    ],
  ]),
];
