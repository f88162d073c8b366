/**
 * Faults that prevent an import of flags, and warnings about it (docs/specification/companions.md#export-and-import).
 * Issues are told together, each with the names that it is about, so that a file is mended once and not once for each fault.
 */

import { nameOfProject } from '../../domain/decide/guards.ts';
import type { CreateRecord } from '../../domain/decide/kind-commands.ts';
import type { Dependency, Flag, Tag } from '../../domain/flags/flag.ts';
import type { MetadataInput } from '../../domain/flags/metadata.ts';
import { misnamed } from '../../domain/flags/project-rules.ts';
import {
  createStrategy,
  type Strategy,
  type StrategyInput,
  strategyIssue,
} from '../../domain/flags/strategy.ts';
import type { Variant } from '../../domain/flags/variant.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import type { SentTo } from '../../domain/kinds/kinds.ts';
import { isPredefinedStrategyType } from '../../domain/kinds/strategy-type.ts';
import { findNamed } from '../../domain/state/directory-records.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';

/** Flags in one export, and so in one import. With `IMPORT_EVENTS_MAX` it keeps an import below 20 ms, which nothing interrupts. */
export const TRANSFER_FLAGS_MAX = 250;
/** Events that one import may record: 250 new flags with a strategy, a switch and a tag each. */
export const IMPORT_EVENTS_MAX = 1_200;

export interface ImportedFlag {
  readonly name: string;
  readonly metadata: MetadataInput;
  /** The state in the file's environment; null: the file does not say, so the flag keeps what it has. */
  readonly enabled: boolean | null;
  readonly variants: readonly Variant[] | null;
  /** With ids of segments as the file numbers them. */
  readonly strategies: readonly StrategyInput[];
  /** Null: the file does not say, so the flag keeps its own. */
  readonly tags: readonly Tag[] | null;
  readonly dependencies: readonly Dependency[];
}

export interface ImportFlags {
  readonly project: string;
  readonly environment: string;
  readonly flags: readonly ImportedFlag[];
  /** By the id that the file gives them: a segment is another number in each service. */
  readonly segmentNames: ReadonlyMap<number, string>;
  /** Made where they are missing; elsewhere they stay as they are, because flags of all projects share them. */
  readonly records: readonly CreateRecord[];
  /** Flags that parts of the file are about, and that are not among its flags. */
  readonly strangers: readonly string[];
  /** Flags that the file has as archived, and that are not among `flags`. */
  readonly archived: readonly string[];
}

export interface ImportIssue {
  readonly message: string;
  readonly affectedItems: readonly string[];
}

/** With errors nothing is imported. */
interface ImportIssues {
  readonly errors: readonly ImportIssue[];
  readonly warnings: readonly ImportIssue[];
}

export function importIssues(world: World, project: ProjectState, command: ImportFlags): ImportIssues {
  const { flags, environment } = command;
  const names = flags.map(({ name }) => name);
  const present = flagsHere(project, names);
  const kinds = [...new Set(flags.flatMap(({ strategies }) => strategies.map(({ name }) => name)))];
  const fields = command.records.flatMap((one) => (one.kind === 'contextFields' ? [one.fields] : []));
  const errors = [
    issue('The file has these flags more than once.', repeated(names)),
    issue('The file says something of these flags, and does not have them.', command.strangers),
    issue(
      'These flags exist already in other projects.',
      names
        .map((name) => [name, world.flagProjects.get(name)] as const)
        .filter(([, holder]) => holder !== undefined && holder !== command.project)
        .map(([name, holder]) => `${name} (in ${nameOfProject(world, holder!)})`),
    ),
    issue(
      'There are no strategy types of these names; define them at /strategies first.',
      kinds.filter((kind) => findNamed(world, 'strategyTypes', kind) === undefined),
    ),
    issue(
      'There are no segments of these names that strategies of the project may use.',
      missingSegments(world, command),
    ),
    issue('These strategies break a rule.', brokenStrategies(command)),
    issue(
      'The file gives these context fields legal values that they do not have here.',
      fields.filter((field) => lacksValues(world, field)).map(({ name }) => name),
    ),
    issue('These dependencies are impossible.', impossibleDependencies(project, command)),
  ];
  const warnings = [
    issue('The file has these flags as archived; they are left out.', command.archived),
    issue(
      'These flags are archived here and are left out.',
      present.filter(({ archivedAt }) => archivedAt !== null).map(({ name }) => name),
    ),
    issue(
      'These flags exist already. What they are in the environment is replaced, and so are their tags.',
      present.filter(({ archivedAt }) => archivedAt === null).map(({ name }) => name),
    ),
    issue(
      `The file has these flags on, so they will be on in the environment "${environment}".`,
      flags
        .filter(({ enabled, strategies }) => enabled === true && strategies.length > 0)
        .map(({ name }) => name),
    ),
    issue(
      'The file has these flags on and without strategies, so they will be off.',
      flags
        .filter(({ enabled, strategies }) => enabled === true && strategies.length === 0)
        .map(({ name }) => name),
    ),
    issue(
      'These strategy types are implemented by your applications; those that read this environment need them.',
      kinds.filter(
        (kind) => !isPredefinedStrategyType(kind) && findNamed(world, 'strategyTypes', kind) !== undefined,
      ),
    ),
    issue(
      'These context fields are different here, and stay as they are.',
      fields.filter((field) => differs(world, field) && !lacksValues(world, field)).map(({ name }) => name),
    ),
  ];
  return { errors: errors.flat(), warnings: warnings.flat() };
}

