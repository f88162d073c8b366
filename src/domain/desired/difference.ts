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

type ItemStep<P extends Parts> =
  | { readonly type: 'create'; readonly item: P['item'] }
  | { readonly type: 'change'; readonly item: P['item'] };

export type FlagStep<P extends Parts> = Pick<DesiredFlag<P>, 'name' | 'project'> &
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

export type Step<P extends Parts> = ItemStep<P> | FlagStep<P>;

export function difference<P extends Parts>(current: Current<P>, desired: Desired<P>): Step<P>[] {
  const { items = [], flags, itemsAfterFlags = [] } = desired;
  const steps: Step<P>[] = [];
  for (const item of items) addItem(steps, current, item);
  const pairs: Pair<P>[] = [];
  for (const wanted of flags) {
    const now = current.flag(wanted.name);
    if (now?.archived !== true || wanted.archived === false) pairs.push({ wanted, now });
  }
  for (const pair of pairs) addFlag(steps, pair);
  // All of them before any is added: a parent can have no parent.
  for (const pair of pairs) removeParents(steps, pair);
  for (const pair of pairs) setParents(steps, pair);
  for (const { wanted, now } of pairs)
    if (wanted.archived === true && now?.archived !== true)
      steps.push({ type: 'archive-flag', name: wanted.name, project: wanted.project });
  for (const item of itemsAfterFlags) addItem(steps, current, item);
  return steps;
}

function addItem<P extends Parts>(steps: Step<P>[], current: Current<P>, item: P['item']): void {
  const now = current.item(item);
  const { compared = item.value } = item;
  if (now === undefined) steps.push({ type: 'create', item });
  else if (item.isFixed !== true && !jsonEqual(now.compared ?? now.value, compared))
    steps.push({ type: 'change', item });
}

interface Pair<P extends Parts> {
  readonly wanted: DesiredFlag<P>;
  readonly now: CurrentFlag<P> | undefined;
}

/** The steps about the flag alone. */
function addFlag<P extends Parts>(steps: Step<P>[], { wanted, now }: Pair<P>): void {
  const { name, project, metadata = {}, environments = [], links = [] } = wanted;
  if (now === undefined) steps.push({ type: 'create-flag', name, project, metadata });
  else {
    if (now.archived) steps.push({ type: 'revive-flag', name, project });
    if (!hasAll(now.flag, metadata)) steps.push({ type: 'set-metadata', name, project, metadata });
  }
  for (const one of environments) addEnvironment(steps, wanted, one, now?.environment(one.name));
  const tags = changesIn(now?.flag.tags, wanted.tags, tagKey);
  for (const tag of tags.gone) steps.push({ type: 'remove-tag', name, project, tag });
  for (const { before, after: tag } of tags.wanted)
    if (before === undefined) steps.push({ type: 'add-tag', name, project, tag });
  for (const link of links)
    if (now === undefined || now.flag.links.every(({ url }) => url !== link.url))
      steps.push({ type: 'add-link', name, project, link });
}

/** Whether `now` has all that is wanted; fields that are undefined are not. */
function hasAll(now: object, wanted: object): boolean {
  for (const [field, value] of Object.entries(wanted)) {
    if (value !== undefined && !jsonEqual((now as Readonly<Record<string, unknown>>)[field], value))
      return false;
  }
  return true;
}

const UNTOUCHED = { enabled: false, strategies: [], variants: [] } as const;

function addEnvironment<P extends Parts>(
  steps: Step<P>[],
  { name, project }: DesiredFlag<P>,
  wanted: DesiredEnvironment<P>,
  before: FlagEnvironmentOf<P> = UNTOUCHED,
): void {
  const { name: environment, strategies } = wanted;
  const enabled = (wanted.enabled ?? before.enabled) && strategies.length > 0;
  const variants = wanted.variants ?? before.variants;
  const changes: PartOfEnvironment[] = [];
  if (!jsonEqual(before.strategies, strategies)) changes.push('strategies');
  if (!jsonEqual(before.variants, variants)) changes.push('variants');
  if (before.enabled !== enabled) changes.push('switch');
  if (changes.length === 0) return;
  const after = { enabled, strategies, variants };
  steps.push({ type: 'set-environment', name, project, environment, before, after, changes });
}

function removeParents<P extends Parts>(steps: Step<P>[], { wanted, now }: Pair<P>): void {
  const { name, project } = wanted;
  const { gone } = changesIn(now?.flag.dependencies, wanted.dependencies, parentOf);
  for (const before of gone) steps.push({ type: 'remove-parent', name, project, before });
}

/** After all flags are there, because a parent must be. */
function setParents<P extends Parts>(steps: Step<P>[], { wanted, now }: Pair<P>): void {
  const { name, project } = wanted;
  for (const { before, after } of changesIn(now?.flag.dependencies, wanted.dependencies, parentOf).wanted)
    if (!jsonEqual(before, after)) steps.push({ type: 'set-parent', name, project, before, after });
}

const parentOf = ({ feature }: Dependency): string => feature;

interface ListChanges<T> {
  readonly gone: readonly T[];
  /** All that is wanted, each with what is there by the same key. */
  readonly wanted: readonly { readonly before: T | undefined; readonly after: T }[];
}

const NO_CHANGES = { gone: [], wanted: [] } as const;

/** The last counts, of several that are wanted by one key. */
function changesIn<T>(
  now: readonly T[] = [],
  desired: DesiredList<T> | undefined,
  keyOf: (item: T) => string,
): ListChanges<T> {
  if (desired === undefined || jsonEqual(now, desired.items)) return NO_CHANGES;
  const has = new Map(now.map((item) => [keyOf(item), item]));
  const wanted = new Map(desired.items.map((item) => [keyOf(item), item]));
  return {
    gone: desired.isWhole ? now.filter((item) => !wanted.has(keyOf(item))) : [],
    wanted: [...wanted].map(([key, after]) => ({ before: has.get(key), after })),
  };
}

/** The thing that a step makes or changes, such as `flag checkout in production`, and the one that it builds on. */
export interface Position {
  readonly subject: string;
  /** The subject itself where the step builds on nothing else. */
  readonly needs: string;
}

export function positionOf<P extends Parts>(step: Step<P>): Position {
  if (step.type === 'create' || step.type === 'change') {
    const subject = subjectOf(step.item);
    return { subject, needs: step.item.needs ?? subject };
  }
  const flag = `flag ${step.name}`;
  if (step.type === 'create-flag') return { subject: flag, needs: `project ${step.project}` };
  return { subject: `${flag}${partOf(step)}`, needs: flag };
}

export const subjectOf = ({ kind, name }: Pick<Item, 'kind' | 'name'>): string => `${kind} ${name}`;

/** The part of the flag that the step is about, apart from which the flag may be changed; empty for the flag as a whole. */
function partOf<P extends Parts>(step: FlagStep<P>): string {
  switch (step.type) {
    case 'set-metadata':
      return ': metadata';
    case 'set-environment':
      return ` in ${step.environment}`;
    case 'add-tag':
    case 'remove-tag':
      return `: tag ${tagKey(step.tag)}`;
    case 'add-link':
      return `: link ${step.link.url}`;
    case 'remove-parent':
      return `: parent ${step.before.feature}`;
    case 'set-parent':
      return `: parent ${step.after.feature}`;
    default:
      return '';
  }
}
