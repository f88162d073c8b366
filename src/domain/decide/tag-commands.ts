/**
 * Decisions that add and remove tags. A tag is a pair of type and value; a flag has each pair at
 * most once.
 */

import type { Flag, Tag } from '../flags/flag.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { aboutFlag, type DomainEvent, newEvent } from '../state/events.ts';
import { locateFlag, locateFlags } from '../state/locate.ts';
import { invalidOperation, isRefusal, notFound } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { type NamesFlag, type NamesFlags, refuseArchived, unlessArchived } from './guards.ts';

interface NamesTag extends NamesFlag {
  readonly tag: Tag;
}

/** Adding a tag that the flag has changes nothing. */
export function tagFlag(world: World, { project, flag: name, tag }: NamesTag): Decision {
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  const { flag } = located.record;
  if (hasTag(flag, tag)) return UNCHANGED;
  return [tagged(flag, tag)];
}

export const tagged = (flag: Pick<Flag, 'name' | 'project'>, { type, value }: Tag): DomainEvent =>
  newEvent('feature-tagged', aboutFlag(flag), { data: { type, value } });

export const untagged = (flag: Pick<Flag, 'name' | 'project'>, { type, value }: Tag): DomainEvent =>
  newEvent('feature-untagged', aboutFlag(flag), { preData: { type, value } });

export function untagFlag(world: World, { project, flag: name, tag }: NamesTag): Decision {
  const located = locateFlag(world, project, name);
  if (located.refused) return located;
  const { flag } = located.record;
  if (!hasTag(flag, tag)) return notFound(`The flag "${name}" has no tag "${tag.type}:${tag.value}".`);
  return refuseArchived(flag) ?? [untagged(flag, tag)];
}

/** Flags times tags of one request: as many changes take some 10 ms of the event loop. */
export const TAG_CHANGES_MAX = 1_000;

interface ChangeTags extends NamesFlags {
  readonly added: readonly Tag[];
  readonly removed: readonly Tag[];
}

/** Tags that a flag has already, or does not have, change nothing. All flags change, or none. */
export function changeTags(world: World, { project, flags, added, removed }: ChangeTags): Decision {
  const located = locateFlags(world, { project, flags });
  if (isRefusal(located)) return located;
  const [gone, come] = [differentTags(removed), differentTags(added)];
  const count = located.length * (gone.length + come.length);
  if (count > TAG_CHANGES_MAX) {
    return invalidOperation(
      `The request adds or removes ${gone.length + come.length} tags of ${located.length} flags, which makes ${count} changes; at most ${TAG_CHANGES_MAX} are made at once. Name fewer tags or fewer flags.`,
    );
  }
  const events: DomainEvent[] = [];
  for (const { record } of located) {
    const { flag } = record;
    const archived = refuseArchived(flag);
    if (archived !== null) return archived;
    for (const tag of gone) {
      if (hasTag(flag, tag) && !come.some((one) => isSame(one, tag))) events.push(untagged(flag, tag));
    }
    for (const tag of come) {
      if (!hasTag(flag, tag)) events.push(tagged(flag, tag));
    }
  }
  return events;
}

/** Each pair once, without whatever else the request had. */
export const differentTags = (tags: readonly Tag[]): readonly Tag[] =>
  tags
    .filter((tag, at) => tags.findIndex((one) => isSame(one, tag)) === at)
    .map(({ type, value }) => ({ type, value }));

const isSame = (a: Tag, b: Tag): boolean => a.type === b.type && a.value === b.value;

export function hasTag(flag: Pick<Flag, 'tags'>, { type, value }: Tag): boolean {
  return flag.tags.some((tag) => tag.type === type && tag.value === value);
}
