/**
 * The difference between what is there and what is desired, as steps to be taken one after the other. Rollbacks, copies
 * between environments and imports of flags take them as the events of one change (domain/decide/desired-events.ts), and a
 * migration takes them as calls of another server (addons/migration/plan.ts). For all of them the same holds:
 *
 * - What a flag is in an environment changes in one step, so nothing is switched off on the way that is on before and after.
 * - A step comes after those that it builds on, and names them: a step that is refused keeps back those and no others.
 * - What is as desired takes no step, so nothing is left to do once all steps have been taken.
 */
import { type Dependency, type Tag, tagKey } from '../flags/flag.ts';
import { jsonEqual } from '../json/json.ts';

/** The types of what is compared. A strategy names its segments by ids within one server, and by names between two. */
export interface Parts {
  readonly metadata: object;
  readonly strategy: object;
  readonly variant: object;
  readonly link: { readonly url: string };
  readonly item: Item;
}

/** Something beside flags, such as a segment. */
export interface Item {
  readonly kind: string;
  /** Unique within its kind. */
  readonly name: string;
  readonly value: unknown;
  /** Compared in place of the value. */
  readonly compared?: unknown;
  /** Whether it stays as it is where it is there. */
  readonly isFixed?: boolean;
  /** The subject of a step that it builds on. */
  readonly needs?: string;
}

export interface FlagEnvironmentOf<P extends Parts> {
  readonly enabled: boolean;
  readonly strategies: readonly P['strategy'][];
  readonly variants: readonly P['variant'][];
}

interface CurrentFlag<P extends Parts> {
  readonly archived: boolean;
  readonly flag: P['metadata'] & {
    readonly tags: readonly Tag[];
    readonly links: readonly P['link'][];
    readonly dependencies: readonly Dependency[];
  };
  /** Undefined where the flag was never touched: it is off there, without strategies and variants. */
  environment(name: string): FlagEnvironmentOf<P> | undefined;
}

export interface Current<P extends Parts> {
  item(wanted: P['item']): Pick<Item, 'value' | 'compared'> | undefined;
  flag(name: string): CurrentFlag<P> | undefined;
}

/** The desired parts of a flag in an environment. Null stays as it is. */
export interface DesiredEnvironment<P extends Parts> {
  readonly name: string;
  /** On only where there are strategies: without any, a flag that is on serves everybody. */
  readonly enabled: boolean | null;
  readonly strategies: readonly P['strategy'][];
  readonly variants: readonly P['variant'][] | null;
}

export interface DesiredList<T> {
  readonly items: readonly T[];
  /** Whether there are to be no others. */
  readonly isWhole: boolean;
}

type DesiredMetadata<P extends Parts> = {
  readonly [Field in keyof P['metadata']]?: P['metadata'][Field] | undefined;
};

/** A flag as it should become. Absent parts stay as they are. */
export interface DesiredFlag<P extends Parts> {
  readonly name: string;
  readonly project: string;
  /** An archived flag changes only where this is false. */
  readonly archived?: boolean;
  readonly metadata?: DesiredMetadata<P>;
  readonly environments?: readonly DesiredEnvironment<P>[];
  readonly tags?: DesiredList<Tag>;
  readonly links?: readonly P['link'][];
  readonly dependencies?: DesiredList<Dependency>;
}

export interface Desired<P extends Parts> {
  readonly items?: readonly P['item'][];
  readonly flags: readonly DesiredFlag<P>[];
  /** Items that come after the flags, so that the flags are not held to them. */
  readonly itemsAfterFlags?: readonly P['item'][];
}

export type PartOfEnvironment = 'strategies' | 'variants' | 'switch';

type ItemChange<P extends Parts> =
  | { readonly type: 'create'; readonly item: P['item'] }
  | { readonly type: 'change'; readonly item: P['item'] };

type FlagChange<P extends Parts> = Pick<DesiredFlag<P>, 'name' | 'project'> &
  (
    | { readonly type: 'create-flag'; readonly metadata: DesiredMetadata<P> }
    | { readonly type: 'revive-flag' }
    | { readonly type: 'set-metadata'; readonly metadata: DesiredMetadata<P> }
    | {
        readonly type: 'set-environment';
        readonly environment: string;
        readonly before: FlagEnvironmentOf<P>;
        readonly after: FlagEnvironmentOf<P>;
        readonly changes: readonly PartOfEnvironment[];
      }
    | { readonly type: 'add-tag'; readonly tag: Tag }
    | { readonly type: 'remove-tag'; readonly tag: Tag }
    | { readonly type: 'add-link'; readonly link: P['link'] }
    | { readonly type: 'remove-parent'; readonly before: Dependency }
    | { readonly type: 'set-parent'; readonly before: Dependency | undefined; readonly after: Dependency }
    | { readonly type: 'archive-flag' }
  );

interface Position {
  /** The thing that the step makes or changes, such as `flag checkout in production`. */
  readonly subject: string;
  /** The subject that it builds on; its own where there is none. */
  readonly needs: string;
}

export type FlagStep<P extends Parts> = FlagChange<P> & Position;
export type Step<P extends Parts> = (ItemChange<P> & Position) | FlagStep<P>;

export function difference<P extends Parts>(current: Current<P>, desired: Desired<P>): Step<P>[] {
  const { items = [], flags, itemsAfterFlags = [] } = desired;
  const pairs = flags
    .map((wanted): Pair<P> => ({ wanted, now: current.flag(wanted.name) }))
    .filter(({ wanted, now }) => now?.archived !== true || wanted.archived === false);
  return [
    ...items.flatMap((item) => itemSteps(current, item)),
    ...pairs.flatMap(ownSteps),
    // All of them before any is added: a parent can have no parent.
    ...pairs.flatMap(removedParents),
    ...pairs.flatMap(setParents),
    ...pairs.flatMap(({ wanted, now }): Step<P>[] =>
      wanted.archived === true && now?.archived !== true ? [{ ...about(wanted), type: 'archive-flag' }] : [],
    ),
    ...itemsAfterFlags.flatMap((item) => itemSteps(current, item)),
  ];
}

