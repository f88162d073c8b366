/** `flagstaff verify`: read every byte of a data folder and report all damage. */
import { stateHash } from '../actors/state/world-snapshot.ts';
import {
  type AddCommand,
  type CommandContext,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from '../host/command.ts';
import { bytesText, count, rateText, secondsText } from '../host/format.ts';
import { progressOn, stateProgressOn } from '../host/progress.ts';
import { StateAt, type StateProgress } from '../operations/state-at.ts';
import {
  damageOf,
  damageText,
  type FolderVerification,
  type VerifiedSnapshot,
  type VerifyOptions,
  verifyFolder,
} from '../operations/verify-folder.ts';
import type { Damage } from '../operations/verify-journal.ts';
import { DataFolderError } from '../persistence/disk/data-folder.ts';
import { EXIT } from '../process/exit-codes.ts';

interface VerifyCommandOptions extends CommonOptions {
  readonly deep?: boolean;
}

type Report = Awaited<ReturnType<typeof verify>>;

export const addVerify: AddCommand = (program, context) => {
  withCommonOptions(program.command('verify'))
    .description('Read every byte of the journal and the snapshots and report all damage.')
    .option('--deep', 'also replay from nothing and from each snapshot, and compare the states')
    .addHelpText(
      'after',
      `
This command only reads, and works while a server is running. The exit code is 0 without damage, and 65 when
anything is damaged.

Examples:
  flagstaff verify
  flagstaff verify --deep --data-dir /backups/monday
  flagstaff verify --json | jq '.damages[] | {file, offset, lastGoodEventId}'`,
    )
    .action(async (options: VerifyCommandOptions) => {
      const report = await verify(context, dataDirectory(context, options), options.deep === true);
      printResult(context, options, reportJson(report), reportText(report));
      if (damagesOf(report).length > 0) context.finish(EXIT.damagedData);
    });
};

async function verify(context: CommandContext, folder: string, wantsDeep: boolean) {
  const { fs, terminal, monotonicMs } = context;
  const startedAt = monotonicMs();
  const bar = progressOn(terminal, 'bytes', monotonicMs);
  const onProgress = (bytes: number): void => bar.show('reading', bytes, null);
  const historyFiles = await context.historyFiles();
  const verified = await verifyFolder({ fs, folder, historyFiles, onProgress }).finally(() => bar.end());
  const readAt = monotonicMs();
  const isSound = verified.damages.length === 0;
  const bars = stateProgressOn(terminal, monotonicMs);
  const deep =
    wantsDeep && isSound
      ? await verifyDeep({ fs, folder, verified, onReplayed: bars.onProgress }).finally(() => bars.end())
      : null;
  return { folder, verified, deep, readMs: readAt - startedAt, replayMs: monotonicMs() - readAt };
}

const USAGE_UNPROVED =
  'What applications reported about use has checksums; no events are behind it with which it could be compared.';

const damagesOf = ({ verified, deep }: Report): readonly Damage[] => [
  ...verified.damages,
  ...(deep?.damages ?? []),
];

function reportJson(report: Report) {
  const { folder, verified, deep } = report;
  const { journal, snapshots, notes, lastId } = verified;
  const damages = damagesOf(report);
  return {
    folder,
    sound: damages.length === 0,
    damages,
    notes: deep === null ? notes : [...notes, USAGE_UNPROVED],
    lastGoodEventId: lastId,
    journal: {
      files: journal.segments.length,
      bytes: journal.bytes,
      frames: journal.frames,
      events: journal.events,
      intact: journal.runs.map(({ firstId, lastId: last }) => ({ from: firstId, to: last })),
    },
    snapshots: snapshots.map(({ id, path, bytes, header }) => ({ id, path, bytes, good: header !== null })),
    deep: deep === null ? null : { stateHash: deep.stateHash, eventId: deep.lastId, ways: deep.ways },
  };
}

function reportText(report: Report): string {
  const { verified, deep, readMs, replayMs } = report;
  const { journal, snapshots, notes } = verified;
  const damages = damagesOf(report);
  const lines = damages.map(damageText);
  lines.push(...notes.map((note) => `note: ${note}`));
  lines.push(
    `Read ${count(journal.segments.length, 'journal file')} with ${count(journal.events, 'event')} (${bytesText(journal.bytes)}) and ${count(snapshots.length, 'snapshot')} in ${secondsText(readMs)}.`,
  );
  if (deep !== null) {
    lines.push(
      `Replayed ${rateText(deep.replayedEvents, replayMs)} in ${count(deep.ways, 'way')}: state of event ${deep.lastId} is ${deep.stateHash}.`,
    );
  }
  if (deep !== null) lines.push(`note: ${USAGE_UNPROVED}`);
  lines.push(damages.length === 0 ? 'All is well.' : verdict(verified, damages));
  return lines.join('\n');
}

function verdict({ journal }: FolderVerification, damages: readonly Damage[]): string {
  const runs = journal.runs.map(({ firstId, lastId }) => `${firstId}–${lastId}`).join(', ');
  const intact = runs === '' ? 'No event is intact.' : `Intact events: ${runs}.`;
  return `${count(damages.length, 'damaged place')}. ${intact} "flagstaff repair --dry-run" shows what each way to repair them keeps.`;
}

// The deep part of verifying checks that all ways lead to the same state. The journal is replayed from the first
// event and from each snapshot, and the hashes of the states are compared at every snapshot and at the end. A
// difference means a fault of the program, or events written by a version with other rules.

interface DeepVerification {
  /** Hash of the state after the newest event, as a restart would have it. */
  readonly stateHash: string;
  readonly lastId: number;
  /** Number of compared replays: one from the first event, if all events are kept, and one from each snapshot. */
  readonly ways: number;
  readonly replayedEvents: number;
  readonly damages: readonly Damage[];
}

interface VerifyDeepOptions extends Omit<VerifyOptions, 'onProgress'> {
  /** Its journal and snapshots have no damage. */
  readonly verified: FolderVerification;
  onReplayed?(progress: StateProgress): void;
}

async function verifyDeep(options: VerifyDeepOptions): Promise<DeepVerification> {
  const { verified } = options;
  const comparison = new Comparison(options);
  const firstId = verified.journal.segments[0] ?? null;
  if (firstId === 1 || verified.snapshots.length === 0) await comparison.attempt(null);
  for (const snapshot of verified.snapshots) {
    if (firstId === null || snapshot.id >= firstId - 1) await comparison.attempt(snapshot);
  }
  return comparison.result();
}

class Comparison {
  readonly #options: VerifyDeepOptions;
  readonly #lastId: number;
  /** By event id, the hash of the first replay that reached it. */
  readonly #hashes = new Map<number, string>();
  readonly #damages: Damage[] = [];
  #ways = 0;
  #replayedEvents = 0;

  constructor(options: VerifyDeepOptions) {
    this.#options = options;
    this.#lastId = Math.max(options.verified.lastId, options.verified.snapshots.at(-1)?.id ?? 0);
  }

  /** Replays from one snapshot, or from the first event, past the later snapshots to the end, or to an event that does not fit. */
  async attempt(from: VerifiedSnapshot | null): Promise<void> {
    try {
      await this.#way(from);
    } catch (error) {
      if (!(error instanceof DataFolderError)) throw error;
      const damage = damageOf(error);
      const isKnown = this.#damages.some(
        ({ file, offset }) => file === damage.file && offset === damage.offset,
      );
      if (!isKnown) this.#damages.push(damage);
    }
  }

  async #way(from: VerifiedSnapshot | null): Promise<void> {
    const { fs, folder, verified, onReplayed } = this.#options;
    const startId = from?.id ?? 0;
    const state = await StateAt.open({
      fs,
      folder,
      upTo: startId,
      startFrom: from,
      ...(onReplayed === undefined ? {} : { onProgress: onReplayed }),
    });
    this.#ways += 1;
    const stops = verified.snapshots.map(({ id }) => id).filter((id) => id >= startId);
    for (const id of new Set([...stops, this.#lastId])) {
      await state.advance(id);
      this.#compare(id, stateHash(state.world), from);
    }
    this.#replayedEvents += state.replayedEvents;
  }

  #compare(id: number, hash: string, from: VerifiedSnapshot | null): void {
    const known = this.#hashes.get(id);
    if (known === undefined) this.#hashes.set(id, hash);
    if (known === undefined || known === hash) return;
    const what = `the state of event ${id} differs when the replay begins with this snapshot`;
    this.#damages.push({ file: from?.path ?? '', offset: null, lastGoodEventId: from?.id ?? 0, what });
  }

  result(): DeepVerification {
    return {
      stateHash: this.#hashes.get(this.#lastId) ?? '',
      lastId: this.#lastId,
      ways: this.#ways,
      replayedEvents: this.#replayedEvents,
      damages: this.#damages,
    };
  }
}
