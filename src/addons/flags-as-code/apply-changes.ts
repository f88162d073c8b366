/**
 * The decision that carries out changes of a project's flags as one change. Each says what its part was, and nothing happens where
 * one of them is something else by now: whoever planned it has not seen that.
 */
import { archiveFlags } from '../../domain/decide/archive-commands.ts';
import { copiesOf } from '../../domain/decide/copy-strategies-command.ts';
import { desiredEvents, type Here } from '../../domain/decide/desired-events.ts';
import type { DesiredFlag } from '../../domain/desired/difference.ts';
import { environmentsOf, type Flag } from '../../domain/flags/flag.ts';
import type { Link } from '../../domain/flags/link.ts';
import type { MetadataInput } from '../../domain/flags/metadata.ts';
import { createStrategy, type StrategyInput } from '../../domain/flags/strategy.ts';
import { grouped } from '../../domain/json/grouped.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../../domain/state/decision.ts';
import { inProject } from '../../domain/state/events.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import { locateProject } from '../../domain/state/locate.ts';
import { invalid, invalidOperation, isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';
import {
  IMPORT_EVENTS_MAX,
  type ImportFlags,
  importIssues,
  usableSegments,
} from '../transfer/import-issues.ts';
import { asRefusal, refuseManyParents } from '../transfer/transfer-commands.ts';
import { type Change, type FileStrategy, partOf, type ShownFlag } from './flag-file.ts';

export interface ApplyChanges {
  readonly project: string;
  readonly changes: readonly Change[];
}

/** The flag with every field that a file can have. Archived, it is on nowhere. */
export function shownFlag(
  { directory: { segments } }: World,
  { settings }: Pick<ProjectState, 'settings'>,
  { flag, revision }: Pick<FlagRecord, 'flag' | 'revision'>,
): ShownFlag {
  const isArchived = flag.archivedAt !== null;
  const inEnvironment = environmentsOf(flag);
  const { name, description, type, stale, impressionData, links, tags, dependencies } = flag;
  return {
    ...{ name, revision, presence: isArchived ? 'archived' : 'active' },
    ...{ description, type, stale, impressionData, tags, dependencies },
    links: links.map(({ url, title }) => ({ url, title })),
    environments: settings.environments.map((environment) => {
      const { enabled, strategies, variants } = inEnvironment(environment);
      return {
        name: environment,
        enabled: enabled && !isArchived,
        strategies: strategies.map(({ id: _, sortOrder: __, ...one }) => ({
          ...one,
          segments: one.segments.map((id) => segments.get(id)?.name ?? String(id)),
        })) as unknown as FileStrategy[],
        variants: variants as FileStrategy['variants'],
        ids: strategies.map(({ id }) => id),
      };
    }),
  };
}

export function applyChanges(world: World, command: ApplyChanges, context: DecideContext): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const refused = refuseOthers(world, project, command) ?? refuseIssues(world, project, command);
  if (refused !== null) return refused;
  const byFlag = grouped(command.changes, ({ flag }) => flag);
  const flags: DesiredFlag<Here>[] = [];
  const archived: string[] = [];
  const segments = usableSegments(world, command.project);
  for (const [name, changes] of byFlag) {
    if (changes.some(({ field, after }) => field === 'presence' && after === 'archived')) archived.push(name);
    else flags.push(desiredFlag({ segments, project, context, name, changes }));
  }
  const empty = flags.flatMap(({ name, environments = [] }) =>
    environments.flatMap((one) =>
      one.enabled && one.strategies.length === 0 ? `"${name}" in ${one.name}` : [],
    ),
  );
  if (empty.length > 0)
    return invalidOperation(
      `A flag is on only with strategies, and these would have none: ${empty.join(', ')}.`,
    );
  const changed = desiredEvents(world, project, { flags }, context);
  if (isRefusal(changed)) return changed;
  const gone = archiveFlags(world, { project: command.project, flags: archived });
  if (isRefusal(gone)) return gone;
  const events = [...changed, ...gone];
  if (events.length === 0) return UNCHANGED;
  if (events.length >= IMPORT_EVENTS_MAX)
    return invalidOperation(
      `The changes would record ${events.length + 1} events; one call can record ${IMPORT_EVENTS_MAX}. Send fewer of them at once.`,
    );
  const data = { features: [...byFlag.keys()], events: events.length };
  return [...events, { type: 'features-applied', ...inProject(command.project), data, preData: null }];
}

/** The most parts that a refusal names. */
const PARTS_SHOWN = 20;

/**
 * The refusal of changes whose part is not what they say it was. A flag of which no change says whether it is there is active:
 * else changes of one that was deleted meanwhile would create it, where their parts were what a new one has.
 */
