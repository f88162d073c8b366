/** Decisions that add and remove tags. A tag is a pair of type and value; a flag has each pair at most once. */

import type { Flag, Tag } from '../flags/flag.ts';
import { aboutFlag } from '../state/events.ts';
import { locateFlag } from '../state/locate.ts';
import { notFound } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { type Decision, UNCHANGED } from './decision.ts';
import { refuseArchived, unlessArchived } from './guards.ts';

interface NamesTag {
  readonly project: string;
  readonly flag: string;
  readonly tag: Tag;
}

export interface TagFlag extends NamesTag {
  readonly type: 'tag-flag';
}

/** Adding a tag that the flag has changes nothing. */
export function tagFlag(world: World, { project, flag: name, tag }: TagFlag): Decision {
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  const { flag } = located.record;
  if (hasTag(flag, tag)) return UNCHANGED;
  const data: Tag = { type: tag.type, value: tag.value };
  return [{ type: 'feature-tagged', ...aboutFlag(flag), data, preData: null }];
}

export interface UntagFlag extends NamesTag {
  readonly type: 'untag-flag';
}

export function untagFlag(world: World, { project, flag: name, tag }: UntagFlag): Decision {
  const located = locateFlag(world, project, name);
  if (located.refused) return located;
  const { flag } = located.record;
  if (!hasTag(flag, tag)) return notFound(`The flag "${name}" has no tag "${tag.type}:${tag.value}".`);
  const archived = refuseArchived(flag);
  if (archived !== null) return archived;
  const preData: Tag = { type: tag.type, value: tag.value };
  return [{ type: 'feature-untagged', ...aboutFlag(flag), data: null, preData }];
}

export function hasTag(flag: Flag, { type, value }: Tag): boolean {
  return flag.tags.some((tag) => tag.type === type && tag.value === value);
}
