/** The orders in which the search lists flags (docs/specification/flags.md#search). */
import { environmentOf, type Flag } from '../../../domain/flags/flag.ts';
import { shown } from '../../../domain/json/issues.ts';
import { invalid, type Refusal } from '../../../domain/state/refusal.ts';
import type { FlagsSeen } from '../../../domain/usage/last-seen.ts';
import type { QueryParameter, RequestContext } from '../../serving/route.ts';

const FIELDS = ['name', 'type', 'project', 'createdAt', 'lastSeenAt', 'stale'] as const;
const DIRECTIONS = ['asc', 'desc'] as const;

/** A switch is sorted by the environment's name behind it. */
const SWITCH = 'environment:';

export const ORDER_PARAMETERS: Readonly<Record<'sortBy' | 'sortOrder', QueryParameter>> = {
  sortBy: {
    description: `One of ${FIELDS.join(', ')}, or ${SWITCH}<name> for a switch; createdAt unless sent.`,
  },
  sortOrder: { description: 'asc, unless desc is sent.', schema: { type: 'string', enum: DIRECTIONS } },
};

export type FlagOrder = (a: Flag, b: Flag) => number;

export function flagOrder(
  context: Pick<RequestContext<unknown>, 'query'>,
  seen: FlagsSeen,
): FlagOrder | Refusal {
  const [field, direction] = [context.query('sortBy') || 'createdAt', context.query('sortOrder') || 'asc'];
  const isKnown = FIELDS.some((one) => one === field) || field.startsWith(SWITCH);
  if (!isKnown) {
    return invalid(
      `The query parameter sortBy must be one of ${FIELDS.join(', ')}, or ${SWITCH} and the name of an environment, not ${shown(field)}.`,
      '/query/sortBy',
    );
  }
  if (direction !== 'asc' && direction !== 'desc') {
    return invalid(
      `The query parameter sortOrder must be asc or desc, not ${shown(direction)}.`,
      '/query/sortOrder',
    );
  }
  const sign = direction === 'asc' ? 1 : -1;
  const keyOf = sortKey(field, seen);
  // Names are unique, so that pages never overlap.
  return (a, b) => sign * compare(keyOf(a), keyOf(b)) || compare(a.name, b.name);
}

type Key = string | number;

function sortKey(field: string, seen: FlagsSeen): (flag: Flag) => Key {
  switch (field as (typeof FIELDS)[number]) {
    case 'name':
      return ({ name }) => name;
    case 'type':
      return ({ type }) => type;
    case 'project':
      return ({ project }) => project;
    case 'stale':
      return ({ stale }) => Number(stale);
    case 'createdAt':
      return ({ createdAt }) => createdAt;
    case 'lastSeenAt':
      return ({ name }) => seen.flag(name)?.atMs ?? 0;
    default: {
      const environment = field.slice(SWITCH.length);
      return (flag) => Number(environmentOf(flag, environment).enabled);
    }
  }
}

const compare = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0);
