/** Fillings of flags and of what belongs to them. */
import { environmentPath, FEATURES } from '../../support/interface.ts';
import {
  all,
  type Filling,
  flagsOf,
  makeFlag,
  many,
  untilRefused,
  values,
  withStrategies,
} from './filling.ts';

const payloadOf = (value: string, bytes: number): object => ({
  variants: [
    {
      name: 'v',
      weight: 1_000,
      weightType: 'variable',
      stickiness: 'default',
      payload: { type: 'string', value: value.repeat(bytes) },
    },
  ],
});

/** Variants of characters that take six bytes where they are served, or three. */
const hostileVariants = (length: number): object[] =>
  many(50, (index) => ({
    name: `${'\u0002'.repeat(10)}${index}`,
    weight: 20,
    weightType: 'variable',
    stickiness: 'default',
    payload:
      index % 2 === 0
        ? { type: 'string', value: '\u0001'.repeat(length) }
        : { type: 'json', value: JSON.stringify('€'.repeat(2 * length)) },
    overrides: many(2, () => ({ contextName: 'userId', values: [] })),
  }));

/** A name as long as one may be, but for those that the reads name. */
const longName = (index: number): string => (index < 2 ? `flag-${index}` : `flag-${index}-`.padEnd(100, 'n'));

/** Flags that one import may have, with 20 parents each; and as many of whose variants one must be. */
const CHILDREN_AT_ONCE = 50;
const CHILDREN_BY_VARIANT_AT_ONCE = 10;

/** Children of the same parents, whose names a parent has room for. */
const CHILDREN_EACH = 1_000;

/** Children of 20 parents each, made by imports: one request for each of 20 parents would take an hour. */
const childrenOf = (name: string, atOnce: number, variants: readonly string[]): Filling => ({
  name,
  fill: async (call) => {
    const parentOf = (group: number, index: number): string =>
      group === 0 && index === 0 ? 'flag-1' : `parent-${group}-${index}`.padEnd(100, 'p');
    const childOf = (at: number): string => (at === 0 ? 'flag-0' : `child-${at}-`.padEnd(100, 'c'));
    await untilRefused(
      10_000,
      (batch) => {
        const group = Math.floor((batch * atOnce) / CHILDREN_EACH);
        const parents = many(20, (index) => parentOf(group, index));
        const children = many(atOnce, (index) => childOf(batch * atOnce + index));
        const dependencies = children.map((feature) => ({
          feature,
          dependencies: parents.map((parent) => ({ feature: parent, enabled: true, variants })),
        }));
        const isFirst = (batch * atOnce) % CHILDREN_EACH === 0;
        const features = [...(isFirst ? parents : []), ...children].map((one) => ({ name: one }));
        return call('POST', '/features-batch/import', {
          project: 'default',
          environment: 'development',
          data: { features, dependencies },
        });
      },
      1,
    );
  },
  changes: [
    ['DELETE', `${FEATURES}/flag-0/dependencies`],
    ['DELETE', `${FEATURES}/flag-1`],
  ],
});

export const FILLINGS_OF_FLAGS: readonly Filling[] = [
  flagsOf('payloads of control characters', [payloadOf('\u0001', 10_000), payloadOf('\u0001', 10_000)]),
  flagsOf('payloads of three bytes a character', [payloadOf('€', 20_000), payloadOf('€', 20_000)]),
  flagsOf('empty lists', [
    { parameters: Object.fromEntries(many(3, (list) => [`list-${list}`, many(7_000, () => [])])) },
  ]),
  flagsOf(
    'strategies of many keys',
    many(30, () => ({ parameters: Object.fromEntries(many(100, (index) => [`key-${index}`, `${index}`])) })),
  ),
  flagsOf(
    'constraints of many values',
    many(10, () => ({ constraints: [{ contextName: 'userId', operator: 'IN', values: values(250, 40) }] })),
  ),
  flagsOf(
    'titles of strategies',
    many(20, () => ({ title: '\u0001'.repeat(1_000) })),
  ),
  flagsOf('variants of strategies', [{ variants: hostileVariants(100) }, { variants: hostileVariants(100) }]),
  {
    name: 'variants of flags',
    fill: async (call) => {
      await untilRefused(100_000, async (index) => {
        const made = await makeFlag(call, index);
        if (made.status >= 300) return made;
        return call('PUT', `${FEATURES}/flag-${index}/variants`, hostileVariants(80));
      });
    },
    changes: [
      ['PUT', `${environmentPath('flag-0')}/variants`, hostileVariants(100)],
      ['PUT', `${FEATURES}/flag-0/variants`, []],
    ],
  },
  {
    name: 'inlined segments',
    fill: async (call) => {
      await untilRefused(300, (index) =>
        call('POST', '/segments', {
          name: `segment-${index}`,
          constraints: [{ contextName: 'userId', operator: 'IN', values: values(250, 60) }],
        }),
      );
      const { body } = await call('GET', '/segments');
      const ids: number[] = body.segments.map(({ id }: { readonly id: number }) => id);
      await untilRefused(100_000, (index) =>
        withStrategies(call, index, [{ segments: many(5, (at) => ids[(index * 5 + at) % ids.length]) }]),
      );
    },
  },
  {
    name: 'long descriptions',
    fill: async (call) => {
      await untilRefused(100_000, (index) => makeFlag(call, index, { description: '\u0002'.repeat(9_900) }));
    },
  },
  {
    name: 'flags without anything',
    fill: async (call) => {
      await untilRefused(1_000_000, (index) => makeFlag(call, index));
    },
  },
  {
    name: 'links of flags, by templates',
    fill: async (call) => {
      const hostile = { title: '\u0001'.repeat(255), urlTemplate: 'https://t.example/{{feature}}' };
      const long = { title: '€'.repeat(255), urlTemplate: `https://t.example/${'€'.repeat(700)}` };
      await all(1, () =>
        call('PUT', '/projects/default/settings', {
          linkTemplates: many(20, (index) => (index % 2 === 0 ? hostile : long)),
        }),
      );
      await untilRefused(100_000, (index) => makeFlag(call, index, { name: longName(index) }));
    },
    changes: [
      ['POST', `${FEATURES}/flag-0/link`, { url: 'https://t.example/one-more' }],
      ['PUT', '/projects/default/settings', { linkTemplates: null }],
    ],
  },
  childrenOf('parents', CHILDREN_AT_ONCE, []),
  childrenOf(
    'parents of whose variants one must be',
    CHILDREN_BY_VARIANT_AT_ONCE,
    many(5, (index) => `${index}`.padEnd(100, '\u0001')),
  ),
  {
    name: 'tags',
    fill: async (call) => {
      await untilRefused(1_000, (index) =>
        call('POST', '/tag-types', { name: `type-${index}`, description: 'd'.repeat(200) }),
      );
      await all(1_000, (index) =>
        makeFlag(call, index, { tags: many(50, (tag) => ({ type: 'simple', value: `tag-${tag}` })) }),
      );
    },
    changes: [
      [
        'PUT',
        '/projects/default/tags',
        {
          features: many(500, (index) => `flag-${index}`),
          tags: { addedTags: [], removedTags: [{ type: 'simple', value: 'tag-1' }] },
        },
      ],
    ],
  },
];
