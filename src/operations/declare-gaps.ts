/** Builds a journal that keeps every frame that can be read, and declares the others lost (gap-plan.ts). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { loaderOf, replayFrame } from '../actors/state/state-loader.ts';
import { emptyWorld } from '../domain/state/world.ts';
import type { DataFolder } from '../persistence/disk/data-folder.ts';
import { type FileSystem, type OpenFile, withFile } from '../persistence/disk/file-system.ts';
import { writeFully } from '../persistence/disk/write-fully.ts';
import type { DurableMark } from '../persistence/journal/durable-mark.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import { FRAME_HEADER_BYTES, type FrameLink, sealFrame } from '../persistence/journal/frame-format.ts';
import {
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  segmentFileName,
} from '../persistence/journal/segment.ts';
import { readSnapshot } from '../persistence/snapshots/snapshot-reader.ts';
import { copyBytes } from './copy-folder.ts';
import {
  type GapPlan,
  type KeptPart,
  type LostPart,
  placeholders,
  planGaps,
  type SegmentPlan,
} from './gap-plan.ts';
import { replayRun } from './intact-run.ts';
import { OperationError } from './operation-error.ts';
import type { RepairPlan } from './repair-plan.ts';
import type { FolderVerification } from './verify-folder.ts';

export interface GapBuilding {
  readonly fs: FileSystem;
  readonly from: DataFolder;
  readonly to: DataFolder;
  readonly plan: GapPlan;
}

/** Returns the end of the journal. */
export async function buildWithGaps({ fs, from, to, plan }: GapBuilding): Promise<DurableMark> {
  let end: Omit<DurableMark, 'lastId'> = { segment: 0, offset: 0, chain: 0 };
  for (const segment of plan.segments) {
    const name = segmentFileName(segment.firstId);
    const file = await fs.open(join(to.journal, name), 'create');
    try {
      const writing = { fs, file, plan, source: join(from.journal, name) };
      end = await writeSegment(segment, segment.chain ?? end.chain, writing);
      await file.sync();
    } finally {
      await file.close();
    }
  }
  await fs.syncFolder(to.journal);
  return { ...end, lastId: plan.lastId };
}

interface SegmentWriting {
  readonly fs: FileSystem;
  readonly file: OpenFile;
  readonly plan: GapPlan;
  /** The file that it is made of. */
  readonly source: string;
}

/** `chain`: the checksum of the frame before. */
async function writeSegment(
  { firstId, parts }: SegmentPlan,
  chain: number,
  writing: SegmentWriting,
): Promise<Omit<DurableMark, 'lastId'>> {
  const { file } = writing;
  await writeFully(file, encodeSegmentHeader({ firstId, chain }), 0);
  let end = { segment: firstId, offset: SEGMENT_HEADER_BYTES, chain };
  for (const part of parts) {
    const written =
      part.kind === 'kept' ? await writeKept(part, writing) : await writeLost(part, end.chain, writing);
    end = { segment: firstId, ...written };
  }
  return end;
}

interface Written {
  readonly offset: number;
  readonly chain: number;
}

async function writeKept(
  { from, to, chain }: KeptPart,
  { fs, file, source }: SegmentWriting,
): Promise<Written> {
  return withFile(fs, source, async (kept) => {
    const offset = to ?? (await kept.size());
    await copyBytes({ path: source, file: kept }, file, { from, to: offset });
    return { offset, chain };
  });
}

async function writeLost(part: LostPart, chain: number, { file, plan }: SegmentWriting): Promise<Written> {
  const frames = placeholders(part, plan.snapshots, chain);
  assert(frames !== null, 'a plan has room for its placeholders');
  let { offset } = part;
  for (const frame of frames) {
    const bytes = sealed(frame, offset);
    await writeFully(file, bytes, offset);
    offset += bytes.length;
  }
  assert(part.bytes === null || offset === part.offset + part.bytes, 'what follows stays in its place');
  return { offset, chain: frames.at(-1)?.checksum ?? chain };
}

function sealed({ payload, previous, checksum, contentVersion, rules }: FrameLink, offset: number): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), payload]);
  const links = { payloadBytes: payload.length, previous, batchStart: offset, contentVersion, rules };
  assert(sealFrame(bytes, 0, links) === checksum, 'a frame has the checksum that was chosen for it');
  return bytes;
}

interface GapReplay {
  readonly fs: FileSystem;
  readonly from: DataFolder;
  readonly verified: FolderVerification;
  readonly plan: GapPlan;
}

/** The gaps that may be declared, and would keep more than `plan` does; null where none may, or nothing would be won. */
export async function gapsWorth(
  { fs, from, verified }: Omit<GapReplay, 'plan'>,
  plan: RepairPlan | null,
): Promise<GapPlan | null> {
  if (plan !== null && plan.lost === null && plan.unlisted === null) return null;
  const gaps = planGaps(verified);
  if (gaps === null || (await firstNeedy({ fs, from, verified, plan: gaps })) !== null) return null;
  return gaps;
}

/** The first event that needs what is lost, so that no state can be had behind it; null where there is none. */
async function firstNeedy({ fs, from, verified, plan: { base, lost } }: GapReplay): Promise<number | null> {
  let replayedId = base?.id ?? 0;
  if (lost.every(({ to }) => to <= replayedId)) return null;
  const world = emptyWorld();
  const loader = loaderOf(world);
  if (base !== null) {
    const onRecord = (section: string, record: unknown): void => loader.load(section, record);
    const { problem } = await readSnapshot({ fs, path: base.path, onRecord });
    if (problem !== null) throw new OperationError('unsound', `${base.path}: ${problem}`);
  }
  let needyId: number | null = null;
  for (const run of verified.journal.runs)
    await replayRun({ fs, folder: from.journal }, run, (frame) => {
      if (frame.id <= replayedId || needyId !== null) return;
      try {
        replayFrame(world, frame);
        replayedId = lastEventId(frame);
      } catch {
        // Whatever is wrong with the state is for want of the event that is lost: every frame fitted when it was recorded.
        needyId = frame.id;
      }
    });
  return needyId;
}
