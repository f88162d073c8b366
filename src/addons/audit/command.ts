/** `flagstaff audit`: what an auditor checks, and the keys. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import {
  type AddCommand,
  type CommandContext,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
  withDataDir,
} from '../../host/command.ts';
import { misuse } from '../../host/command-failure.ts';
import { rateText } from '../../host/format.ts';
import { progressOn } from '../../host/progress.ts';
import { newestEvent } from '../../operations/journal-reading.ts';
import { OperationError } from '../../operations/operation-error.ts';
import { lockFolder } from '../../persistence/disk/folder-lock.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { type Audit, auditFolder, type Difference } from './audit.ts';
import { keyFileOf, readHistoryKey, replaceHistoryKey } from './history-key.ts';
import { type Head, PublicKey, parseHead } from './signed-head.ts';

interface KeyOptions extends CommonOptions {
  readonly key?: readonly string[];
}

interface VerifyOptions extends KeyOptions {
  readonly head?: string;
}

export const addAudit: AddCommand = (program, context) => {
  const audit = program.command('audit').description('Prove that the history is what was signed.');
  withCommonOptions(audit.command('verify'))
    .description('Verify the journal against signed heads, and list every event that differs.')
    .option(
      '--key <key...>',
      'public keys, as text or as files that hold one: first that of the folder, then an older one of --head (default: that of history.key)',
    )
    .option('--head <file>', 'a head kept elsewhere: as text, or the response of /health')
    .addHelpText('after', VERIFY_HELP)
    .action((options: VerifyOptions) => verify(context, options));
  withDataDir(audit.command('replace-key'))
    .description('Replace the signing key; what is already signed stays valid. Stop the server first.')
    .action((options: CommonOptions) => replaceKey(context, options));
  withDataDir(audit.command('key'))
    .description('Print the public key that verifies the heads of this folder.')
    .action(async (options: CommonOptions) =>
      context.terminal.out((await ownKey(dataDirectory(context, options), context)).text),
    );
};

const VERIFY_HELP = `
Without --key and --head it trusts what the folder itself says, and finds only changes made without the key. The exit
code is 65 if anything differs. A server may be running.

Examples:
  flagstaff audit verify --key flagstaff+8a61d99e+AQ… --head kept-in-june.txt --data-dir /evidence
  flagstaff audit verify`;

/** The key of the folder, whose private part the server has. */
async function ownKey(folder: string, { fs, terminal }: CommandContext): Promise<PublicKey> {
  const file = keyFileOf(terminal.env, folder);
  const signer = await readHistoryKey(fs, file);
  if (signer !== null) return signer.publicKey;
  throw new OperationError('missing', `There is no key at ${file}; name the public one with --key.`);
}

async function keysOf(
  folder: string,
  { key }: KeyOptions,
  context: CommandContext,
): Promise<readonly PublicKey[]> {
  if (key === undefined) return [await ownKey(folder, context)];
  return key.map((text) => {
    const parsed = PublicKey.parse(existsSync(text) ? contentOf(text, '--key') : text);
    if (parsed !== null) return parsed;
    throw misuse(
      `--key takes a key such as flagstaff+8a61d99e+AQ…, or a file that holds one, not "${text}".`,
    );
  });
}

async function replaceKey(context: CommandContext, options: CommonOptions): Promise<void> {
  const { fs, terminal } = context;
  const folder = dataDirectory(context, options);
  const file = keyFileOf(terminal.env, folder);
  const lock = lockFolder(folder);
  try {
    const key = await replaceHistoryKey(fs, folder, file);
    if (key === null) throw new OperationError('missing', keyOfAnother(file));
    terminal.out(key.text);
  } finally {
    lock.release();
  }
}

const keyOfAnother = (file: string): string =>
  `The key in ${file} has not signed the newest head of this folder, so nothing here is its own. Start the server once, which signs, or name the right key with HISTORY_KEY_FILE. Nothing was changed.`;

function contentOf(file: string, option: string): string {
  if (existsSync(file) && statSync(file).isDirectory())
    throw misuse(`${option} takes a file, and ${file} is a folder.`);
  return readFileSync(file, 'utf8');
}

/** A head as it stands in a file: alone, or in what /health responds. */
function noteIn(file: string): string {
  const text = contentOf(file, '--head');
  if (!text.startsWith('{')) return text;
  try {
    const value = JSON.parse(text) as {
      readonly note?: unknown;
      readonly head?: { readonly note?: unknown };
    };
    return String(value.note ?? value.head?.note);
  } catch {
    throw misuse(`--head takes a signed head, or what /health responds, and ${file} is neither.`);
  }
}

function keptHead(file: string, keys: readonly PublicKey[]): Head {
  const note = noteIn(file);
  const head = parseHead(note);
  if (head === null) throw new OperationError('unsound', 'This is no signed head.');
  if (keys.some((key) => key.signed(note))) return head;
  throw new OperationError('unsound', 'None of the keys signed this head.');
}

async function verify(context: CommandContext, options: VerifyOptions): Promise<void> {
  const { fs, terminal, monotonicMs } = context;
  const folder = dataDirectory(context, options);
  const keys = await keysOf(folder, options, context);
  const [key] = keys;
  assert(key !== undefined, 'an option that takes keys has one');
  const kept = options.head === undefined ? null : keptHead(options.head, keys);
  const startedAt = monotonicMs();
  const bar = progressOn(terminal, 'events', monotonicMs);
  const onProgress = (events: number): void => bar.show('hashing', events, null);
  const newestId = (): Promise<number> => newestEvent({ fs, folder });
  const audit = await auditFolder({ fs, folder, key, kept, newestId, onProgress }).finally(() => bar.end());
  const tookMs = monotonicMs() - startedAt;
  printResult(context, options, auditJson(audit), auditText(audit, tookMs));
  if (audit.differences.length > 0) context.finish(EXIT.damagedData);
  else if (audit.signed === null) throw new OperationError('unsound', NOTHING_SIGNED);
}

const NOTHING_SIGNED = 'Nothing is proved: there is no head that the key has signed, here or with --head.';

const auditJson = (audit: Audit) => ({
  ...audit,
  proved: audit.differences.length === 0 && audit.signed !== null,
});

function auditText({ differences, signed, firstId, lastId }: Audit, tookMs: number): string {
  const lines = differences.map(differenceText);
  lines.push(`Hashed ${rateText(Math.max(0, lastId - firstId + 1), tookMs)}.`);
  if (differences.length === 0 && signed !== null) {
    lines.push(
      `The events from ${firstId} to ${signed.lastId} are what was signed at ${new Date(signed.at).toISOString()}.`,
    );
    if (signed.lastId < lastId)
      lines.push(`The events from ${signed.lastId + 1} to ${lastId} are not signed yet.`);
  }
  return lines.join('\n');
}

const differenceText = ({ from, to, what }: Difference): string =>
  `DIFFERENCE in ${from === to ? `event ${from}` : `the events from ${from} to ${to}`}: ${what}.`;
