/**
 * Decisions that record an export of flags, and that carry out an import of such an export in another environment, project or
 * service (docs/specification/companions.md#export-and-import). An import is one change, made of ordinary events: all of it happens
 * or nothing. What is the same already is not recorded, so an import can be repeated.
 */
import { environmentOf, type Flag, type FlagEnvironment, flagDataOf, flagOf, tagKey } from '../flags/flag.ts';
import { INITIAL_METADATA, withMetadata } from '../flags/metadata.ts';
import { bySortOrder } from '../flags/strategy.ts';
import { distributeWeights } from '../flags/variant.ts';
import { jsonEqual } from '../json/json.ts';
import { NAMED_KINDS } from '../kinds/kinds.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { findNamed } from '../state/directory-records.ts';
import {
  aboutFlag,
  aboutFlagEnvironment,
  type DomainEvent,
  inProjectEnvironment,
  ofEnvironment,
} from '../state/events.ts';
import { locateProject, noEnvironment } from '../state/locate.ts';
import { invalid, invalidOperation, isRefusal, type Refusal, refuse } from '../state/refusal.ts';
import type { ProjectState, World } from '../state/world.ts';
import { copiesOf } from './copy-strategies-command.ts';
import { dependencyRemoved, PARENTS_PER_FLAG_MAX } from './dependency-commands.ts';
import { metadataEvents } from './flag-commands.ts';
import {
  IMPORT_EVENTS_MAX,
  type ImportedFlag,
  type ImportFlags,
  type ImportIssue,
  importedStrategy,
  importIssues,
  segmentIds,
} from './import-issues.ts';
import { createNamed } from './kind-commands.ts';
import { environmentChanges, tagChanges } from './rollback-command.ts';

export interface ExportFlags {
  readonly type: 'export-flags';
  readonly environment: string;
  /** Names of those that were found. */
  readonly flags: readonly string[];
}

/** Changes nothing of the state: the event tells who took what with them. */
export function exportFlags(world: World, { environment, flags }: ExportFlags): Decision {
  if (world.directory.environments.every(({ name }) => name !== environment))
    return invalid(noEnvironment(world, environment), '/body/environment');
  return [
    { type: 'features-exported', ...ofEnvironment(environment), data: { features: flags }, preData: null },
  ];
}

