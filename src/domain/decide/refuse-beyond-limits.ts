/** All that a decision is held to before anything of it is applied. */
import { misnamed } from '../flags/project-rules.ts';
import { findOutgrowth, type Outgrowth } from '../growth/refuse-growth.ts';
import { refuseBeyondMemory } from '../growth/refuse-memory.ts';
import { refuseBeyondServed } from '../growth/refuse-served.ts';
import type { PatchOperation } from '../json/json-patch.ts';
import type { DecideContext } from '../state/decision.ts';
import { eventRow } from '../state/event-types.ts';
import type { DomainEvent } from '../state/events.ts';
import { invalid, invalidOperation, type Refusal } from '../state/refusal.ts';
import type { ProjectSettings, ProjectState, World } from '../state/world.ts';
import { patchedValueRefusal } from './guards.ts';

/** The part of a command that says where its request has what. */
interface Asked {
  readonly type: string;
  readonly operations?: readonly PatchOperation[];
}

export function refuseBeyondLimits(
  world: World,
  command: Asked,
  events: readonly DomainEvent[],
  { limits, memoryBudgetBytes, clockMs }: DecideContext,
): Refusal | null {
  const outgrowth = findOutgrowth(world, events, limits);
  if (outgrowth !== null) return outgrowthRefusal(command, outgrowth);
  return (
    refuseByProjectRules(world, command, events) ??
    refuseBeyondServed(world, events, clockMs) ??
    refuseBeyondMemory(world, events, memoryBudgetBytes)
  );
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
function outgrowthRefusal({ type, operations }: Asked, { message, at }: Outgrowth): Refusal {
  if (operations !== undefined) return patchedValueRefusal(operations, at.split('/')[1] ?? '', message);
  if (type === 'import-flags') return invalid(message, '/body/data');
  return invalid(message, SENT_AS_KEPT.has(type) ? `/body${at}` : undefined);
}

// Holds a decision to the rules of its projects. It looks at the decided events, so that clones and imports are held as creations are.
// Names are held to the pattern when a flag is created: one that moves here or comes back from the archive keeps its name, because
// applications ask for it. Only growth of the number is refused: a project with more flags than its limit may lose some.

function refuseByProjectRules(world: World, { type }: Asked, events: readonly DomainEvent[]): Refusal | null {
  const grown = events.find((event) => changeBy(event) > 0);
  const project = grown?.project == null ? undefined : world.projects.get(grown.project);
  if (project === undefined) return null;
  return refuseNames(project.settings, type, events) ?? refuseNumber(project, events);
}

function refuseNames(
  { id, featureNaming }: ProjectSettings,
  commandType: string,
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
    commandType === 'import-flags' ? '/body/data' : '/body/name',
  );
}

function refuseNumber({ settings, flags }: ProjectState, events: readonly DomainEvent[]): Refusal | null {
  const { id, featureLimit } = settings;
  if (featureLimit === undefined) return null;
  const change = events.reduce((sum, event) => sum + (event.project === id ? changeBy(event) : 0), 0);
  const after = flags.activeCount + change;
  if (change <= 0 || after <= featureLimit) return null;
  return invalidOperation(
    `The project "${id}" would have ${after} flags that are not archived; its limit is ${featureLimit}. Archive flags, or change the limit in its settings.`,
  );
}

/** A flag that moves arrives with the event that holds it. */
function changeBy(event: DomainEvent): number {
  if (event.type === 'feature-project-change') return event.hidden === undefined ? -1 : 1;
  return eventRow(event.type).flags ?? 0;
}
