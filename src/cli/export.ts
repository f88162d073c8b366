/** `flagstaff export`: write the state as a JSON document that another server can start with. */
import { resolve } from 'node:path';
import { exportState } from '../actors/state-file.ts';
import {
  type AddCommand,
  type CommandContext,
  dataDirectory,
  jsonText,
  momentOf,
  withDataDir,
} from '../host/command.ts';
import { bytesText } from '../host/format.ts';
import { stateProgressOn } from '../host/progress.ts';
import { resolveMoment } from '../operations/moment.ts';
import { OperationError } from '../operations/operation-error.ts';
import { StateAt } from '../operations/state-at.ts';
import { replaceFile } from '../persistence/disk/write-fully.ts';

interface ExportCommandOptions {
  readonly dataDir?: string;
  readonly to?: string;
  readonly at?: string;
  readonly credentials?: boolean;
}

export const addExport: AddCommand = (program, context) => {
  withDataDir(program.command('export'))
    .description('Write the state as a JSON document: projects, environments, users, flags.')
    .option('--to <file>', 'the file to create (default: standard output)')
    .option(
      '--at <event id or time>',
      'the state after this event, or before this time (default: the newest)',
    )
    .option(
      '--credentials',
      'include the digests of tokens and hashes of passwords, which then stay valid; keep the document secret',
    )
    .addHelpText(
      'after',
      `
This command only reads, and works while a server is running. The document holds no secrets, and without --credentials
it holds no tokens either.

Examples:
  flagstaff export --to state.json
  flagstaff export --at 1041 | jq '.projects[].flags | length'
  IMPORT_FILE=state.json DATA_DIR=new-data npm start`,
    )
    .action(async (options: ExportCommandOptions) => {
      const folder = dataDirectory(context, options);
      const moment = options.at === undefined ? null : momentOf('--at', options.at);
      const upTo = await resolveMoment({ fs: context.fs, folder }, moment);
      const bars = stateProgressOn(context.terminal, context.monotonicMs);
      const state = await StateAt.open({ fs: context.fs, folder, upTo, onProgress: bars.onProgress }).finally(
        () => bars.end(),
      );
      if (state.lastId === 0) throw new OperationError('missing', `${folder} holds no event.`);
      const pieces = jsonPieces(exportState(state.world, { credentials: options.credentials === true }));
      if (options.to === undefined) return writeOut(context, pieces);
      const path = resolve(options.to);
      const bytes = await writeNewFile(context, path, pieces);
      context.terminal.err(`Wrote the state of event ${state.lastId} to ${path}: ${bytesText(bytes)}.`);
    });
};

/** Few calls, and little memory. */
const CHUNK_CHARACTERS = 1024 * 1024;

function* chunksOf(pieces: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  yield `${chunk}\n`;
}

async function writeOut({ terminal }: CommandContext, pieces: Iterable<string>): Promise<void> {
  for (const chunk of chunksOf(pieces)) await terminal.write(chunk);
}

/** Returns the bytes written. */
async function writeNewFile({ fs }: CommandContext, path: string, pieces: Iterable<string>): Promise<number> {
  if (await fs.exists(path)) {
    throw new OperationError('occupied', `${path} exists already, and existing files are never overwritten.`);
  }
  let bytes = 0;
  function* encoded(): Generator<Buffer> {
    for (const chunk of chunksOf(pieces)) {
      const piece = Buffer.from(chunk);
      bytes += piece.length;
      yield piece;
    }
  }
  await replaceFile(fs, path, encoded(), { durable: true });
  return bytes;
}

// A JSON text in pieces, for values too large for one string: what `JSON.stringify(value, null, 2)` gives, cut between
// the items of lists that are made while they are read.

/** A list whose items are made one after the other; unlike an array, which is written as a whole. */
const isLazy = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Symbol.iterator in value;

const holdsLazy = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).some(isLazy);

export function* jsonPieces(value: unknown, indent = ''): Generator<string> {
  if (isLazy(value)) yield* listPieces(value, indent);
  else if (holdsLazy(value)) yield* objectPieces(value, indent);
  else yield jsonText(value).replaceAll('\n', `\n${indent}`);
}

function* listPieces(items: Iterable<unknown>, indent: string): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield `${before}\n${indent}  `;
    yield* jsonPieces(item, `${indent}  `);
    before = ',';
  }
  yield before === '[' ? '[]' : `\n${indent}]`;
}

function* objectPieces(fields: object, indent: string): Generator<string> {
  let before = '{';
  for (const [name, field] of Object.entries(fields)) {
    yield `${before}\n${indent}  ${jsonText(name)}: `;
    yield* jsonPieces(field, `${indent}  `);
    before = ',';
  }
  yield `\n${indent}}`;
}
