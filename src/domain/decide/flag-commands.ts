/** Decisions that create, update, patch and clone a flag (docs/specification/flags.md). */
import { type Flag, type FlagData, flagData, flagDataOf, flagVariants, type Tag } from '../flags/flag.ts';
import type { CompletionData } from '../flags/lifecycle.ts';
import { LINKS_MAX, type Link } from '../flags/link.ts';
import {
  INITIAL_METADATA,
  type MetadataInput,
  patchedMetadata,
  sameMetadata,
  withClonedMetadata,
  withMetadata,
} from '../flags/metadata.ts';
import { linksFrom } from '../flags/project-rules.ts';
import { isJsonObject, type JsonValue, jsonEqual } from '../json/json.ts';
import { applyPatch, type PatchOperation } from '../json/json-patch.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { aboutFlag, type DomainEvent, newEvent } from '../state/events.ts';
import type { FlagRecord } from '../state/flag-record.ts';
import { firstEnvironment, type LocatedFlag, locateFlag, locateProject } from '../state/locate.ts';
import { invalid, invalidOperation, isRefusal, notFound, type Refusal } from '../state/refusal.ts';
import type { ProjectState, World } from '../state/world.ts';
import {
  type NamesFlag,
  patchedValueRefusal,
  patchRefusal,
  refuseArchived,
  refuseTakenName,
  unlessArchived,
} from './guards.ts';
import { strategyAdded } from './strategy-commands.ts';
import { differentTags, tagged } from './tag-commands.ts';

interface CreateFlag {
  readonly project: string;
  readonly name: string;
  readonly metadata: MetadataInput;
  readonly tags?: readonly Tag[];
}

export function createFlag(world: World, command: CreateFlag, context: DecideContext): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const taken = refuseTakenName(world, command.name);
  if (taken !== null) return taken;
  const data = flagDataOf({
    identity: { name: command.name, project: command.project, createdAt: context.now },
    metadata: withMetadata(withTemplates(INITIAL_METADATA, project, command.name, context), command.metadata),
    variants: [],
    archived: false,
  });
  return [
    flagCreated(data, createdIn(context)),
    ...differentTags(command.tags ?? []).map((tag) => tagged(data, tag)),
  ];
}

interface UpdateFlag extends NamesFlag {
  /** The name in the body, which must equal the flag's. */
  readonly name?: string | undefined;
  readonly metadata: MetadataInput;
}

export function updateFlag(world: World, command: UpdateFlag): Decision {
  const located = locateFlag(world, command.project, command.flag);
  if (located.refused) return located;
  if (command.name !== undefined && command.name !== command.flag) {
    return invalid(renamingIssue(command.flag, command.name), '/body/name');
  }
  return refuseArchived(located.record.flag) ?? metadataEvents(world, located, command.metadata);
}

interface PatchFlag extends NamesFlag {
  readonly operations: readonly PatchOperation[];
}

export function patchFlag(world: World, command: PatchFlag): Decision {
  const located = unlessArchived(locateFlag(world, command.project, command.flag));
  if (located.refused) return located;
  const before = dataOf(world, located);
  const patched = applyPatch(before as unknown as JsonValue, command.operations);
  if (!patched.ok) return patchRefusal(patched);
  const metadata = metadataOfPatched(before, patched.document);
  if (!metadata.ok) return patchedValueRefusal(command.operations, metadata.field, metadata.message);
  return metadataEvents(world, located, metadata.value);
}

type CheckedPatch =
  | { readonly ok: true; readonly value: MetadataInput }
  | { readonly ok: false; readonly field: string; readonly message: string };

/**
 * Checks a patched flag by the rules of an update. What cannot be changed is ignored
 * (docs/specification/flags.md#updating).
 */
function metadataOfPatched(before: FlagData, after: JsonValue): CheckedPatch {
  const invalidPatch = (field: string, message: string): CheckedPatch => ({ ok: false, field, message });
  if (!isJsonObject(after)) return invalidPatch('', 'The patch must leave the flag an object.');
  const { name, variants = null } = after;
  if (name !== before.name) return invalidPatch('name', renamingIssue(before.name, name));
  if (!jsonEqual(variants, before.variants)) {
    return invalidPatch('variants', 'Variants are changed at the path …/variants of the flag, not here.');
  }
  return patchedMetadata(before, after);
}

interface ChangeLink extends NamesFlag {
  /** Null: a new one is added. */
  readonly id: string | null;
  readonly link: Omit<Link, 'id'>;
}

/** A link is metadata, so it is recorded as a change of that. */
export function changeLink(world: World, command: ChangeLink, context: DecideContext): Decision {
  const { project, flag: name, id } = command;
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  const { links } = located.record.flag;
  const { url, title } = command.link;
  if (id !== null) {
    const at = links.findIndex((one) => one.id === id);
    if (at === -1) return noLink(name, id);
    return metadataEvents(world, located, { links: links.with(at, { id, url, title }) });
  }
  if (links.length >= LINKS_MAX) {
    return invalidOperation(`A flag can have at most ${LINKS_MAX} links.`);
  }
  return metadataEvents(world, located, { links: [...links, { id: context.newId(), url, title }] });
}

interface RemoveLink extends NamesFlag {
  readonly id: string;
}

