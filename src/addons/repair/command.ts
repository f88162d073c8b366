/** `flagstaff repair`: mend a damaged data folder from a copy, or cut it at the damage. */
import { resolve } from 'node:path';
import { Option } from 'commander';
import {
  type AddCommand,
  type CommandContext,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from '../../host/command.ts';
import { CommandFailure, misuse } from '../../host/command-failure.ts';
import { progressOn } from '../../host/progress.ts';
import type { HistoryFiles, Prover } from '../../operations/history-files.ts';
import { OperationError } from '../../operations/operation-error.ts';
import { damageText, type FolderVerification, verifyFolder } from '../../operations/verify-folder.ts';
import { lockFolder } from '../../persistence/disk/folder-lock.ts';
import type { FrameSource } from '../../persistence/journal/mended-segment.ts';
import { refuseUnfinishedImport } from '../../persistence/recovery/unfinished-work.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { checkCopy, folderSource } from './rebuild.ts';
import { finishRepair, repair } from './repair.ts';
import { rangeText, type Way, type Ways, waysToRepair } from './ways.ts';

const SIDES = ['state', 'history'] as const;
type Side = (typeof SIDES)[number];

interface RepairCommandOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly prefer?: Side;
  readonly dryRun?: boolean;
  readonly from?: string;
}

export const addRepair: AddCommand = (program, context) => {
  withCommonOptions(program.command('repair'))
    .description('Repair a damaged data folder, so that a server starts on it.')
    .option(
      '--from <copy>',
      'restore lost events from a copy: the folder of a backup or of another node, or "archive" for that of the cluster',
    )
    .addOption(
      new Option(
        '--prefer <what>',
        'without a copy, cut the journal at the damage, and keep the newest state or the longest history',
      ).choices(SIDES),
    )
    .option('--yes', 'do not ask: keep the newest state, unless --from or --prefer names another way')
    .option('--dry-run', 'only show what each way keeps')
    .addHelpText(
      'after',
      `
It shows what each way keeps, and asks. With --from it takes exactly the lost events from a backup of any age, or from another
node's folder, proves them by checksums and signatures, and keeps all the rest. Without a copy it cuts the journal at the damage,
and keeps one side. The old files are moved, unchanged, into a folder damaged-<time> inside the data folder, from which
"flagstaff restore" creates any state that can still be read. Stop the server first.

Examples:
  flagstaff repair --dry-run
  flagstaff repair --from /backups/monday
  REPLICATION_URL=nats://log-1:4222 REPLICATION_CLUSTER=production flagstaff repair --from archive
  flagstaff repair --prefer history && flagstaff verify --deep`,
    )
    .action(async (options: RepairCommandOptions) => {
      if (options.from !== undefined && options.prefer !== undefined)
        throw misuse('Give --from or --prefer, not both.');
      const folder = dataDirectory(context, options);
      const lock = lockFolder(folder);
      try {
        const historyFiles = await context.historyFiles();
        await new RepairCommand(context, options, { folder, historyFiles }).run();
      } finally {
        lock.release();
      }
    });
};

interface Choice {
  readonly way: Way;
  readonly copy: FrameSource | null;
  /** A sentence on what the folder has afterwards. */
  readonly said: string;
  readonly plan: object;
}

class RepairCommand {
  readonly #context: CommandContext;
  readonly #options: RepairCommandOptions;
  readonly #folder: string;
  readonly #historyFiles: readonly HistoryFiles[];

  constructor(
    context: CommandContext,
    options: RepairCommandOptions,
    { folder, historyFiles }: { readonly folder: string; readonly historyFiles: readonly HistoryFiles[] },
  ) {
    this.#context = context;
    this.#options = options;
    this.#folder = folder;
    this.#historyFiles = historyFiles;
  }

