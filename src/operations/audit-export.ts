/**
 * Writes history for an auditor: lines of JSON, the first with the signed head that proves the others, then one for each
 * frame, as people read it and as it was signed. docs/verify-history.mjs checks such a file without anything of ours.
 *
 *   {"format":"flagstaff-audit 1","key":"flagstaff+…","handovers":[],"head":"flagstaff/…","whole":true,"size":0,"peaks":[]}
 *   {"index":0,"contentVersion":3,"rules":3,"payload":"base64","id":1,"at":"2025-…","by":"admin","userId":1,"events":[…]}
 *
 * A whole history needs no proofs: its frames give the root. `peaks` and `size` are the tree before the oldest event that is kept. A
 * part of it has a path from each frame to the root. It proves that each frame is in the history, and not that no other one was
 * left out; only the whole can prove that.
 */
import assert from 'node:assert/strict';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { RecordedFrame } from '../persistence/journal/frame.ts';
import { OWN_STAMP } from '../persistence/journal/frame-format.ts';
import { decodePayload } from '../persistence/journal/frame-payload.ts';
import { SEGMENT_HEADER_BYTES } from '../persistence/journal/segment.ts';
import { type JournalSource, listSegments } from '../persistence/journal/segment-file.ts';
import type { Rest } from '../persistence/journal/segment-scan.ts';
import { eachHead, type RecordedHead } from '../persistence/proof/heads-file.ts';
import {
  bytesOf,
  EMPTY_TREE,
  type Hash,
  HashTree,
  leafOf,
  type TreeState,
} from '../persistence/proof/merkle-tree.ts';
import { handoverOf, type PublicKey } from '../persistence/proof/signed-head.ts';
import { TrustedKeys } from '../persistence/proof/trusted-keys.ts';
import { type FoundFrame, readJournal } from './journal-reading.ts';
import { OperationError } from './operation-error.ts';

const FORMAT = 'flagstaff-audit 1';

export interface AuditExportOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  /** The key that the reader of the export has. */
  readonly key: PublicKey;
  /** The frames that are wanted; all of them when null. */
  readonly wants: ((frame: RecordedFrame) => boolean) | null;
}

/** Hands lines on, some at a time; the next ones are made when it resolves. */
type Write = (lines: string) => Promise<void>;

export async function exportAudit(options: AuditExportOptions, write: Write): Promise<void> {
  const { fs, folder, key, wants } = options;
  const source = { fs, folder: dataFolder(folder).journal };
  const { newest, before, handovers } = await boundsOf(options, source);
  const peaks = before.peaks.map((peak) => peak.toString('base64'));
  const proof = { key: key.text, handovers, head: newest.note };
  await write(
    `${JSON.stringify({ format: FORMAT, ...proof, whole: wants === null, size: before.size, peaks })}\n`,
  );
  if (wants === null) return writeWhole(source, { newest, before }, write);
  return writeProved(source, newest, { wants, write, upper: new HashTree(await chunkRoots(source, newest)) });
}

interface Bounds {
  readonly newest: RecordedHead;
  /** The tree before the oldest event that is kept. */
  readonly before: TreeState;
  /** The heads in which one key hands over to another. */
  readonly handovers: readonly string[];
}

async function boundsOf(
  { fs, folder, key, wants }: AuditExportOptions,
  source: JournalSource,
): Promise<Bounds> {
  const [oldest] = await listSegments(source);
  const trusted = await TrustedKeys.read(fs, folder, [key]);
  const handovers: string[] = [];
  let newest: RecordedHead | null = null;
  let before: TreeState | null = null;
  for await (const recorded of eachHead(fs, folder)) {
    if (!trusted.signed(recorded.note)) continue;
    newest = recorded;
    if (handoverOf(recorded.note) !== null) handovers.push(recorded.note);
    const { boundary, tree } = recorded.place;
    if (boundary.segment === oldest && boundary.offset === SEGMENT_HEADER_BYTES) before ??= tree;
  }
  if (newest === null)
    throw new OperationError(
      'missing',
      'history.heads has no head that the key has signed; a running server signs one within seconds.',
    );
  if (oldest === newest.head.firstId) return { newest, before: EMPTY_TREE, handovers };
  if (wants === null && before !== null) return { newest, before, handovers };
  const message = `A part of the history can be proved only while all of its events are kept, from ${newest.head.firstId} on; export the whole.`;
  throw new OperationError('unsound', message);
}

