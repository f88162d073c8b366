/** Differences of random states, taken step by step by a model that refuses whatever a server would. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Current,
  type Desired,
  difference,
  type FlagEnvironmentOf,
  type Parts,
  positionOf,
  type Step,
  subjectOf,
} from '../../../src/domain/desired/difference.ts';
import type { Dependency, Tag } from '../../../src/domain/flags/flag.ts';
import { jsonEqual } from '../../../src/domain/json/json.ts';

interface Model extends Parts {
  readonly metadata: { readonly description: string; readonly stale: boolean };
  readonly strategy: { readonly title: string };
  readonly variant: { readonly variant: string };
  readonly item: { kind: string; name: string; value: number; isFixed?: boolean; needs?: string };
}

type ModelEnvironment = FlagEnvironmentOf<Model>;

interface ModelFlag {
  readonly archived: boolean;
  readonly description: string;
  readonly stale: boolean;
  readonly tags: readonly Tag[];
  readonly links: readonly { readonly url: string }[];
  readonly dependencies: readonly Dependency[];
  readonly environments: Readonly<Record<string, ModelEnvironment>>;
}

interface ModelState {
  readonly items: Readonly<Record<string, number>>;
  readonly flags: Readonly<Record<string, ModelFlag>>;
}

const UNTOUCHED: ModelEnvironment = { enabled: false, strategies: [], variants: [] };

const currentOf = ({ items, flags }: ModelState): Current<Model> => ({
  item(item) {
    const value = items[subjectOf(item)];
    return value === undefined ? undefined : { value };
  },
  flag(name) {
    const flag = flags[name];
    if (flag === undefined) return undefined;
    return { flag, archived: flag.archived, environment: (at) => flag.environments[at] };
  },
});

/** The state after the step, which is refused where something that it builds on is not there. */
function taken(state: ModelState, step: Step<Model>): ModelState {
  if (step.type === 'create' || step.type === 'change') {
    const { item } = step;
    const subject = subjectOf(item);
    assert.equal(
      subject in state.items,
      step.type === 'change',
      'what is made is new, what is changed is there',
    );
    assert(item.needs === undefined || item.needs in state.items, `${subject} comes after ${item.needs}`);
    return { ...state, items: { ...state.items, [subject]: item.value } };
  }
  const { name, project } = step;
  const flag = state.flags[name];
  const withFlag = (changed: Partial<ModelFlag>): ModelState => ({
    ...state,
    flags: { ...state.flags, [name]: { ...(flag ?? NEW_FLAG), ...changed } },
  });
  if (step.type === 'create-flag') {
    assert(flag === undefined && `project ${project}` in state.items, `${name} is made once, in its project`);
    return withFlag(defined(step.metadata));
  }
  assert(flag !== undefined, `the flag ${name} is there`);
  assert.equal(
    flag.archived,
    step.type === 'revive-flag',
    'an archived flag takes no step but to be revived',
  );
  switch (step.type) {
    case 'revive-flag':
      return withFlag({ archived: false });
    case 'set-metadata':
      return withFlag(defined(step.metadata));
    case 'set-environment': {
      const { environment, before, after } = step;
      assert.deepEqual(
        flag.environments[environment] ?? UNTOUCHED,
        before,
        'a step begins where the flag is',
      );
      assert(!after.enabled || after.strategies.length > 0, 'nothing is on without strategies');
      return withFlag({ environments: { ...flag.environments, [environment]: after } });
    }
    case 'add-tag':
      return withFlag({ tags: [...flag.tags, step.tag] });
    case 'remove-tag':
      return withFlag({ tags: flag.tags.filter(({ value }) => value !== step.tag.value) });
    case 'add-link':
      return withFlag({ links: [...flag.links, step.link] });
    case 'remove-parent':
      return withFlag({
        dependencies: flag.dependencies.filter(({ feature }) => feature !== step.before.feature),
      });
    case 'set-parent': {
      const { feature } = step.after;
      assert.deepEqual(
        state.flags[feature]?.dependencies,
        [],
        `the parent ${feature} is there and has no parent`,
      );
      const isParent = Object.values(state.flags).some((one) =>
        one.dependencies.some((parent) => parent.feature === name),
      );
      assert(!isParent, `no flag depends on the child ${name}`);
      return withFlag({
        dependencies: [...flag.dependencies.filter((one) => one.feature !== feature), step.after],
      });
    }
    case 'archive-flag':
      return withFlag({ archived: true });
  }
}

/** The fields that are not left out. */
const defined = (fields: object): Partial<ModelFlag> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const NEW_FLAG: ModelFlag = {
  archived: false,
  description: '',
  stale: false,
  tags: [],
  links: [],
  dependencies: [],
  environments: {},
};

const FLAGS = ['a', 'b', 'c'] as const;
const ENVIRONMENTS = ['development', 'production'] as const;

