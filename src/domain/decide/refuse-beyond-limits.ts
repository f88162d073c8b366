/** All that a decision is held to before it is accepted: compares the state with the one after it, which nobody has seen yet. */
import { misnamed } from '../flags/project-rules.ts';
import { type Excess, findExcess, refuseLargeFlag } from '../growth/refuse-growth.ts';
import { refuseBeyondMemory, refuseLargeDocuments } from '../growth/refuse-state.ts';
import type { PatchOperation } from '../json/json-patch.ts';
import type { DecideContext } from '../state/decision.ts';
import type { DomainEvent } from '../state/events.ts';
import type { FlagRecord } from '../state/flag-record.ts';
import { invalid, invalidOperation, type Refusal } from '../state/refusal.ts';
import type { ProjectSettings, ProjectState, World } from '../state/world.ts';
import { patchedValueRefusal } from './guards.ts';

/** The part of a command that says where its request has what. */
interface Asked {
  readonly type: string;
  readonly operations?: readonly PatchOperation[];
  /** The part of the body that is at fault for all. */
  readonly faultPath?: string;
}

export function refuseBeyondLimits(
  [world, after]: readonly [before: World, after: World],
  command: Asked,
  events: readonly DomainEvent[],
  { limits, memoryBudgetBytes, clockMs }: DecideContext,
): Refusal | null {
  const flags = changedFlags(world, after, events);
  for (const [was, is] of flags) {
    const excess = findExcess(after, was?.flag ?? null, is, limits);
    if (excess !== null) return excessRefusal(command, excess);
  }
  const refusal = refuseByProjectRules(world, after, command, events);
  if (refusal !== null) return refusal;
  for (const [was, is] of flags) {
    const large = refuseLargeFlag(after, was, is);
    if (large !== null) return large;
  }
  return refuseLargeDocuments(world, after, clockMs) ?? refuseBeyondMemory(world, after, memoryBudgetBytes);
}

/** Flags that the events make or change, before and after. A parent has the names of its children. */
function changedFlags(
  before: World,
  after: World,
  events: readonly DomainEvent[],
): (readonly [FlagRecord | null, FlagRecord])[] {
  const names = new Set<string>();
  for (const { type, featureName, data } of events) {
    if (featureName !== null) names.add(featureName);
    if (type === 'feature-dependency-added') names.add(data.feature);
  }
  const flags: (readonly [FlagRecord | null, FlagRecord])[] = [];
  for (const name of names) {
    const [was, is] = [recordOf(before, name), recordOf(after, name)];
    if (is !== null && is.flag !== was?.flag) flags.push([was, is]);
  }
  return flags;
}

function recordOf({ flagProjects, projects }: World, name: string): FlagRecord | null {
  const project = flagProjects.get(name);
  return (project === undefined ? null : projects.get(project)?.flags.get(name)) ?? null;
}

/** Commands whose body is what their event holds. */
const SENT_AS_KEPT: ReadonlySet<string> = new Set([
  'create-flag',
  'update-flag',
  'add-strategy',
  'replace-strategy',
  'set-variants',
  'tag-flag',
]);

/** Names the part of the request, if the request has it: that of a clone or of a rollback does not. */
function excessRefusal({ type, operations, faultPath }: Asked, { message, at }: Excess): Refusal {
  if (operations !== undefined) return patchedValueRefusal(operations, at.split('/')[1] ?? '', message);
  if (faultPath !== undefined) return invalid(message, faultPath);
  return invalid(message, SENT_AS_KEPT.has(type) ? `/body${at}` : undefined);
}

// Holds a decision to the rules of its projects. It looks at what was decided, so that clones and imports are held as creations are.
// Names are held to the pattern when a flag is created: one that moves here or comes back from the archive keeps its name, because
// applications ask for it. Only growth of the number is refused: a project with more flags than its limit may lose some.

function refuseByProjectRules(
  before: World,
  after: World,
  { faultPath = '/body/name' }: Asked,
  events: readonly DomainEvent[],
): Refusal | null {
  let id: string | null = null;
  for (const event of events) {
    if (event.project === null || event.project === id) continue;
    id = event.project;
    const project = after.projects.get(id);
    if (project === undefined) continue;
    const refusal =
      refuseNames(project.settings, faultPath, events) ??
      refuseNumber(project, before.projects.get(project.settings.id)?.flags.activeCount ?? 0);
    if (refusal !== null) return refusal;
  }
  return null;
}

function refuseNames(
  { id, featureNaming }: ProjectSettings,
  faultPath: string,
  events: readonly DomainEvent[],
): Refusal | null {
  if (featureNaming === undefined) return null;
  const { pattern, example } = featureNaming;
  const names = events.flatMap((event) => (event.type === 'feature-created' ? [event.featureName] : []));
  const wrongNames = misnamed(featureNaming, names);
  if (wrongNames === null) {
    return invalidOperation(
      `The naming pattern of the project "${id}" takes too long for ${names.length} new flags. Import fewer flags at once, or make the pattern simpler.`,
    );
  }
  const [wrong] = wrongNames;
  if (wrong === undefined) return null;
  const such = example ? `, such as ${example}` : '';
  return invalid(
    `The name "${wrong}" does not match the naming pattern of the project "${id}", which is ${pattern}${such}.`,
    faultPath,
  );
}

function refuseNumber({ settings, flags }: ProjectState, countBefore: number): Refusal | null {
  const { id, featureLimit } = settings;
  const count = flags.activeCount;
  if (featureLimit === undefined || count <= featureLimit || count <= countBefore) return null;
  return invalidOperation(
    `The project "${id}" would have ${count} flags that are not archived; its limit is ${featureLimit}. Archive flags, or change the limit in its settings.`,
  );
}
