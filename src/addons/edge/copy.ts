/** The copy of everything that an edge serves, on disk: what stands in the file, and how a mirror becomes a part of it. */
import { join } from 'node:path';
import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import { surroundingsOf } from '../../http/sdk/client-document.ts';
import { clientFlagView, segmentJson } from '../../http/sdk/flag-view.ts';
import { CheckedFile } from './checked-file.ts';
import type { FedMirror } from './mirrors.ts';
import { REPORTS } from './reports.ts';
import type { ValidToken } from './upstream-client.ts';

const TOKEN = v.object({
  token: v.string(),
  type: v.picklist(['client', 'frontend']),
  projects: v.array(v.string()),
  environment: v.string(),
});

const COPY = v.object({
  /** The upstream's address: a copy of another one is not used. */
  upstream: v.string(),
  tokens: v.array(TOKEN),
  mirrors: v.array(
    v.object({
      token: TOKEN,
      lastId: v.number(),
      upstreamId: v.nullable(v.number()),
      etag: v.string(),
      confirmedAt: v.number(),
      /** The text of each, as an upstream sends it in a document. */
      flags: v.array(v.string()),
      segments: v.array(v.string()),
    }),
  ),
});

export const copiedToken = ({ token, type, projects, environment }: ValidToken) => ({
  ...{ token, type, projects: [...projects], environment },
});

export type CopiedMirror = v.InferOutput<typeof COPY>['mirrors'][number];

export const copyFile = (folder: string) => new CheckedFile(join(folder, 'edge-copy'), COPY);
export const reportsFile = (folder: string) => new CheckedFile(join(folder, 'edge-reports'), REPORTS);

export async function copyOf({ token, served, feed }: FedMirror): Promise<CopiedMirror> {
  const { world, environment, lastId } = served.mirror;
  const { etag, upstreamId, confirmedAt } = feed.position;
  // All of the same moment: a flag that changes meanwhile belongs to the next copy.
  const flags = [...world.projects.values()].flatMap((project) =>
    project.flags.shelved().flatMap((one) => one.flags),
  );
  const segments = new Map(world.directory.segments);
  const around = {
    ...surroundingsOf(world, { environment, inlineSegments: false }),
    segment: (id: number) => segments.get(id),
  };
  const texts: string[] = [];
  await inTurns(
    each(flags, (flag) => {
      texts.push(JSON.stringify(clientFlagView(flag, around)));
    }),
  );
  const position = { lastId, upstreamId, etag, confirmedAt };
  return {
    token: copiedToken(token),
    ...position,
    flags: texts,
    segments: [...segments.values()].map(segmentJson),
  };
}

/** The document that the copy was made of. */
export const documentIn = ({ flags, segments }: CopiedMirror): Buffer =>
  Buffer.from(`{"features":[${flags.join(',')}],"segments":[${segments.join(',')}]}`);
