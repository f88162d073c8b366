/** The copy of everything that an edge serves, on disk: the records of the file, and what they are made of and become. */
import * as v from 'valibot';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import { surroundingsOf } from '../sdk/client-document.ts';
import { clientFlagView, segmentJson } from '../sdk/flag-view.ts';
import { FLAG, flagOf, SEGMENT, segmentOf } from '../sdk/sent-flag.ts';
import type { RowFiles } from '../usage/row-files.ts';
import type { FeedPosition } from './feed.ts';
import type { FedMirror } from './mirrors.ts';
import type { ValidToken } from './upstream-client.ts';

const TOKEN = v.object({
  token: v.string(),
  type: v.picklist(['client', 'frontend']),
  projects: v.array(v.string()),
  environment: v.string(),
});

/** Flags and segments are those of the mirror before them, as upstreams send them. */
export const COPIED = v.variant('kind', [
  /** A copy of another upstream is not used. */
  v.object({ kind: v.literal('upstream'), url: v.string() }),
  v.object({ kind: v.literal('token'), token: TOKEN }),
  v.object({
    kind: v.literal('mirror'),
    token: TOKEN,
    lastId: v.number(),
    upstreamId: v.nullable(v.number()),
    etag: v.string(),
    confirmedAt: v.number(),
  }),
  v.object({ kind: v.literal('flag'), flag: FLAG }),
  v.object({ kind: v.literal('segment'), segment: SEGMENT }),
]);

/** Reads the records of a file, each of which is JSON in a row of its own; null where it is not there, or not whole. */
export async function recordsIn<S extends v.GenericSchema>(
  files: RowFiles,
  name: string,
  schema: S,
): Promise<readonly v.InferOutput<S>[] | null> {
  const records: v.InferOutput<S>[] = [];
  const take = ([text]: readonly unknown[]): void => {
    const result = v.safeParse(schema, JSON.parse(String(text)));
    if (!result.success) {
      const place = v.getDotPath(result.issues[0]) ?? 'the top';
      throw new Error(`record ${records.length + 1} has something else than expected at ${place}`);
    }
    records.push(result.output);
  };
  return (await files.read(name, take)) ? records : null;
}

/** The mirrors of the same moment: a flag that changes meanwhile belongs to the next copy. */
export function copyRows(
  url: string,
  tokens: Iterable<ValidToken>,
  mirrors: readonly FedMirror[],
): Iterable<readonly [json: string]> {
  const head = { kind: 'upstream', url };
  const known = Array.from(tokens, (token) => ({ kind: 'token', token }));
  const rows = mirrors.map(rowsOf);
  return (function* () {
    for (const record of [head, ...known]) yield [JSON.stringify(record)];
    for (const each of rows) yield* each;
  })();
}

function rowsOf({ token, served, feed }: FedMirror): Iterable<readonly [json: string]> {
  const { world, environment, lastId } = served.mirror;
  const mirror = { kind: 'mirror', token, lastId, ...feed.position };
  const chunks = [...world.projects.values()].flatMap((project) => project.flags.chunks);
  const { segments } = world.directory;
  const around = {
    ...surroundingsOf(world, { environment, inlineSegments: false }),
    segment: (id: number) => segments.get(id),
  };
  return (function* () {
    yield [JSON.stringify(mirror)];
    for (const { values } of chunks)
      for (const { flag } of values)
        yield [`{"kind":"flag","flag":${JSON.stringify(clientFlagView(flag, around))}}`];
    for (const one of segments.values()) yield [`{"kind":"segment","segment":${segmentJson(one)}}`];
  })();
}

export interface CopiedMirror extends FeedPosition {
  readonly token: ValidToken;
  readonly environment: string;
  readonly lastId: number;
  readonly flags: Flag[];
  readonly segments: Segment[];
}

export interface Copy {
  readonly tokens: ValidToken[];
  readonly mirrors: CopiedMirror[];
}

/** Reads the records, in steps; null for a copy of another upstream. */
export function* copyIn(
  records: readonly v.InferOutput<typeof COPIED>[],
  url: string,
): Generator<void, Copy | null> {
  const copy: Copy = { tokens: [], mirrors: [] };
  const [head, ...rest] = records;
  if (head?.kind !== 'upstream' || head.url !== url) return null;
  for (const record of rest) {
    const mirror = copy.mirrors.at(-1);
    if (record.kind === 'token') copy.tokens.push(record.token);
    else if (record.kind === 'mirror') {
      const { kind: _, ...position } = record;
      const environment = environmentOf(record.token);
      copy.mirrors.push({ ...position, environment, flags: [], segments: [] });
    } else if (record.kind === 'flag') mirror?.flags.push(flagOf(record.flag, mirror.environment));
    else if (record.kind === 'segment') mirror?.segments.push(segmentOf(record.segment));
    yield;
  }
  return copy;
}

/** A token of all environments gets the flags of the one that its upstream takes for it. */
export const environmentOf = ({ environment }: ValidToken): string =>
  environment === '*' ? 'default' : environment;
