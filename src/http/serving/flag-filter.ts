/** Flags narrowed by a query string, alike on every surface that lists them: `?namePrefix=pay&tag=team:checkout`. */
import { hasTag } from '../../domain/decide/tag-commands.ts';
import type { Flag, Tag } from '../../domain/flags/flag.ts';
import { shown } from '../../domain/json/issues.ts';
import { invalid, type Refusal } from '../../domain/state/refusal.ts';
import type { QueryParameter, RequestContext } from './route.ts';

export interface FlagFilter {
  /** A flag needs one of these; empty: no condition. Alphabetical, without repetition. */
  readonly tags: readonly Tag[];
  /** By case; empty: any name. */
  readonly namePrefix: string;
}

/** Tags that one list can be filtered by. */
const TAG_FILTERS_MAX = 50;

export const FILTER_PARAMETERS: Readonly<Record<'tag' | 'namePrefix', QueryParameter>> = {
  tag: {
    description: 'Lists flags with this tag only, as type:value. Repeated: with any of the tags.',
    schema: { type: 'array', items: { type: 'string' }, maxItems: TAG_FILTERS_MAX },
  },
  namePrefix: { description: 'Lists flags whose names start with this only, by case.' },
};

export function filterOf(context: Pick<RequestContext<unknown>, 'query' | 'queryAll'>): FlagFilter | Refusal {
  const texts = context.queryAll('tag');
  if (texts.length > TAG_FILTERS_MAX) {
    return invalid(`The query parameter tag may be sent ${TAG_FILTERS_MAX} times at most.`, '/query/tag');
  }
  const tags: Tag[] = [];
  for (const text of [...new Set(texts)].sort()) {
    const colon = text.indexOf(':');
    if (colon < 1) {
      return invalid(`The query parameter tag must be type:value, not ${shown(text)}.`, '/query/tag');
    }
    tags.push({ type: text.slice(0, colon), value: text.slice(colon + 1) });
  }
  return { tags, namePrefix: context.query('namePrefix') };
}

export function isFiltering({ tags, namePrefix }: FlagFilter): boolean {
  return namePrefix !== '' || tags.length > 0;
}

export function passes({ namePrefix, tags }: FlagFilter, flag: Flag): boolean {
  if (!flag.name.startsWith(namePrefix)) return false;
  return tags.length === 0 || tags.some((tag) => hasTag(flag, tag));
}