/** Errors for which the rules of the project refuse the import (refuse-beyond-limits.ts). */
export function ruleErrors({ settings, flags }: ProjectState, command: ImportFlags): readonly ImportIssue[] {
  const { id, featureNaming, featureLimit } = settings;
  const names = [...new Set(command.flags.map(({ name }) => name))].filter((name) => !flags.has(name));
  const after = flags.activeCount + names.length;
  const wrong = featureNaming === undefined ? [] : misnamed(featureNaming, names);
  return [
    ...(wrong === null
      ? [{ message: 'The naming pattern takes too long for so many new flags.', affectedItems: names }]
      : issue(
          `New flags must match the naming pattern of the project "${id}", which is ${featureNaming?.pattern}. These do not.`,
          wrong.toSorted(),
        )),
    ...(featureLimit === undefined || names.length === 0 || after <= featureLimit
      ? []
      : [
          {
            message: `The project "${id}" would have ${after} flags that are not archived; its limit is ${featureLimit}.`,
            affectedItems: [],
          },
        ]),
  ];
}

const issue = (message: string, affectedItems: readonly string[]): readonly ImportIssue[] =>
  affectedItems.length === 0 ? [] : [{ message, affectedItems: [...new Set(affectedItems)] }];

function flagsHere(project: ProjectState, names: readonly string[]): readonly Flag[] {
  return names.flatMap((name) => project.flags.get(name)?.flag ?? []);
}

function repeated(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names) (seen.has(name) ? twice : seen).add(name);
  return [...twice];
}

/** Ids of the segments here, by the ids of the file; those that are missing have none. */
export function segmentIds(world: World, command: ImportFlags): ReadonlyMap<number, number> {
  const byName = usableSegments(world, command.project);
  return new Map(
    [...command.segmentNames].flatMap(([id, name]) => {
      const here = byName.get(name);
      return here === undefined ? [] : [[id, here] as const];
    }),
  );
}

/** Ids of the segments that strategies of the project may use, by name. */
export function usableSegments({ directory }: World, id: string): ReadonlyMap<string, number> {
  const usable = [...directory.segments.values()].filter(({ project }) => project === null || project === id);
  return new Map(usable.map((one) => [one.name, one.id]));
}

function missingSegments(world: World, command: ImportFlags): readonly string[] {
  const known = segmentIds(world, command);
  const used = new Set(
    command.flags.flatMap(({ strategies }) => strategies.flatMap(({ segments }) => segments)),
  );
  return [...used]
    .filter((id) => !known.has(id))
    .map((id) => command.segmentNames.get(id) ?? `${id}, of which the file has no name`);
}

function brokenStrategies({ flags }: ImportFlags): readonly string[] {
  return flags.flatMap(({ name, strategies }) =>
    strategies.flatMap((one) => {
      const found = strategyIssue(createStrategy(one, '', 0), null);
      return found === null ? [] : [`${name}: ${found.message}`];
    }),
  );
}

/** Parents are in the same project, not archived, and have no parents themselves (docs/specification/users.md#dependencies). */
function impossibleDependencies(project: ProjectState, { flags }: ImportFlags): readonly string[] {
  const imported = new Map(flags.map((flag) => [flag.name, flag]));
  const isChild = (name: string): boolean =>
    (imported.get(name)?.dependencies.length ?? 0) > 0 ||
    (project.flags.get(name)?.flag.dependencies.length ?? 0) > 0;
  const parents = new Set(flags.flatMap((flag) => flag.dependencies.map(({ feature }) => feature)));
  const isParent = (name: string): boolean =>
    parents.has(name) || (project.flags.get(name)?.flag.children.length ?? 0) > 0;
  return flags.flatMap(({ name, dependencies }) =>
    dependencies.flatMap(({ feature }) => {
      const here = project.flags.get(feature)?.flag;
      if (here === undefined && !imported.has(feature)) return [`${name}: there is no flag ${feature}`];
      if (here !== undefined && here.archivedAt !== null) return [`${name}: the flag ${feature} is archived`];
      if (isChild(feature)) return [`${name}: the flag ${feature} has a parent of its own`];
      return isParent(name) ? [`${name}: other flags depend on it`] : [];
    }),
  );
}

function differs(world: World, { name, legalValues }: SentTo<'contextFields'>): boolean {
  const here = findNamed(world, 'contextFields', name);
  return legalValues !== undefined && here !== undefined && !jsonEqual(here.legalValues, legalValues);
}

/** A field without legal values takes any. */
function lacksValues(world: World, { name, legalValues = [] }: SentTo<'contextFields'>): boolean {
  const here = findNamed(world, 'contextFields', name)?.legalValues ?? [];
  if (here.length === 0) return false;
  const known = new Set(here.map(({ value }) => value));
  return legalValues.some(({ value }) => !known.has(value));
}

/** The strategy as it will be, under an id of its own. */
export function importedStrategy(
  input: StrategyInput,
  segments: ReadonlyMap<number, number>,
  at: number,
): Strategy {
  const strategy = createStrategy(input, '', at);
  return { ...strategy, segments: strategy.segments.map((id) => segments.get(id) ?? id) };
}
