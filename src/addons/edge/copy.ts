/** The copy of everything that an edge serves, on disk: the records of the file, and what they are made of and become. */
import { join } from 'node:path';
import * as v from 'valibot';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import { surroundingsOf } from '../sdk/client-document.ts';
import { clientFlagView, segmentJson } from '../sdk/flag-view.ts';
import { CheckedFile } from './checked-file.ts';
import type { FeedPosition } from './feed.ts';
import type { FedMirror } from './mirrors.ts';
import { REPORT } from './reports.ts';
import type { ValidToken } from './upstream-client.ts';
import { FLAG, flagOf, SEGMENT, segmentOf } from './upstream-document.ts';

const TOKEN = v.object({
  token: v.string(),
  type: v.picklist(['client', 'frontend']),
  projects: v.array(v.string()),
  environment: v.string(),
});

/** Flags and segments are those of the mirror before them, as upstreams send them. */
const RECORD = v.variant('kind', [
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

export const copyFile = (folder: string) => new CheckedFile(join(folder, 'edge-copy'), RECORD);
export const reportsFile = (folder: string) => new CheckedFile(join(folder, 'edge-reports'), REPORT);

/** The mirrors of the same moment: a flag that changes meanwhile belongs to the next copy. */
export function copyLines(
  url: string,
  tokens: Iterable<ValidToken>,
  mirrors: readonly FedMirror[],
): Iterable<string> {
  const head = { kind: 'upstream', url };
  const known = Array.from(tokens, (token) => ({ kind: 'token', token }));
  const lines = mirrors.map(linesOf);
  return (function* () {
    for (const record of [head, ...known]) yield JSON.stringify(record);
    for (const each of lines) yield* each;
  })();
}

function linesOf({ token, served, feed }: FedMirror): Iterable<string> {
  const { world, environment, lastId } = served.mirror;
  const mirror = { kind: 'mirror', token, lastId, ...feed.position };
  const chunks = [...world.projects.values()].flatMap((project) => project.flags.chunks);
  const { segments } = world.directory;
  const around = {
    ...surroundingsOf(world, { environment, inlineSegments: false }),
    segment: (id: number) => segments.get(id),
  };
  return (function* () {
    yield JSON.stringify(mirror);
    for (const { values } of chunks)
      for (const { flag } of values)
        yield `{"kind":"flag","flag":${JSON.stringify(clientFlagView(flag, around))}}`;
    for (const one of segments.values()) yield `{"kind":"segment","segment":${segmentJson(one)}}`;
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
  records: readonly v.InferOutput<typeof RECORD>[],
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
