/** `flagstaff restore`: point-in-time restore into a new folder. */
import { resolve } from 'node:path';
import type { Moment } from '../operations/moment.ts';
import { type Restored, restore } from '../operations/restore.ts';
import { type AddCommand, type CommonOptions, momentOf, printResult } from './command.ts';
import { misuse } from './failure.ts';
import { rateText, timeText } from './format.ts';
import { stateProgressOn } from './progress.ts';

interface RestoreCommandOptions extends CommonOptions {
  readonly to: string;
  readonly at?: string;
  readonly before?: string;
  readonly stateOnly?: boolean;
}

export const addRestore: AddCommand = (program, context) => {
  program
    .command('restore')
    .argument('<source>', 'a data folder, or one snapshot file')
    .description('Make a new data folder with the state as it was after an event, or before a time.')
    .requiredOption('--to <folder>', 'the folder to create; existing files are never overwritten')
    .option('--at <event id>', 'the last event to keep (default: the newest)')
    .option('--before <time>', 'keep everything older than this time, such as 2025-06-01T12:00:00Z')
    .option('--state-only', 'leave out the events: the new folder starts with a snapshot alone')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      `
The source is not changed, and a server may be running on it. A change that recorded several events
is kept or left out as a whole.

Examples:
  flagstaff events --type feature-archived          find the moment
  flagstaff diff --from 1041 --to 1042              look at what happened
  flagstaff restore data --to data-before --at 1041
  flagstaff verify --deep --data-dir data-before
  DATA_DIR=data-before npm start`,
    )
    .action(async (source: string, options: RestoreCommandOptions) => {
      const bars = stateProgressOn(context.terminal, context.monotonicMs);
      const restored = await restore({
        fs: context.fs,
        from: resolve(source),
        to: resolve(options.to),
        moment: momentIn(options),
        stateOnly: options.stateOnly === true,
        monotonicMs: context.monotonicMs,
        onProgress: bars.onProgress,
      }).finally(() => bars.end());
      printResult(context, options, restored, restoredText(restored));
    });
};

function momentIn({ at, before }: RestoreCommandOptions): Moment | null {
  if (at !== undefined && before !== undefined) throw misuse('Give --at or --before, not both.');
  if (at !== undefined) {
    const moment = momentOf('--at', at);
    if (moment.kind === 'event') return moment;
    throw misuse(`--at takes an event id, not "${at}"; use --before for a time.`);
  }
  if (before === undefined) return null;
  const moment = momentOf('--before', before);
  if (moment.kind === 'before') return moment;
  throw misuse(`--before takes a time, not "${before}"; use --at for an event id.`);
}

function restoredText(restored: Restored): string {
  const { to, lastId, lastAt, snapshotId, replayedEvents, buildMs, withEvents, stateHash } = restored;
  const from = snapshotId === null ? 'from the first event' : `from the snapshot of event ${snapshotId}`;
  return [
    `Restored the state as of event ${lastId} (${timeText(lastAt)}) into ${to}.`,
    `Built ${from}; replayed ${rateText(replayedEvents, buildMs)}; a start on the new folder gave the same state: ${stateHash}.`,
    withEvents
      ? `The events up to ${lastId} are in the new folder.`
      : 'The events before it are not in the new folder, which starts with a snapshot alone.',
  ].join('\n');
}
