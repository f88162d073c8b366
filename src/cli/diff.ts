/** `flagstaff diff`: show what changed between two moments. */
import { type Comparison, diffBetween } from '../operations/between.ts';
import type { FieldChange, ThingChange } from '../operations/diff.ts';
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
