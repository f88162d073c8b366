/**
 * Decisions that record an export of flags, and that carry out an import of such an export in another environment, project or
 * service (docs/specification/companions.md#export-and-import). An import is one change, made of ordinary events: all of it happens
 * or nothing. What is the same already is not recorded, so an import can be repeated.
 */

import { copiesOf } from '../../domain/decide/copy-strategies-command.ts';
import { PARENTS_PER_FLAG_MAX } from '../../domain/decide/dependency-commands.ts';
import { desiredEvents, type Here } from '../../domain/decide/desired-events.ts';
import type { CreateRecord } from '../../domain/decide/kind-commands.ts';
import type { DesiredFlag } from '../../domain/desired/difference.ts';
import { environmentOf } from '../../domain/flags/flag.ts';
import { bySortOrder } from '../../domain/flags/strategy.ts';
import { distributeWeights } from '../../domain/flags/variant.ts';
import { MANAGED_KIND_NAMES, managedKindOf } from '../../domain/kinds/kinds.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../../domain/state/decision.ts';
import { type DomainEvent, inProjectEnvironment, ofEnvironment } from '../../domain/state/events.ts';
import { locateProject, noEnvironment } from '../../domain/state/locate.ts';
import { invalid, invalidOperation, isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';
import {
  IMPORT_EVENTS_MAX,
  type ImportedFlag,
  type ImportFlags,
  type ImportIssue,
  importedStrategy,
  importIssues,
  segmentIds,
} from './import-issues.ts';

export interface ExportFlags {
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
  const wanted = command.flags.filter(
    ({ name }) => (project.flags.get(name)?.flag.archivedAt ?? null) === null,
  );
  const into = { project, command, newId: () => context.newId(), segments: segmentIds(world, command) };
  const events = desiredEvents(
    world,
    project,
    { items: command.records.map(desiredItem), flags: wanted.map((one) => desiredFlag(into, one)) },
    context,
  );
  if (isRefusal(events)) return events;
  const refusal = refuseManyShared(world, events) ?? refuseManyParents(project, wanted);
  if (refusal !== null) return refusal;
  if (events.length === 0) return UNCHANGED;
  if (events.length >= IMPORT_EVENTS_MAX)
    return invalidOperation(
      `The import would record ${events.length + 1} events; one can record ${IMPORT_EVENTS_MAX}. Import fewer flags at once.`,
    );
  const about = inProjectEnvironment(command.project, command.environment);
  const data = { features: wanted.map(({ name }) => name) };
  return [...events, { type: 'features-imported', ...about, data, preData: null }];
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

export function asRefusal(errors: readonly ImportIssue[], path = '/body/data'): Refusal {
  const details = errors.map(({ message, affectedItems }) => {
    const shown = affectedItems.slice(0, ITEMS_SHOWN).join(', ');
    const rest = affectedItems.length - ITEMS_SHOWN;
    return {
      message: `${message.slice(0, -1)}: ${shown}${rest > 0 ? ` and ${rest} more` : ''}.`,
      path,
    };
  });
  return refuse('ValidationError', details[0]?.message ?? '', details);
}

const desiredItem = ({ kind, fields }: CreateRecord): Here['item'] => ({
  ...{ kind, name: fields.name, value: fields, isFixed: true },
});

/** Each of them was decided as if it came alone. */
function refuseManyShared({ directory }: World, events: readonly DomainEvent[]): Refusal | null {
  for (const name of MANAGED_KIND_NAMES) {
    const { noun, countMax, events: types } = managedKindOf(name);
    const created = events.filter(({ type }) => type === types.created).length;
    if (directory[name].size + created > countMax)
      return invalidOperation(`There would be more than ${countMax} ${noun}s.`);
  }
  return null;
}

interface Into {
  readonly project: ProjectState;
  readonly command: ImportFlags;
  readonly newId: () => string;
  /** Ids here by those of the file. */
  readonly segments: ReadonlyMap<number, number>;
}

/** The flag as the file says. Dependencies that the file does not have stay, as its other environments may need them. */
function desiredFlag(into: Into, imported: ImportedFlag): DesiredFlag<Here> {
  const { name, metadata, tags, dependencies } = imported;
  return {
    name,
    project: into.command.project,
    metadata,
    environments: [desiredEnvironment(into, imported)],
    ...(tags === null ? {} : { tags: { items: tags, isWhole: true } }),
    dependencies: { items: dependencies, isWhole: false },
  };
}

/** On as the file says, also where all strategies are disabled: it is off for applications either way. */
function desiredEnvironment({ project, command, segments, newId }: Into, imported: ImportedFlag) {
  const { environment } = command;
  const flag = project.flags.get(imported.name)?.flag;
  const before = flag === undefined ? null : environmentOf(flag, environment);
  const strategies = imported.strategies
    .map((one, at) => importedStrategy(one, segments, at))
    .sort(bySortOrder);
  return {
    name: environment,
    enabled: imported.enabled,
    strategies: copiesOf(strategies, before?.strategies ?? [], newId),
    variants: distributeWeights(imported.variants ?? before?.variants ?? []),
  };
}

export function refuseManyParents({ flags }: ProjectState, wanted: readonly ImportedFlag[]): Refusal | null {
  for (const { name, dependencies } of wanted) {
    const before = flags.get(name)?.flag.dependencies ?? [];
    const { size } = new Set([...before, ...dependencies].map(({ feature }) => feature));
    if (size <= PARENTS_PER_FLAG_MAX) continue;
    return invalidOperation(
      `The flag "${name}" would have ${size} parents; a flag can have ${PARENTS_PER_FLAG_MAX}.`,
    );
  }
  return null;
}
