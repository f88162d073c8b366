/** `flagstaff repair`: salvage the consistent part of a damaged data folder. */
import { resolve } from 'node:path';
import { Option } from 'commander';
import { ArchiveDamageError } from '../addons/replication/archived-frames.ts';
import type { ReadArchive } from '../addons/replication/file-archive.ts';
import { archiveSource } from '../addons/replication/mend.ts';
import { LogAwayError } from '../addons/replication/replicated-log.ts';
import {
  type AddCommand,
  type CommandContext,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from '../host/command.ts';
import { CommandFailure, misuse } from '../host/command-failure.ts';
import { progressOn } from '../host/progress.ts';
import { checkCopy, folderSource } from '../operations/mend.ts';
import { OperationError } from '../operations/operation-error.ts';
import { finishRepair, type MendOptions, mend, repair } from '../operations/repair.ts';
import {
  lostRanges,
  planRepair,
  REPAIR_PREFERENCES,
  type RepairPlan,
  type RepairPreference,
  rangeText,
} from '../operations/repair-plan.ts';
import { type FolderVerification, verifyFolder } from '../operations/verify-folder.ts';
import { lockFolder } from '../persistence/disk/folder-lock.ts';
import { readLogHistory } from '../persistence/journal/log-history.ts';
import type { FrameSource } from '../persistence/journal/mended-segment.ts';
import { TrustedKeys } from '../persistence/proof/trusted-keys.ts';
import { refuseUnfinishedImport } from '../persistence/recovery/unfinished-work.ts';
import { EXIT } from '../process/exit-codes.ts';
import { openArchive } from '../start/cluster.ts';
import { clusterConfig } from '../start/cluster-config.ts';
import { keyFileOf, readHistoryKey } from '../start/history-key.ts';
import { damageText } from './verify.ts';

interface RepairCommandOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly prefer: RepairPreference;
  readonly dryRun?: boolean;
  readonly from?: string;
}

export const addRepair: AddCommand = (program, context) => {
  withCommonOptions(program.command('repair'))
    .description('Salvage the consistent part of a damaged data folder, so that a server starts on it.')
    .option('--yes', 'do not ask for confirmation')
    .addOption(
      new Option(
        '--prefer <what>',
        'what to keep where not both can be: the newest state, or the longer history',
      )
        .choices(REPAIR_PREFERENCES)
        .default('state'),
    )
    .option(
      '--from <copy>',
      'take what is lost from a copy: the folder of a backup or of another node, or "archive" for that of the cluster',
    )
    .option('--dry-run', 'only show what would be kept and what would be lost')
    .addHelpText(
      'after',
      `
Use it for damage that "flagstaff verify" reports. With --from it takes from a backup, however old, or from another
node's folder, exactly what is lost, proves it by checksums and signed heads, and keeps every other change. Without, it
cuts the journal at the damage, and keeps one side. The old files are moved, unchanged, into a folder damaged-<time> inside
the data folder; nothing is deleted. Stop the server first.

Examples:
  flagstaff repair --from /backups/monday
  REPLICATION_URL=nats://log-1:4222 REPLICATION_CLUSTER=production flagstaff repair --from archive
  flagstaff repair --dry-run
  flagstaff repair --dry-run --prefer history
  flagstaff repair --yes && flagstaff verify --deep`,
    )
    .action(async (options: RepairCommandOptions) => {
      const folder = dataDirectory(context, options);
      const lock = lockFolder(folder);
      try {
        await run(context, folder, options);
      } finally {
        lock.release();
      }
    });
};

async function run(context: CommandContext, folder: string, options: RepairCommandOptions): Promise<void> {
  const { fs, terminal, monotonicMs } = context;
  if (!options.dryRun && (await finishRepair(fs, folder))) {
    const message = 'A repair that had been interrupted is now finished.';
    return printResult(context, options, { repaired: true, resumed: true }, message);
  }
  await refuseUnfinishedImport(fs, folder);
  const bar = progressOn(terminal, 'bytes', monotonicMs);
  const onProgress = (bytes: number): void => bar.show('reading', bytes, null);
  const verified = await verifyFolder({ fs, folder, onProgress }).finally(() => bar.end());
  if (verified.damages.length === 0) {
    return printResult(
      context,
      options,
      { repaired: false, damages: [] },
      'Nothing is damaged; nothing was changed.',
    );
  }
  const asideName = `damaged-${new Date(context.now()).toISOString().replaceAll(':', '-')}`;
  if (options.from !== undefined)
    return withCopy(context, folder, options.from, (copy) =>
      mendFrom(context, options, { folder, verified, asideName, copy }),
    );
  const { prefer } = options;
  const plan = planRepair(verified, prefer);
  if (plan === null) throw new CommandFailure(EXIT.damagedData, NOTHING_WHOLE);
  const text = planText(verified, plan);
  const choice = `${text}${alternativeText(verified, plan, prefer)}`;
  if (options.dryRun) return printResult(context, options, planJson(verified, plan), choice);
  if (!options.yes) await agree(context, choice);
  const repaired = await repair({ fs, folder, plan, asideName });
  const done = `${text}\nDone. What was there before is in ${repaired.aside}.`;
  printResult(context, options, { ...planJson(verified, plan), repaired: true, ...repaired }, done);
}

const ARCHIVE = 'archive';

