/** `flagstaff export`: write the state as a JSON document that another server can start with. */
import { resolve } from 'node:path';
import { exportState } from '../actors/state-file.ts';
import { OperationError } from '../operations/operation-error.ts';
import { resolveMoment } from '../operations/read/moment.ts';
import { StateAt } from '../operations/read/state-at.ts';
import { writeFully } from '../persistence/disk/write-fully.ts';
import { type AddCommand, type CommandContext, dataDirectory, jsonText, momentOf } from './command.ts';
import { bytesText } from './format.ts';
import { stateProgressOn } from './progress.ts';

interface ExportCommandOptions {
  readonly dataDir?: string;
  readonly to?: string;
  readonly at?: string;
  readonly credentials?: boolean;
}

export const addExport: AddCommand = (program, context) => {
  program
    .command('export')
    .description('Write the state as a JSON document: projects, environments, users, flags.')
    .option('-d, --data-dir <folder>', 'the data folder (default: DATA_DIR, or ./data of the installation)')
    .option('--to <file>', 'the file to create (default: standard output)')
    .option(
      '--at <event id or time>',
      'the state after this event, or before this time (default: the newest)',
    )
    .option('--credentials', 'include the digests of tokens, which then stay valid; keep the document secret')
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
      const document = jsonText(exportState(state.world, { credentials: options.credentials === true }));
      if (options.to === undefined) return context.terminal.out(document);
      const path = resolve(options.to);
      await writeNewFile(context, path, document);
      const size = bytesText(Buffer.byteLength(document));
      context.terminal.err(`Wrote the state of event ${state.lastId} to ${path}: ${size}.`);
    });
};

async function writeNewFile({ fs }: CommandContext, path: string, text: string): Promise<void> {
  if (await fs.exists(path)) {
    throw new OperationError('occupied', `${path} exists already, and existing files are never overwritten.`);
  }
  const file = await fs.open(path, 'create');
  try {
    await writeFully(file, Buffer.from(text), 0);
    await file.sync();
  } finally {
    await file.close();
  }
}