const metadata = fc.record({ description: fc.constantFrom('', 'old', 'new'), stale: fc.boolean() });
const strategies = fc.array(fc.record({ title: fc.constantFrom('s1', 's2', 's3') }), { maxLength: 3 });
const variants = fc.array(fc.record({ variant: fc.constantFrom('v1', 'v2') }), { maxLength: 2 });
const tags = fc.subarray(['t1', 't2', 't3'].map((value) => ({ type: 'simple', value })));
const links = fc.subarray(['https://one', 'https://two'].map((url) => ({ url })));
const environment = fc
  .record({ enabled: fc.boolean(), strategies, variants })
  .map((one): ModelEnvironment => ({ ...one, enabled: one.enabled && one.strategies.length > 0 }));

const featureOf = ({ feature }: Dependency): string => feature;

/** Some flags are parents, and others depend on them. */
const dependencies = fc
  .record({
    parents: fc.subarray([...FLAGS]),
    chosen: fc.array(fc.constantFrom(...FLAGS), { maxLength: 4 }),
    enabled: fc.boolean(),
  })
  .map(({ parents, chosen, enabled }) => (name: string): Dependency[] => {
    if (parents.some((one) => one === name)) return [];
    const features = parents.filter((parent) => chosen.includes(parent));
    return features.map((feature) => ({ feature, enabled, variants: [] }));
  });

const currentFlag = fc.option(
  fc.record({
    metadata,
    tags,
    links,
    environments: fc.dictionary(fc.constantFrom(...ENVIRONMENTS), environment, { maxKeys: 2 }),
    archived: fc.boolean(),
  }),
  { nil: null },
);

const item = fc.constantFrom('segment', 'context field', 'tag type').chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    name: fc.constantFrom('x', 'y'),
    value: fc.nat(3),
    isFixed: fc.boolean(),
  }),
);
const differentItems = fc.uniqueArray(item, { selector: subjectOf, maxLength: 4 });

const state = fc
  .record({ items: differentItems, flags: fc.tuple(currentFlag, currentFlag, currentFlag), dependencies })
  .map(({ items, flags, dependencies: parentsOf }): ModelState => {
    const there = flags.flatMap((flag, at) => (flag === null ? [] : [[FLAGS[at] ?? '', flag] as const]));
    const active = there.filter(([, { archived }]) => !archived).map(([name]): string => name);
    return {
      items: Object.fromEntries(items.map((one) => [subjectOf(one), one.value])),
      flags: Object.fromEntries(
        there.map(([name, { metadata: known, ...flag }]) => {
          const parents = parentsOf(name).filter(({ feature }) => active.includes(feature));
          return [name, { ...flag, ...known, dependencies: flag.archived ? [] : parents }];
        }),
      ),
    };
  });

/** The desired state of all flags, so that the parents of each are known. */
const desired = fc
  .record({
    items: differentItems,
    late: fc.nat(3),
    dependencies,
    flags: fc.tuple(
      ...FLAGS.map(() =>
        fc.record({
          archived: fc.option(fc.boolean(), { nil: null }),
          metadata: fc.record(
            { description: fc.constantFrom('', 'new'), stale: fc.boolean() },
            { requiredKeys: [] },
          ),
          environments: fc.uniqueArray(
            fc.record({
              name: fc.constantFrom(...ENVIRONMENTS),
              enabled: fc.option(fc.boolean(), { nil: null }),
              strategies,
              variants: fc.option(variants, { nil: null }),
            }),
            { selector: ({ name }) => name },
          ),
          tags: fc.option(tags, { nil: null }),
          isWhole: fc.boolean(),
          links,
        }),
      ),
    ),
  })
  .map(({ items, late, dependencies: parentsOf, flags }): Desired<Model> => {
    const parents = new Map(FLAGS.map((name) => [name, parentsOf(name)]));
    const related = [...parents].flatMap(([name, list]) =>
      list.length === 0 ? [] : [name, ...list.map(featureOf)],
    );
    return {
      items: [
        { kind: 'project', name: 'p', value: 0 },
        ...items.map((one) => ({ ...one, needs: 'project p' })),
      ],
      itemsAfterFlags: [{ kind: 'rule', name: 'p', value: late, needs: 'project p' }],
      flags: FLAGS.map((name, at) => {
        const { archived, tags: wantedTags, isWhole, ...flag } = flags[at]!;
        return {
          ...flag,
          ...{ name, project: 'p', dependencies: { items: parents.get(name) ?? [], isWhole: true } },
          ...(wantedTags === null ? {} : { tags: { items: wantedTags, isWhole } }),
          ...(related.includes(name) ? { archived: false } : archived === null ? {} : { archived }),
        };
      }),
    };
  });

const outcomeOf = (from: ModelState, steps: readonly Step<Model>[]): ModelState => steps.reduce(taken, from);