export function importFlags(world: World, command: ImportFlags, context: DecideContext): Decision {
  const project = locateImport(world, command);
  if (isRefusal(project)) return project;
  const { errors } = importIssues(world, project, command);
  if (errors.length > 0) return asRefusal(errors);
  const shared = sharedEvents(world, command, context);
  if (isRefusal(shared)) return shared;
  const wanted = command.flags.filter(
    ({ name }) => (project.flags.get(name)?.flag.archivedAt ?? null) === null,
  );
  const events = [...shared];
  const segments = segmentIds(world, command);
  for (const one of wanted) {
    const decision = flagEvents({ world, project, context, segments, command }, one);
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  for (const one of wanted) {
    const decision = dependencyEvents(project, one, command.project);
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  if (events.length === 0) return UNCHANGED;
  if (events.length >= IMPORT_EVENTS_MAX)
    return invalidOperation(
      `The import would record ${events.length + 1} events; one can record ${IMPORT_EVENTS_MAX}. Import fewer flags at once.`,
    );
  const data = { features: wanted.map(({ name }) => name) };
  const { environment } = command;
  events.push({
    type: 'features-imported',
    ...inProjectEnvironment(command.project, environment),
    data,
    preData: null,
  });
  return events;
}

/** The project that flags are imported to; the body names both. */
export function locateImport(
  world: World,
  { project: id, environment }: Pick<ImportFlags, 'project' | 'environment'>,
): ProjectState | Refusal {
  const project = locateProject(world, id);
  if (isRefusal(project)) return invalid(project.message, '/body/project');
  if (project.settings.environments.includes(environment)) return project;
  const isKnown = world.directory.environments.some(({ name }) => name === environment);
  const message = isKnown
    ? `The project "${id}" does not have the environment "${environment}".`
    : noEnvironment(world, environment);
  return invalid(message, '/body/environment');
}

/** Names of one kind that a refusal repeats. */
const ITEMS_SHOWN = 20;

function asRefusal(errors: readonly ImportIssue[]): Refusal {
  const details = errors.map(({ message, affectedItems }) => {
    const shown = affectedItems.slice(0, ITEMS_SHOWN).join(', ');
    const rest = affectedItems.length - ITEMS_SHOWN;
    return {
      message: `${message.slice(0, -1)}: ${shown}${rest > 0 ? ` and ${rest} more` : ''}.`,
      path: '/body/data',
    };
  });
  return refuse('ValidationError', details[0]?.message ?? '', details);
}

/** Creates the missing things that flags of all projects share, and changes none that exist. */
function sharedEvents(world: World, command: ImportFlags, context: DecideContext): DomainEvent[] | Refusal {
  const events: DomainEvent[] = [];
  const missing = [
    ...command.tagTypes
      .filter(({ name }) => findNamed(world, 'tagTypes', name) === undefined)
      .map((one) => createNamed(world, { type: 'create-named', kind: 'tagTypes', ...one }, context)),
    ...command.contextFields
      .filter(({ name }) => findNamed(world, 'contextFields', name) === undefined)
      .map((one) => createNamed(world, { type: 'create-named', kind: 'contextFields', ...one }, context)),
  ];
  for (const decision of missing) {
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return refuseManyShared(world, events) ?? events;
}

/** Each of them was decided as if it came alone. */
function refuseManyShared({ directory }: World, events: readonly DomainEvent[]): Refusal | null {
  for (const name of ['tagTypes', 'contextFields'] as const) {
    const { noun, countMax, events: types } = NAMED_KINDS[name];
    const created = events.filter(({ type }) => type === types.created).length;
    if (directory[name].size + created > countMax)
      return invalidOperation(`There would be more than ${countMax} ${noun}s.`);
  }
  return null;
}

interface Into {
  readonly world: World;
  readonly project: ProjectState;
  readonly command: ImportFlags;
  readonly context: DecideContext;
  /** Ids here by those of the file. */
  readonly segments: ReadonlyMap<number, number>;
}

function flagEvents(into: Into, imported: ImportedFlag): Decision {
  const { world, project } = into;
  const record = project.flags.get(imported.name);
  if (record === undefined) {
    const { flag, created } = newFlag(into, imported);
    const parts = partEvents(flag, into, imported);
    return isRefusal(parts) ? parts : [created, ...parts];
  }
  const metadata = metadataEvents(world, { project, record }, imported.metadata);
  if (isRefusal(metadata)) return metadata;
  const parts = partEvents(record.flag, into, imported);
  return isRefusal(parts) ? parts : [...metadata, ...parts];
}

function newFlag({ command, context }: Into, { name, metadata }: ImportedFlag) {
  const identity = { name, project: command.project, createdAt: context.now };
  const data = flagDataOf({
    identity,
    metadata: withMetadata(INITIAL_METADATA, metadata),
    variants: [],
    archived: false,
  });
  const created: DomainEvent = {
    type: 'feature-created',
    ...aboutFlag(data),
    data,
    preData: null,
    hidden: { createdBy: context.actor.userId },
  };
  const parts = { archivedAt: null, environments: [], tags: [], dependencies: [], children: [] };
  const flag: Flag = flagOf({ ...identity, ...parts }, data, []);
  return { flag, created };
}

/** Strategies, the switch and the variants in the environment, and tags. */
function partEvents(flag: Flag, { command, context, segments }: Into, imported: ImportedFlag): Decision {
  const before = environmentOf(flag, command.environment);
  const strategies = imported.strategies
    .map((one, at) => importedStrategy(one, segments, at))
    .sort(bySortOrder);
  const after: FlagEnvironment = {
    name: before.name,
    enabled: (imported.enabled ?? before.enabled) && strategies.length > 0,
    strategies: copiesOf(strategies, before.strategies, () => context.newId()),
    variants: distributeWeights(imported.variants ?? before.variants),
  };
  const tags =
    imported.tags === null
      ? flag.tags
      : [...new Map(imported.tags.map((tag) => [tagKey(tag), tag])).values()];
  return [
    // As the file says, also where all strategies are disabled: it is off for applications either way.
    ...environmentChanges(flag, after, after.enabled),
    ...variantChange(flag, before, after),
    ...tagChanges(flag, { tags }),
  ];
}

function variantChange(flag: Flag, before: FlagEnvironment, after: FlagEnvironment): DomainEvent[] {
  if (jsonEqual(before.variants, after.variants)) return [];
  return [
    {
      type: 'feature-environment-variants-updated',
      ...aboutFlagEnvironment(flag, after.name),
      data: { variants: after.variants },
      preData: { variants: before.variants },
    },
  ];
}

/** Adds and changes dependencies. Those that the file does not have stay, as its other environments may need them. */
function dependencyEvents(project: ProjectState, imported: ImportedFlag, projectId: string): Decision {
  const { name } = imported;
  const before = project.flags.get(name)?.flag.dependencies ?? [];
  const events: DomainEvent[] = [];
  const wanted = new Map(imported.dependencies.map((one) => [one.feature, one]));
  for (const data of wanted.values()) {
    const same = before.find(({ feature }) => feature === data.feature);
    if (same !== undefined && jsonEqual(same, data)) continue;
    const flag = { name, project: projectId };
    if (same !== undefined) events.push(dependencyRemoved(flag, same));
    events.push({ type: 'feature-dependency-added', ...aboutFlag(flag), data, preData: null });
  }
  const all = new Set([...before.map(({ feature }) => feature), ...wanted.keys()]);
  return all.size <= PARENTS_PER_FLAG_MAX
    ? events
    : invalidOperation(
        `The flag "${name}" would have ${all.size} parents; a flag can have ${PARENTS_PER_FLAG_MAX}.`,
      );
}
