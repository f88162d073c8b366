/**
 * Lists that people keep short and that may be long: made in slices, bounded in bytes, and read in pages where they are longer.
 * Without `limit` a list is whole or is refused, because who asks for all must not take a part for it.
 */
import { isRefusal, type Refusal, refuse } from '../../../domain/state/refusal.ts';
import { JSON_HEADERS } from '../../serving/json-response.ts';
import type { ReadResponse, RequestContext } from '../../serving/route.ts';
import { inSlices } from '../../serving/slices.ts';
import { pageParameters } from '../requests/page-parameters.ts';

/** Bytes of a list. 2,000 tokens of ten projects take 2 MiB; a caller who reads slowly keeps all of it in memory. */
export const LIST_BYTES_MAX = 16 * 2 ** 20;

export const LIST_PAGE = pageParameters({
  limitMax: 10_000,
  limit: 'The maximum number of items; all of them unless it is sent.',
  offset: 'How many items to pass over.',
  offsetPhrase: 'an integer from 0',
});

interface List<T> {
  /** The field of the response that has the list. */
  readonly name: string;
  readonly items: Iterable<T>;
  /** What is shown of an item. */
  view(item: T): unknown;
}

export async function listResponse<T>(
  context: RequestContext<unknown>,
  { name, items, view }: List<T>,
): Promise<ReadResponse | Refusal> {
  const page = LIST_PAGE.of(context);
  if (isRefusal(page)) return page;
  const { engine, asker } = context;
  const revision = engine.lastId;
  const wanted = [...items].slice(page.offset, page.offset + page.limit);
  const parts: Buffer[] = [];
  let bytes = 0;
  await inSlices(() => {
    const item = wanted[parts.length];
    if (item === undefined || bytes > LIST_BYTES_MAX) return true;
    const part = Buffer.from(`${parts.length === 0 ? '' : ','}${JSON.stringify(view(item))}`);
    parts.push(part);
    bytes += part.byteLength;
    return false;
  }, asker);
  if (bytes > LIST_BYTES_MAX) return tooLong(parts.length);
  const body = Buffer.concat([Buffer.from(`{"${name}":[`), ...parts, Buffer.from(']}')]);
  return {
    revision: Math.max(revision, engine.lastId),
    response: { status: 200, headers: JSON_HEADERS, body },
  };
}

const tooLong = (count: number): Refusal =>
  refuse(
    'PayloadTooLargeError',
    `The list would take more than ${LIST_BYTES_MAX / 2 ** 20} MiB, which ${count} of its items do. Ask for fewer at a time: ?limit=${Math.max(1, Math.floor(count / 2))}&offset=0, and so on.`,
  );