describe('the difference of two states', () => {
  it('leads from the one to the other, and is empty then', () => {
    fc.assert(
      fc.property(state, desired, (from, wanted) => {
        const steps = difference(currentOf(from), wanted);
        const changed = steps.filter(({ type }) => type === 'set-environment').map(positionOf);
        const places = new Set(changed.map(({ subject }) => subject));
        assert.equal(places.size, changed.length, 'a flag changes in an environment in one step');
        const to = outcomeOf(from, steps);
        assert.deepEqual(difference(currentOf(to), wanted), []);
        for (const flag of wanted.flags) {
          const before = from.flags[flag.name];
          if (before?.archived && flag.archived !== false) assert.equal(to.flags[flag.name], before);
          else assertAsDesired(to.flags[flag.name], flag);
        }
      }),
    );
  });

  it('keeps back what builds on a refused step, and nothing else', () => {
    fc.assert(
      fc.property(
        state,
        desired,
        fc.array(fc.nat(3), { minLength: 64, maxLength: 64 }),
        (from, all, dice) => {
          const wanted = { ...all, flags: all.flags.map((flag) => ({ ...flag, archived: false })) };
          const steps = difference(currentOf(from), wanted);
          const missing = new Set<string>();
          let to = from;
          for (const [at, step] of steps.entries()) {
            const isRefused = (dice[at] === 0 && step.type !== 'remove-parent') || lacksParent(to, step);
            const { subject, needs } = positionOf(step);
            if (isRefused || missing.has(subject) || missing.has(needs)) missing.add(subject);
            else to = taken(to, step);
          }
          const left = difference(currentOf(to), wanted).map((step) => positionOf(step).subject);
          assert.deepEqual(new Set(left), missing, 'what was not taken is what is left to do');
        },
      ),
    );
  });

  it('makes what is shared, then each flag, then what flags have with each other, and archives last', () => {
    const from: ModelState = {
      items: { 'segment x': 1, 'segment fixed': 1, 'project p': 0 },
      flags: {
        a: { ...NEW_FLAG, dependencies: [parent('b')], tags: [TAG], environments: { production: ON } },
        b: { ...NEW_FLAG, archived: true },
      },
    };
    const steps = difference(currentOf(from), {
      items: [
        { kind: 'segment', name: 'x', value: 2 },
        { kind: 'segment', name: 'fixed', value: 2, isFixed: true },
        { kind: 'segment', name: 'y', value: 1 },
      ],
      flags: [
        {
          ...A_IN_PRODUCTION,
          metadata: { stale: true },
          tags: { items: [], isWhole: true },
          dependencies: NONE,
        },
        { name: 'b', project: 'p', archived: false, dependencies: { items: [parent('c')], isWhole: true } },
        { name: 'c', project: 'p', links: [{ url: 'https://one' }] },
        { name: 'd', project: 'p', archived: true },
      ],
    });
    assert.deepEqual(
      steps.map((step) => `${step.type} ${positionOf(step).subject}`),
      [
        'change segment x',
        'create segment y',
        'set-metadata flag a: metadata',
        'set-environment flag a in production',
        'remove-tag flag a: tag ["simple","t1"]',
        'revive-flag flag b',
        'create-flag flag c',
        'add-link flag c: link https://one',
        'create-flag flag d',
        'remove-parent flag a: parent b',
        'set-parent flag b: parent c',
        'archive-flag flag d',
      ],
    );
  });
});

const TAG = { type: 'simple', value: 't1' };
const NONE = { items: [], isWhole: true };
const ON: ModelEnvironment = { enabled: true, strategies: [{ title: 's1' }], variants: [] };
const A_IN_PRODUCTION = {
  name: 'a',
  project: 'p',
  environments: [{ name: 'production', enabled: null, strategies: [{ title: 's2' }], variants: null }],
};
const parent = (feature: string): Dependency => ({ feature, enabled: true, variants: [] });

/** A server refuses it, as it refuses a step that was drawn. */
function lacksParent({ flags }: ModelState, step: Step<Model>): boolean {
  return step.type === 'set-parent' && flags[step.after.feature]?.archived !== false;
}

function assertAsDesired(flag: ModelFlag | undefined, wanted: Desired<Model>['flags'][number]): void {
  assert(flag !== undefined, `the flag ${wanted.name} is there`);
  assert.equal(flag.archived, wanted.archived ?? false);
  assert.deepEqual({ ...flag, ...defined(wanted.metadata ?? {}) }, flag);
  for (const { name, enabled, strategies: rules, variants: split } of wanted.environments ?? []) {
    const now: ModelEnvironment = flag.environments[name] ?? UNTOUCHED;
    assert(jsonEqual(now.strategies, rules));
    if (split !== null) assert(jsonEqual(now.variants, split));
    if (enabled !== null) assert.equal(now.enabled, enabled && rules.length > 0);
  }
  const values = flag.tags.map(({ value }) => value);
  const { items = [], isWhole = false } = wanted.tags ?? {};
  assert(items.every(({ value }) => values.includes(value)));
  if (isWhole) assert.equal(values.length, items.length);
  assert(wanted.links?.every(({ url }) => flag.links.some((link) => link.url === url)));
  assert.deepEqual(
    new Map(flag.dependencies.map((one) => [one.feature, one])),
    new Map(wanted.dependencies?.items.map((one) => [one.feature, one])),
  );
}