/** Shows the events as they were recorded, and not upgraded: that is what was signed. */
function lineOf({ raw, payload }: FoundFrame, index: number, path: readonly Hash[] | null): string {
  const recorded = decodePayload(payload, OWN_STAMP);
  assert(recorded.problem === null, 'what could be decoded can be decoded again');
  const { id, at, by, userId, events } = recorded.frame;
  const value = {
    ...{ index, contentVersion: raw.contentVersion, rules: raw.rules, payload: payload.toString('base64') },
    ...{ id, at: new Date(at).toISOString(), by, userId, events },
    ...(path !== null && { path: path.map((hash) => bytesOf(hash).toString('base64')) }),
  };
  return `${JSON.stringify(value)}\n`;
}

const bodyOf = ({ raw, payload }: FoundFrame) => ({
  ...{ payload, contentVersion: raw.contentVersion, rules: raw.rules },
});

/** Visits the frames that the head stands for, the first as number `begin`. */
async function readUnder(
  source: JournalSource,
  { head }: RecordedHead,
  { begin = 0, visit, rest }: { begin?: number; visit(found: FoundFrame, index: number): void; rest?: Rest },
): Promise<void> {
  const [oldest = 1] = await listSegments(source);
  let index = begin;
  const { lastId } = await readJournal(source, {
    afterId: oldest - 1,
    visit: (found) => {
      visit(found, index);
      index += 1;
      return index < head.size;
    },
    ...(rest !== undefined && { rest }),
  });
  if (index === head.size && lastId === head.lastId) return;
  throw new OperationError(
    'unsound',
    `The journal ends with event ${lastId}, before what its newest head stands for.`,
  );
}

async function writeWhole(
  source: JournalSource,
  { newest, before }: Omit<Bounds, 'handovers'>,
  write: Write,
): Promise<void> {
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    const text = lines.join('');
    lines = [];
    await write(text);
  };
  const visit = (found: FoundFrame, index: number): void => void lines.push(lineOf(found, index, null));
  await readUnder(source, newest, { begin: before.size, visit, rest: flush });
  await flush();
}

/** So many leaves at a time are in memory, with the roots of all other subtrees of this size. */
const CHUNK_LEAVES = 1024;

async function chunkRoots(source: JournalSource, newest: RecordedHead): Promise<readonly Hash[]> {
  const roots: Hash[] = [];
  let leaves: Hash[] = [];
  await readUnder(source, newest, {
    visit: (found, index) => {
      leaves.push(leafOf(bodyOf(found)));
      if (leaves.length < CHUNK_LEAVES && index + 1 < newest.head.size) return;
      roots.push(new HashTree(leaves).root);
      leaves = [];
    },
  });
  return roots;
}

interface Proving {
  wants(frame: RecordedFrame): boolean;
  readonly write: Write;
  /** The tree over the roots of chunks. */
  readonly upper: HashTree;
}

async function writeProved(
  source: JournalSource,
  newest: RecordedHead,
  { wants, write, upper }: Proving,
): Promise<void> {
  let leaves: Hash[] = [];
  let wanted: ((lower: HashTree) => string)[] = [];
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    const text = lines.join('');
    lines = [];
    await write(text);
  };
  const visit = (found: FoundFrame, index: number): void => {
    leaves.push(leafOf(bodyOf(found)));
    if (wants(found.frame)) {
      const kept = { ...found, payload: Buffer.from(found.payload) };
      const [at, chunk] = [index % CHUNK_LEAVES, Math.floor(index / CHUNK_LEAVES)];
      wanted.push((lower) => lineOf(kept, index, [...lower.path(at), ...upper.path(chunk)]));
    }
    if (leaves.length < CHUNK_LEAVES && index + 1 < newest.head.size) return;
    if (wanted.length > 0) {
      const lower = new HashTree(leaves);
      lines.push(...wanted.map((line) => line(lower)));
    }
    leaves = [];
    wanted = [];
  };
  await readUnder(source, newest, { visit, rest: flush });
  await flush();
}