  async run(): Promise<void> {
    const { fs, terminal, monotonicMs } = this.#context;
    const [folder, historyFiles] = [this.#folder, this.#historyFiles];
    const { dryRun, from } = this.#options;
    if (!dryRun && (await finishRepair({ fs, folder, historyFiles })))
      return this.#print(
        { repaired: true, resumed: true },
        'A repair that had been interrupted is now finished.',
      );
    await refuseUnfinishedImport(fs, folder);
    const bar = progressOn(terminal, 'bytes', monotonicMs);
    const onProgress = (bytes: number): void => bar.show('reading', bytes, null);
    const verified = await verifyFolder({ fs, folder, historyFiles, onProgress }).finally(() => bar.end());
    const { damages } = verified;
    if (damages.length === 0)
      return this.#print({ repaired: false, damages }, 'Nothing is damaged; nothing was changed.');
    const ways = waysToRepair(verified);
    const table = tableOf(verified, ways);
    if (dryRun && from === undefined) {
      const { missing, state, history } = ways;
      const shown = { state: state && shownWay(state), history: history && shownWay(history) };
      return this.#print({ repaired: false, damages, missing, ways: shown }, table);
    }
    const choice = from ?? this.#options.prefer ?? (await this.#ask(table));
    if (from === undefined && isSide(choice)) return this.#cut(verified, ways[choice]);
    const use = (copy: FrameSource): Promise<void> => this.#takeFrom(copy, verified, ways);
    const named = this.#context.copies[choice];
    if (named !== undefined) return (await named())(this.#context, folder, use);
    const copy = resolve(choice);
    if (await fs.exists(copy)) return use(folderSource(fs, copy));
    throw new OperationError('missing', `There is nothing at ${copy}. Nothing was changed.`);
  }

  /** Returns the side to keep, or where the copy is. */
  async #ask(table: string): Promise<string> {
    const { terminal } = this.#context;
    if (this.#options.yes) return 'state';
    terminal.err(table);
    if (!terminal.isInteractive)
      throw misuse(
        'There is no terminal on which to ask which way to take. Name one: --from <copy>, --prefer state, or --prefer history.',
      );
    const typed = (await terminal.ask('Which way? Type state, history, or where the copy is: ')).trim();
    if (typed === '') throw new CommandFailure(EXIT.usage, 'Nothing was changed.');
    return typed;
  }

  async #cut(verified: FolderVerification, way: Way | null): Promise<void> {
    if (way === null) throw new CommandFailure(EXIT.damagedData, NOTHING_WHOLE);
    const said = `The folder has ${keptText(way)}.`;
    return this.#repair(verified, { way, copy: null, said, plan: shownWay(way) }, []);
  }

  async #takeFrom(copy: FrameSource, verified: FolderVerification, ways: Ways): Promise<void> {
    const { whole: way, missing: taken } = ways;
    // A repair reads it anyway, and changes nothing where the copy does not have all.
    if (this.#options.dryRun) await checkCopy(copy, taken);
    const found = await Promise.all(this.#historyFiles.map((files) => files.prover(this.#folder)));
    const provers = found.filter((prove) => prove !== null);
    const proof =
      provers.length === 0
        ? 'There is no key here, so checksums alone prove it.'
        : 'Checksums prove it, and what is signed as far as that reaches.';
    const what =
      taken.length === 0 ? 'No event is lost here' : `${copy.name} has ${taken.map(rangeText).join(', ')}`;
    const plan = { from: copy.name, taken, ...shownWay(way) };
    await this.#repair(verified, { way, copy, said: `${what}. No change is lost. ${proof}`, plan }, provers);
  }

  async #repair(
    verified: FolderVerification,
    { way, copy, said, plan }: Choice,
    provers: readonly Prover[],
  ): Promise<void> {
    const { damages } = verified;
    const text = [...damages.map(damageText), said].join('\n');
    if (this.#options.dryRun) return this.#print({ repaired: false, damages, plan }, text);
    const { fs, now } = this.#context;
    const asideName = `damaged-${new Date(now()).toISOString().replaceAll(':', '-')}`;
    const repaired = await repair({
      ...{ fs, folder: this.#folder, historyFiles: this.#historyFiles },
      ...{ verified, way, copy, provers, asideName },
    });
    this.#print({ damages, plan, repaired: true, ...repaired }, `${text}\n${doneText(repaired.aside)}`);
  }

  #print(json: object, text: string): void {
    printResult(this.#context, this.#options, json, text);
  }
}

const isSide = (text: string): text is Side => SIDES.some((side) => side === text);

const NOTHING_WHOLE =
  'Neither a snapshot nor the first events are intact, so there is nothing to start from. Nothing was changed. "flagstaff repair --from <copy>" takes what is lost from a backup or from the folder of another node, and keeps all the rest; else start on a backup.';

/** Shows what each way keeps, the one that keeps most first. */
function tableOf({ damages }: FolderVerification, { missing, state, history }: Ways): string {
  const ifThere = missing.length === 0 ? '' : `, if the copy has ${missing.map(rangeText).join(', ')}`;
  const cuts = SIDES.map((side) => ({ side, way: { state, history }[side] }))
    .filter(({ way }, at) => way !== null && (at === 0 || way !== state))
    .map(({ side, way }) => `  flagstaff repair --prefer ${side}: ${keptText(way!)}`);
  return [
    ...damages.map(damageText),
    'What each way keeps:',
    `  flagstaff repair --from <copy>: everything${ifThere}`,
    ...cuts,
    ...(cuts.length === 0 ? [NOTHING_WHOLE] : []),
  ].join('\n');
}

function keptText({ lastId, lost, unlisted }: Way): string {
  const without = lost === null ? '' : `, without the changes of ${rangeText(lost)}`;
  const unseen = unlisted === null ? '' : `; the event log no longer shows ${rangeText(unlisted)}`;
  return `the state of event ${lastId}${without}${unseen}`;
}

const doneText = (aside: string): string =>
  `Done. What was there before is in ${aside}; "flagstaff restore ${aside} --at <event> --state-only --to <folder>" makes a state of it that can still be read.`;

const shownWay = ({ parts: [first], lastId, lost, unlisted }: Way) => ({
  stateOfEvent: lastId,
  events: first === undefined ? null : { from: first.from, to: lastId },
  lost,
  unlisted,
});