/** Opens the copy for as long as `use` takes. */
async function withCopy(
  { fs, terminal }: CommandContext,
  folder: string,
  from: string,
  use: (copy: FrameSource) => Promise<void>,
): Promise<void> {
  if (from !== ARCHIVE) return use(folderSource(fs, resolve(from)));
  const config = clusterConfig(terminal.env);
  if (config === null) throw misuse('--from archive needs the settings of the cluster: set REPLICATION_URL.');
  const say = (_: object, message: string): void => terminal.err(message);
  const { archive, close } = await openArchive(config, { info: say, warn: say }).catch(untold);
  try {
    if (archive === null) throw new OperationError('missing', noArchive(config.cluster));
    await use(archiveSource(toldApart(archive), (await readLogHistory(fs, folder))?.id ?? null));
  } catch (error) {
    if (!(error instanceof ArchiveDamageError)) throw error;
    throw new OperationError('unsound', `With --from archive, ${error.message}. ${OTHER_COPY}`, error);
  } finally {
    await close();
  }
}

const OTHER_COPY = 'Nothing was changed. A backup, or the folder of another node, may have what is lost.';

/** The failure where the servers do not say whether there is an archive. */
function untold(error: unknown): never {
  if (!(error instanceof LogAwayError)) throw error;
  throw new CommandFailure(EXIT.unavailable, `${error.message}. ${AWAY}`);
}

const AWAY =
  'Whether the cluster has an archive is not known. Nothing was changed; look at the NATS servers, and repeat the command.';

const noArchive = (cluster: string): string =>
  `The cluster "${cluster}" has no archive, the bucket FLAGSTAFF_${cluster}. ${OTHER_COPY}`;

/** The same archive, whose servers are at fault where it fails and is not damaged, and not the folder. */
function toldApart(archive: ReadArchive): ReadArchive {
  const failed = (error: Error): never => {
    if (error instanceof ArchiveDamageError) throw error;
    throw new CommandFailure(
      EXIT.unavailable,
      `The archive cannot be read: ${error.message}. Nothing was changed; look at the NATS servers, and repeat the command.`,
    );
  };
  return {
    list: () => archive.list().catch(failed),
    get: (name) => archive.get(name).catch(failed),
  };
}

type Mending = Pick<MendOptions, 'folder' | 'verified' | 'asideName' | 'copy'>;

async function mendFrom(
  context: CommandContext,
  options: RepairCommandOptions,
  mending: Mending,
): Promise<void> {
  const { fs, terminal } = context;
  const { folder, verified, copy } = mending;
  const taken = lostRanges(verified);
  await checkCopy(copy, taken);
  const key = await readHistoryKey(fs, keyFileOf(terminal.env, folder));
  const proof =
    key === null
      ? 'There is no key here, so checksums alone prove it.'
      : 'Checksums prove it, and the signed heads as far as they reach.';
  const what =
    taken.length === 0 ? 'No event is lost here' : `${copy.name} has ${taken.map(rangeText).join(', ')}`;
  const text = [...verified.damages.map(damageText), `${what}. No change would be lost. ${proof}`].join('\n');
  const plan = { damages: verified.damages, plan: { from: copy.name, taken, lost: null, unlisted: null } };
  if (options.dryRun) return printResult(context, options, { repaired: false, ...plan }, text);
  if (!options.yes) await agree(context, text);
  const keys = key === null ? null : await TrustedKeys.read(fs, folder, [key.publicKey]);
  const repaired = await mend({ fs, ...mending, keys });
  const done = `${text}\nDone. What was there before is in ${repaired.aside}.`;
  printResult(context, options, { ...plan, repaired: true, ...repaired }, done);
}

const NOTHING_WHOLE =
  'Neither a snapshot nor the first events are intact, so there is nothing to start from. Nothing was changed. "flagstaff repair --from <copy>" takes what is lost from a backup or from the folder of another node, and keeps all the rest; else start on a backup.';

async function agree({ terminal }: CommandContext, plan: string): Promise<void> {
  if (!terminal.isInteractive)
    throw misuse(
      'There is no terminal on which to ask for confirmation. Use --yes, or look first with --dry-run.',
    );
  terminal.err(plan);
  const typed = await terminal.ask('Continue? Type yes: ');
  if (typed.trim().toLowerCase() !== 'yes') throw new CommandFailure(EXIT.usage, 'Nothing was changed.');
}

function planJson({ damages }: FolderVerification, plan: RepairPlan) {
  const { base, run, lastId, firstSegment, lost, unlisted } = plan;
  return {
    repaired: false,
    damages,
    plan: {
      stateOfEvent: lastId,
      fromSnapshot: base?.id ?? null,
      events: run === null || firstSegment === null ? null : { from: firstSegment, to: lastId },
      lost,
      unlisted,
    },
  };
}

function planText({ damages }: FolderVerification, { lastId, lost, unlisted }: RepairPlan): string {
  const lines = damages.map(damageText);
  lines.push(`The folder would have the state of event ${lastId}.`);
  lines.push(lost === null ? 'No change would be lost.' : `LOST: the changes of ${rangeText(lost)}.`);
  if (unlisted !== null) {
    lines.push(`The state contains ${rangeText(unlisted)}, but the event log would no longer show them.`);
  }
  return lines.join('\n');
}

/** Describes the repair by the other preference; empty when it would be the same. */
function alternativeText(
  verified: FolderVerification,
  { lastId, firstSegment }: RepairPlan,
  preference: RepairPreference,
): string {
  const other = preference === 'history' ? 'state' : 'history';
  const plan = planRepair(verified, other);
  if (plan === null || (plan.lastId === lastId && plan.firstSegment === firstSegment)) return '';
  const events = plan.firstSegment === null ? 'no events' : `the events from ${plan.firstSegment} on`;
  return `\nWith --prefer ${other} it would have the state of event ${plan.lastId} and show ${events}.`;
}