function refuseOthers(world: World, project: ProjectState, { changes }: ApplyChanges): Refusal | null {
  const shown = new Map<string, ShownFlag | undefined>();
  const details = new Map<string, { message: string; path: string }>();
  const withPresence = new Set(changes.flatMap(({ flag, field }) => (field === 'presence' ? flag : [])));
  for (const [at, change] of changes.entries()) {
    const { flag, environment, field, before } = change;
    if (environment !== null && !project.settings.environments.includes(environment))
      return invalid(
        `The project "${project.settings.id}" does not have the environment "${environment}".`,
        `/body/changes/${at}/environment`,
      );
    const record = project.flags.get(flag);
    if (!shown.has(flag)) shown.set(flag, record && shownFlag(world, project, record));
    const now = shown.get(flag);
    const isThere = withPresence.has(flag) || now?.presence === 'active';
    if (isThere && jsonEqual(partOf(now, change), before)) continue;
    const place = environment === null || !isThere ? '' : ` in ${environment}`;
    const what = field === 'presence' || !isThere ? 'whether it is there' : field;
    const message =
      field === 'presence' && before === 'absent'
        ? `There is a flag "${flag}" already.`
        : `The flag "${flag}"${place} was changed meanwhile: ${what}.`;
    details.set(message, { message, path: `/body/changes/${at}/before` });
    if (details.size === PARTS_SHOWN) break;
  }
  const [first] = details.keys();
  return first === undefined ? null : refuse('PreconditionFailedError', first, [...details.values()]);
}

/** The refusal that an import of the flags into one of the environments would get. */
function refuseIssues(world: World, project: ProjectState, command: ApplyChanges): Refusal | null {
  for (const environment of new Set(command.changes.map((one) => one.environment))) {
    const imported = asImport(command, environment);
    const { errors } = importIssues(world, project, imported);
    if (errors.length > 0) return asRefusal(errors, '/body/changes');
    const refusal = environment === null ? refuseManyParents(project, imported.flags) : null;
    if (refusal !== null) return refusal;
  }
  return null;
}

function asImport({ project, changes }: ApplyChanges, environment: string | null): ImportFlags {
  const here = changes.filter((one) => one.environment === environment);
  const lists = here.flatMap(({ field, after }) => (field === 'strategies' ? (after as FileStrategy[]) : []));
  const names = [...new Set(lists.flatMap(({ segments }) => segments))];
  return {
    ...{ project, environment: environment ?? '', records: [], strangers: [], archived: [] },
    segmentNames: new Map(names.map((name, id) => [id, name])),
    flags: [...grouped(here, ({ flag }) => flag)].map(([name, ofFlag]) => {
      const partFor = (field: string) => ofFlag.find((one) => one.field === field)?.after ?? [];
      return {
        ...{ name, metadata: {}, enabled: null, variants: null, tags: null },
        strategies: (partFor('strategies') as FileStrategy[]).map((one) => withNumbers(one, names)),
        dependencies: partFor('dependencies') as Flag['dependencies'],
      };
    }),
  };
}

const withNumbers = (strategy: FileStrategy, names: readonly string[]): StrategyInput => ({
  ...strategy,
  segments: strategy.segments.map((name) => names.indexOf(name)),
});

interface Wanted {
  /** Ids by names. */
  readonly segments: ReadonlyMap<string, number>;
  readonly project: ProjectState;
  readonly context: DecideContext;
  readonly name: string;
  /** All about this flag. */
  readonly changes: readonly Change[];
}

function desiredFlag(wanted: Wanted): DesiredFlag<Here> {
  const { project, name, changes, context } = wanted;
  const flag = project.flags.get(name)?.flag;
  const parts = Object.fromEntries(
    changes.flatMap(({ environment, field, after }) => (environment === null ? [[field, after]] : [])),
  ) as Partial<Omit<Flag, 'links'>> & {
    readonly presence?: unknown;
    readonly links?: readonly Omit<Link, 'id'>[];
  };
  const { presence, tags, dependencies, links, ...rest } = parts;
  const ids = new Map(flag?.links.map(({ url, id }) => [url, id]));
  const metadata: MetadataInput = {
    ...rest,
    ...(links && { links: links.map((one) => ({ id: ids.get(one.url) ?? context.newId(), ...one })) }),
  };
  const names = new Set(changes.flatMap(({ environment }) => environment ?? []));
  return {
    ...{ name, project: project.settings.id, metadata },
    ...(presence === 'active' && flag !== undefined ? { archived: false } : {}),
    environments: [...names].map((environment) => desiredEnvironment(wanted, flag, environment)),
    ...(tags && { tags: { items: tags, isWhole: true } }),
    ...(dependencies && { dependencies: { items: dependencies, isWhole: true } }),
  };
}

function desiredEnvironment({ segments, context, changes }: Wanted, flag: Flag | undefined, name: string) {
  const before = flag && environmentsOf(flag)(name);
  const isOn = before?.enabled === true && flag?.archivedAt === null;
  const here = changes.filter(({ environment }) => environment === name);
  const partFor = <T>(field: string, otherwise: T): T =>
    (here.find((one) => one.field === field)?.after as T | undefined) ?? otherwise;
  const present = before?.strategies ?? [];
  const sent = partFor<readonly FileStrategy[] | null>('strategies', null)?.map((one, at) => {
    const ids = one.segments.map((segment) => segments.get(segment) as number);
    return createStrategy({ ...one, segments: ids }, '', at);
  });
  return {
    name,
    enabled: partFor('enabled', isOn),
    strategies: sent === undefined ? present : copiesOf(sent, present, () => context.newId()),
    variants: partFor('variants', before?.variants ?? []),
  };
}
