/**
 * Lists that people keep short and that may be long: made in slices, bounded in bytes, and read in pages where they are longer.
 * Without `limit` a list is whole or is refused, because who asks for all must not take a part for it.
 */
import { isRefusal, type Refusal, refuse } from '../../../domain/state/refusal.ts';
import { recordEtag } from '../../serving/etag.ts';
import { JSON_HEADERS, taggedResponse } from '../../serving/json-response.ts';
import type { ReadResponse, RequestContext } from '../../serving/route.ts';
import { inSlices } from '../../serving/slices.ts';
import { pageParameters } from '../requests/page-parameters.ts';

/** Bytes of a response. 2,000 tokens of ten projects take 2 MiB; a caller who reads slowly keeps all of it in memory. */
export const LIST_BYTES_MAX = 16 * 2 ** 20;

export const LIST_PAGE = pageParameters({
  limitMax: 1_000_000,
  limit: 'The maximum number of items in each list; all of them unless it is sent.',
  offset: 'How many items of each list to pass over.',
  offsetPhrase: 'an integer from 0',
});

interface List<T> {
  /** The field of the response that has the list. */
  readonly name: string;
  readonly items: Iterable<T>;
  /** The item as the list shows it. */
  view(item: T): unknown;
}

/** One of several lists in a response. */
type ListOfAny = (limit: number, offset: number) => { readonly name: string; shown(): Iterator<unknown> };

export const listOf =
  <T>({ name, items, view }: List<T>): ListOfAny =>
  (limit, offset) => {
    const wanted = [...items].slice(offset, offset + limit);
    return {
      name,
      *shown() {
        for (const item of wanted) yield view(item);
      },
    };
  };

/** A response with one list. */
export function listResponse<T>(
  context: RequestContext<unknown>,
  list: List<T>,
): Promise<ReadResponse | Refusal> {
  return listsResponse(context, [listOf(list)]);
}

/** A response with several lists, and `others`, its fields before them. */
export async function listsResponse(
  context: RequestContext<unknown>,
  lists: readonly ListOfAny[],
  others: object = {},
): Promise<ListRead | Refusal> {
  const page = LIST_PAGE.of(context);
  if (isRefusal(page)) return page;
  const { engine, asker } = context;
  const revision = engine.lastId;
  const parts: Buffer[] = [];
  let bytes = 0;
  const add = (text: string): void => {
    const part = Buffer.from(text);
    parts.push(part);
    bytes += part.byteLength;
  };
  add(JSON.stringify(others).slice(0, -1));
  for (const { name, shown } of lists.map((list) => list(page.limit, page.offset))) {
    add(`${bytes > 1 ? ',' : ''}"${name}":[`);
    const items = shown();
    let count = 0;
    await inSlices(() => {
      const { done, value } = items.next();
      if (done === true || bytes > LIST_BYTES_MAX) return true;
      add(`${count === 0 ? '' : ','}${JSON.stringify(value)}`);
      count += 1;
      return false;
    }, asker);
    if (bytes > LIST_BYTES_MAX) return tooLong(name, count);
    add(']');
  }
  add('}');
  const body = Buffer.concat(parts);
  return {
    revision: Math.max(revision, engine.lastId),
    response: { status: 200, headers: JSON_HEADERS, body },
    body,
  };
}

/** A response that is a list of few but large items, made in slices. */
export async function arrayResponse<T>(
  { engine, asker }: RequestContext<unknown>,
  items: readonly T[],
  view: (item: T) => unknown,
): Promise<ReadResponse> {
  const revision = engine.lastId;
  const parts: string[] = [];
  await inSlices(() => {
    const item = items[parts.length];
    if (item === undefined) return true;
    parts.push(JSON.stringify(view(item)));
    return false;
  }, asker);
  return {
    revision: Math.max(revision, engine.lastId),
    response: { status: 200, headers: JSON_HEADERS, body: `[${parts.join(',')}]` },
  };
}

interface ListRead extends ReadResponse {
  readonly body: Buffer;
}

/** The same, with an ETag by which a write may pin the record as it was when the list was begun. */
export const pinnedRead = ({ revision, body }: ListRead, record: object): ReadResponse => ({
  revision,
  response: taggedResponse(recordEtag(record, body), body),
});

const tooLong = (name: string, count: number): Refusal =>
  refuse(
    'PayloadTooLargeError',
    `The response would take more than ${LIST_BYTES_MAX / 2 ** 20} MiB, which it does with ${count} of its ${name}. Ask for fewer at a time: ?limit=${Math.max(1, Math.floor(count / 2))}&offset=0, and so on.`,
  );
