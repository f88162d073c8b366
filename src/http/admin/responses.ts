/** Responses that several routes share. */

import { each, inTurns, type Requester } from '../../actors/turn.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { recordEtag } from '../serving/etag.ts';
import { JSON_HEADERS, jsonResponse, taggedResponse } from '../serving/json-response.ts';
import type { ReadResponse, RequestContext } from '../serving/route.ts';
import { BodyPieces } from '../transport/response.ts';
import { pageParameters } from './query-parameters.ts';

/** The response to a read of several parts of the state, which waits for all of the state (invariant 4). */
export function settledResponse({ engine }: RequestContext<unknown>, value: unknown): ReadResponse {
  return { revision: engine.lastId, response: jsonResponse(200, value) };
}

/** A response about one record, with an ETag for `If-Match`. */
export function pinnedResponse(
  { engine }: RequestContext<unknown>,
  record: object,
  value: unknown,
): ReadResponse {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return { revision: engine.lastId, response: taggedResponse(recordEtag(record, body), body) };
}

/** The event of this type, which the command always records. Only the event says what was created. */
export function recorded<T extends DomainEvent['type']>(
  events: readonly DomainEvent[],
  type: T,
): Extract<DomainEvent, { type: T }> {
  const found = events.find((event) => event.type === type);
  if (found === undefined) throw new Error(`a command that records ${type} did not record it`);
  return found as Extract<DomainEvent, { type: T }>;
}

// Lists that people keep short and that may be long: made in turns, bounded in bytes, and read in pages where they are longer.
// Without `limit` a list is whole or is refused, because who asks for all must not take a part for it.

/** Bytes of a response. 2,000 tokens of ten projects take 2 MiB; a caller who reads slowly keeps all of it in memory. */
export const LIST_BYTES_MAX = 16 * 2 ** 20;

const LIST_PAGE = pageParameters({
  limitMax: 1_000_000,
  limit: 'The maximum number of items in each list; all of them unless it is sent.',
  offset: 'How many items of each list to pass over.',
});

/** The fields of a route that such a page needs. */
export const PAGED = {
  query: LIST_PAGE.parameters,
  refusals: ['ValidationError', 'PayloadTooLargeError'],
} as const;

interface List<T> {
  /** The field of the response that has the list. */
  readonly name: string;
  readonly items: Iterable<T>;
  /** The item as the list shows it. */
  view(item: T): unknown;
}

/** One of several lists in a response. */
type ListOfAny = (limit: number, offset: number) => { readonly name: string; shown(): Iterable<unknown> };

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
  const { engine, requester } = context;
  const revision = engine.lastId;
  const made = new ListBody();
  made.add(JSON.stringify(others).slice(0, -1));
  for (const { name, shown } of lists.map((list) => list(page.limit, page.offset))) {
    made.add(`${made.bytes > 1 ? ',' : ''}"${name}":`);
    const count = await made.addList(shown(), requester);
    if (made.bytes > LIST_BYTES_MAX) return tooLong(name, count);
  }
  made.add('}');
  return made.read(Math.max(revision, engine.lastId));
}

/** A response of few but large items, each of which is JSON text already, made in turns. */
export async function textsResponse<T>(
  { engine, requester }: RequestContext<unknown>,
  [before, after]: readonly [string, string],
  items: readonly T[],
  textOf: (item: T) => string,
): Promise<ReadResponse> {
  const revision = engine.lastId;
  const made = new ListBody();
  made.add(before);
  let comma = '';
  const add = (item: T): void => {
    made.add(`${comma}${textOf(item)}`);
    comma = ',';
  };
  await inTurns(each(items, add), requester);
  made.add(after);
  return made.read(Math.max(revision, engine.lastId));
}

interface ListRead extends ReadResponse {
  readonly body: BodyPieces;
}

/** Characters. Tens of thousands of small pieces would take longer to send than to make. */
const PIECE_LENGTH = 64 * 1024;

/** A body that is made item by item, and never joined: a list of 6 MB held the event loop for 20 ms while it became one text. */
class ListBody {
  readonly #pieces: Buffer[] = [];
  /** The end of the body, which is no piece yet. */
  #end = '';
  bytes = 0;

  add(text: string): void {
    this.#end += text;
    this.bytes += Buffer.byteLength(text);
    if (this.#end.length >= PIECE_LENGTH) this.#cut();
  }

  #cut(): void {
    this.#pieces.push(Buffer.from(this.#end));
    this.#end = '';
  }

  /** Stops when the body is too long. Returns the number of items. */
  async addList(items: Iterable<unknown>, requester: Requester): Promise<number> {
    let count = 0;
    this.add('[');
    const add = (item: unknown): boolean => {
      if (this.bytes > LIST_BYTES_MAX) return true;
      this.add(`${count === 0 ? '' : ','}${JSON.stringify(item)}`);
      count += 1;
      return false;
    };
    await inTurns(each(items, add), requester);
    this.add(']');
    return count;
  }

  read(revision: number): ListRead {
    this.#cut();
    const body = new BodyPieces(this.#pieces, this.bytes);
    return { revision, response: { status: 200, headers: JSON_HEADERS, body }, body };
  }
}

/** A response about one record of a list, with an ETag for `If-Match` of the state when the list was begun. */
export const pinnedRead = ({ revision, body }: ListRead, record: object): ReadResponse => ({
  revision,
  response: taggedResponse(recordEtag(record, body), body),
});

const tooLong = (name: string, count: number): Refusal =>
  refuse(
    'PayloadTooLargeError',
    `The response would take more than ${LIST_BYTES_MAX / 2 ** 20} MiB, which it does with ${count} of its ${name}. Ask for fewer at a time: ?limit=${Math.max(1, Math.floor(count / 2))}&offset=0, and so on.`,
  );