export function removeLink(world: World, { project, flag: name, id }: RemoveLink): Decision {
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  const { links } = located.record.flag;
  const left = links.filter((one) => one.id !== id);
  return left.length === links.length ? noLink(name, id) : metadataEvents(world, located, { links: left });
}

export const noLink = (flag: string, id: string): Refusal =>
  notFound(`The flag "${flag}" has no link "${id}".`);

interface CloneFlag extends NamesFlag {
  readonly name: string;
  readonly replaceGroupId: boolean;
}

export function cloneFlag(world: World, command: CloneFlag, context: DecideContext): Decision {
  const located = locateFlag(world, command.project, command.flag);
  if (located.refused) return located;
  const source = located.record.flag;
  if (source.archivedAt !== null) {
    return invalidOperation(`The flag "${source.name}" is archived and cannot be cloned; revive it first.`);
  }
  const taken = refuseTakenName(world, command.name);
  if (taken !== null) return taken;
  const data: FlagData = {
    ...withTemplates(withClonedMetadata(dataOf(world, located)), located.project, command.name, context),
    name: command.name,
    createdAt: context.now,
  };
  const environments = source.environments
    .filter((flagEnvironment) => flagEnvironment.variants.length > 0)
    .map(({ name, variants }) => ({ name, variants }));
  return [
    flagCreated(data, { environments, ...createdIn(context) }),
    ...clonedStrategies(source, command, context),
  ];
}

/** A new flag gets the links of its project's templates, unless the request has links. */
const withTemplates = <T extends { readonly links: readonly Link[] }>(
  metadata: T,
  { settings }: ProjectState,
  name: string,
  { newId }: DecideContext,
): T => ({ ...metadata, links: linksFrom(settings, { project: settings.id, name }, newId) });

export const flagCreated = (
  data: FlagData,
  hidden: Extract<DomainEvent, { readonly type: 'feature-created' }>['hidden'],
): DomainEvent => ({
  type: 'feature-created',
  ...aboutFlag(data),
  data,
  preData: null,
  hidden: hidden ?? {},
});

const createdIn = ({ actor }: DecideContext) => ({ createdBy: actor.userId });

function clonedStrategies(source: Flag, command: CloneFlag, context: DecideContext): DomainEvent[] {
  const clone = { name: command.name, project: source.project };
  return source.environments.flatMap((flagEnvironment) =>
    flagEnvironment.strategies.map((strategy): DomainEvent => {
      const ownGroup = command.replaceGroupId && strategy.parameters?.['groupId'] === source.name;
      const parameters = ownGroup ? { ...strategy.parameters, groupId: command.name } : strategy.parameters;
      return strategyAdded(clone, flagEnvironment.name, { ...strategy, parameters, id: context.newId() });
    }),
  );
}

/** The events of a change of metadata; empty when nothing changes. */
export function metadataEvents(world: World, located: LocatedFlag, metadata: MetadataInput): Decision {
  const preData = dataOf(world, located);
  const data = withMetadata(preData, metadata);
  if (sameMetadata(data, preData)) return UNCHANGED;
  const updated = newEvent('feature-metadata-updated', aboutFlag(data), { data, preData });
  return data.stale === preData.stale ? [updated] : [updated, staleEvent(located.record.flag, data.stale)];
}

export function staleEvent(flag: Flag, stale: boolean): DomainEvent {
  return newEvent(stale ? 'feature-stale-on' : 'feature-stale-off', aboutFlag(flag));
}

/** The flag as events and responses show it. */
export function dataOf(
  world: World,
  { project, record }: { readonly project: ProjectState; readonly record: Pick<FlagRecord, 'flag'> },
): FlagData {
  return flagData(record.flag, flagVariants(record.flag, firstEnvironment(world, project)));
}

function renamingIssue(name: string, given: unknown): string {
  return `A flag cannot be renamed: the name in the request is ${JSON.stringify(given) ?? 'absent'}, the flag's is "${name}".`;
}

// Decisions that a flag has done what it was for, or has not (docs/specification/flags.md#lifecycle).

interface CompleteFlag extends NamesFlag {
  readonly completion: CompletionData;
}

/** Completing a completed flag changes what is said of it, if that is something else, and the time. */
export function completeFlag(world: World, { project, flag: name, completion }: CompleteFlag): Decision {
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  const { status, statusValue } = completion;
  const known = world.directory.completions.get(name);
  if (known !== undefined && known.status === status && known.statusValue === statusValue) return UNCHANGED;
  return [newEvent('feature-completed', aboutFlag(located.record.flag), { data: completion })];
}

export function uncompleteFlag(world: World, { project, flag: name }: NamesFlag): Decision {
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  if (!world.directory.completions.has(name)) return UNCHANGED;
  return [newEvent('feature-uncompleted', aboutFlag(located.record.flag))];
}

interface CommentOnFlag extends NamesFlag {
  readonly text: string;
}

/** A comment is an event and nothing else, so it takes no memory. An archived flag takes comments too, such as why it was archived. */
export function commentOnFlag(world: World, { project, flag, text }: CommentOnFlag): Decision {
  const located = locateFlag(world, project, flag);
  if (located.refused) return located;
  return [newEvent('feature-commented', aboutFlag(located.record.flag), { data: { text } })];
}