export const subjectOf = ({ kind, name }: Pick<Item, 'kind' | 'name'>): string => `${kind} ${name}`;

function itemSteps<P extends Parts>(current: Current<P>, item: P['item']): Step<P>[] {
  const subject = subjectOf(item);
  const { needs = subject, compared = item.value } = item;
  const now = current.item(item);
  if (now === undefined) return [{ type: 'create', item, subject, needs }];
  if (item.isFixed === true || jsonEqual(now.compared ?? now.value, compared)) return [];
  return [{ type: 'change', item, subject, needs }];
}

interface Pair<P extends Parts> {
  readonly wanted: DesiredFlag<P>;
  readonly now: CurrentFlag<P> | undefined;
}

type Named = Pick<DesiredFlag<Parts>, 'name' | 'project'>;

/** The part of a step that says what it is about: the flag, or a part of it. */
function about({ name, project }: Named, part = '') {
  const flag = subjectOf({ kind: 'flag', name });
  return { name, project, subject: `${flag}${part}`, needs: flag };
}

/** The steps about the flag alone. */
function ownSteps<P extends Parts>({ wanted, now }: Pair<P>): Step<P>[] {
  const { metadata = {}, environments = [], links = [] } = wanted;
  const steps: Step<P>[] = [];
  if (now === undefined) {
    steps.push({ ...about(wanted), type: 'create-flag', metadata, needs: `project ${wanted.project}` });
  } else {
    if (now.archived) steps.push({ ...about(wanted), type: 'revive-flag' });
    if (!hasAll(now.flag, metadata))
      steps.push({ ...about(wanted, ': metadata'), type: 'set-metadata', metadata });
  }
  for (const one of environments) steps.push(...environmentSteps(wanted, one, now?.environment(one.name)));
  const tags = changesIn(now?.flag.tags, wanted.tags, tagKey);
  for (const tag of tags.gone) steps.push({ ...aboutTag(wanted, tag), type: 'remove-tag' });
  for (const { before, after } of tags.wanted)
    if (before === undefined) steps.push({ ...aboutTag(wanted, after), type: 'add-tag' });
  const linked = new Set(now?.flag.links.map(({ url }) => url));
  for (const link of links)
    if (!linked.has(link.url)) steps.push({ ...about(wanted, `: ${link.url}`), type: 'add-link', link });
  return steps;
}

const aboutTag = (wanted: Named, tag: Tag) => ({
  ...about(wanted, `: tag ${tag.type}:${tag.value}`),
  tag,
});

/** Whether `now` has all that is wanted; fields that are undefined are not. */
const hasAll = (now: object, wanted: object): boolean =>
  Object.entries(wanted).every(
    ([field, value]) =>
      value === undefined || jsonEqual((now as Readonly<Record<string, unknown>>)[field], value),
  );

const UNTOUCHED = { enabled: false, strategies: [], variants: [] } as const;

function environmentSteps<P extends Parts>(
  wanted: DesiredFlag<P>,
  { name: environment, enabled, strategies, variants }: DesiredEnvironment<P>,
  before: FlagEnvironmentOf<P> = UNTOUCHED,
): Step<P>[] {
  const after: FlagEnvironmentOf<P> = {
    enabled: (enabled ?? before.enabled) && strategies.length > 0,
    strategies,
    variants: variants ?? before.variants,
  };
  const changes: PartOfEnvironment[] = [];
  if (!jsonEqual(before.strategies, after.strategies)) changes.push('strategies');
  if (!jsonEqual(before.variants, after.variants)) changes.push('variants');
  if (before.enabled !== after.enabled) changes.push('switch');
  if (changes.length === 0) return [];
  return [
    { ...about(wanted, ` in ${environment}`), type: 'set-environment', environment, before, after, changes },
  ];
}

function removedParents<P extends Parts>({ wanted, now }: Pair<P>): Step<P>[] {
  const { gone } = changesIn(now?.flag.dependencies, wanted.dependencies, ({ feature }) => feature);
  return gone.map((before) => ({ ...aboutParent(wanted, before), type: 'remove-parent', before }));
}

/** After all flags are there, because a parent must be. */
function setParents<P extends Parts>({ wanted, now }: Pair<P>): Step<P>[] {
  return changesIn(now?.flag.dependencies, wanted.dependencies, ({ feature }) => feature)
    .wanted.filter(({ before, after }) => !jsonEqual(before, after))
    .map((change) => ({ ...aboutParent(wanted, change.after), type: 'set-parent', ...change }));
}

const aboutParent = (wanted: Named, { feature }: Dependency) => about(wanted, `: parent ${feature}`);

interface ListChanges<T> {
  readonly gone: readonly T[];
  /** All that is wanted, each with what is there by the same key. */
  readonly wanted: readonly { readonly before: T | undefined; readonly after: T }[];
}

/** The last counts, of several that are wanted by one key. */
function changesIn<T>(
  now: readonly T[] = [],
  desired: DesiredList<T> = { items: [], isWhole: false },
  keyOf: (item: T) => string,
): ListChanges<T> {
  const has = new Map(now.map((item) => [keyOf(item), item]));
  const wanted = new Map(desired.items.map((item) => [keyOf(item), item]));
  return {
    gone: desired.isWhole ? now.filter((item) => !wanted.has(keyOf(item))) : [],
    wanted: [...wanted].map(([key, after]) => ({ before: has.get(key), after })),
  };
}
