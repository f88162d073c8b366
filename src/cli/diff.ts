/** `flagstaff diff`: show what changed between two moments. */
import { difference, type FieldChange, type ThingChange, takePicture } from '../operations/diff.ts';
import { type Moment, resolveMoment } from '../operations/moment.ts';
import { OperationError } from '../operations/operation-error.ts';
import { StateAt, type StateProgress } from '../operations/state-at.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  momentOf,
  printResult,
  withCommonOptions,
} from './command.ts';
import { count, printable } from './format.ts';
import { stateProgressOn } from './progress.ts';

interface DiffCommandOptions extends CommonOptions {
  readonly from: string;
  readonly to?: string;
  readonly project?: string;
}

export const addDiff: AddCommand = (program, context) => {
  withCommonOptions(program.command('diff'))
    .description(
      'Show what changed between two moments in flags, switches, strategies, variants, members and more.',
    )
    .requiredOption('--from <event id or time>', 'the state after this event, or before this time')
    .option('--to <event id or time>', 'the state to compare it with (default: the newest)')
    .option('--project <id>', 'only this project and its flags')
    .addHelpText(
      'after',
      `
This command only reads, and works while a server is running. When --to is before --from, it shows what going back
would change.

Examples:
  flagstaff diff --from 1041 --to 1042
  flagstaff diff --from 2025-06-01T12:00:00Z --project default
  flagstaff diff --from 1000 --json | jq -r '.changes[] | select(.kind == "flag").name'`,
    )
    .action(async (options: DiffCommandOptions) => {
      const bars = stateProgressOn(context.terminal, context.monotonicMs);
      const comparison = await diffBetween({
        fs: context.fs,
        folder: dataDirectory(context, options),
        from: momentOf('--from', options.from),
        to: options.to === undefined ? null : momentOf('--to', options.to),
        project: options.project ?? null,
        onProgress: bars.onProgress,
      }).finally(() => bars.end());
      printResult(context, options, comparison, comparisonText(comparison));
    });
};

function comparisonText({ from, to, changes }: Comparison): string {
  const head = `From event ${from} to event ${to}: ${count(changes.length, 'difference')}.`;
  return [head, ...changes.map(changeText)].join('\n');
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

function changeText({ kind, name, project, change, fields }: ThingChange): string {
  const where = kind === 'flag' ? `${printable(project ?? '')}/` : '';
  const head = `${SIGNS[change]} ${kind} ${where}${printable(name)} ${change}`;
  return [head, ...fields.map(fieldText)].join('\n');
}

function fieldText(change: FieldChange): string {
  const field = printable(change.field);
  if (!('before' in change)) return `    ${field}: ${valueText(change.after)}`;
  if (!('after' in change)) return `    ${field}: was ${valueText(change.before)}`;
  return `    ${field}: ${valueText(change.before)} → ${valueText(change.after)}`;
}

const valueText = (value: unknown): string => printable(JSON.stringify(value));

// The difference between two moments of a data folder.

interface CompareOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  readonly from: Moment;
  /** Null for now. */
  readonly to: Moment | null;
  /** Limits the comparison to this project and its flags; null for everything. */
  readonly project: string | null;
  onProgress?(progress: StateProgress): void;
}

interface Comparison {
  /** The last events of the two states. */
  readonly from: number;
  readonly to: number;
  readonly changes: readonly ThingChange[];
}

/** `to` may be before `from`; the result then says what going back would change. */
async function diffBetween(options: CompareOptions): Promise<Comparison> {
  const { fs, folder, project, onProgress } = options;
  const from = await resolveMoment({ fs, folder }, options.from);
  const to = await resolveMoment({ fs, folder }, options.to);
  const isBackward = to < from;
  const state = await StateAt.open({
    fs,
    folder,
    upTo: isBackward ? to : from,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  const early = { id: state.lastId, picture: takePicture(state.world, project) };
  await state.advance(isBackward ? from : to);
  const late = { id: state.lastId, picture: takePicture(state.world, project) };
  if (project !== null && early.picture.size + late.picture.size === 0) {
    throw new OperationError('missing', `There was no project "${project}" at either moment.`);
  }
  const [before, after] = isBackward ? [late, early] : [early, late];
  return { from: before.id, to: after.id, changes: difference(before.picture, after.picture) };
}
