/** `flagstaff status`: show what a data folder holds. */

import { type FolderStatus, folderStatus, type LastStop } from '../operations/folder-status.ts';
import { EXIT } from '../process/exit-codes.ts';
import { roleText } from './cluster.ts';
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from './command.ts';
import { bytesText, count, fields } from './format.ts';

export const addStatus: AddCommand = (program, context) => {
  withCommonOptions(program.command('status'))
    .description('Show what the data folder holds: events, snapshots, sizes and the last stop.')
    .addHelpText(
      'after',
      `
This command only reads, and works while a server is running. The exit code is 65 when no server would start on the
folder. To have every damage named, use flagstaff verify.

Examples:
  flagstaff status
  flagstaff status --data-dir /srv/flagstaff --json | jq .journal.lastEvent.id`,
    )
    .action(async (options: CommonOptions) => {
      const status = await folderStatus(context.fs, dataDirectory(context, options));
      printResult(context, options, status, statusText(status));
      if (status.refusal !== null) context.finish(EXIT.damagedData);
    });
};

function statusText(status: FolderStatus): string {
  const { folder, formats, server, journal, snapshots, lastStop, refusal } = status;
  const { firstEvent, lastEvent } = journal;
  const rows: [string, string][] = [
    ['folder', folder],
    ['formats', `journal ${formats.journal}, snapshots ${formats.snapshot}`],
    ['server', server === null ? 'not running' : `running, process ${server.pid}`],
    ...(server === null || server.cluster === null
      ? []
      : ([['cluster', roleText(server.cluster)]] as [string, string][])),
    ['last stop', stopText(lastStop)],
    ['journal', `${count(journal.segments, 'file')}, ${bytesText(journal.bytes)}`],
    ['begins with', journal.beginsWith === null ? 'not recorded' : `event ${journal.beginsWith}`],
    ['first event', firstEvent === null ? 'none' : `${firstEvent.id} of ${firstEvent.time}`],
    ['last event', lastEvent === null ? 'none' : `${lastEvent.id} of ${lastEvent.time}`],
    ['snapshots', snapshots.length === 0 ? 'none' : count(snapshots.length, 'file')],
  ];
  for (const { id, time, bytes } of snapshots) {
    rows.push(['', `as of event ${id} (${time ?? 'the header cannot be read'}), ${bytesText(bytes)}`]);
  }
  if (refusal !== null) rows.push(['start', `refused: ${refusal}`]);
  return fields(rows);
}

function stopText(stop: LastStop): string {
  switch (stop.kind) {
    case 'running':
      return 'running now';
    case 'never':
      return 'no server has had this folder open';
    case 'clean':
      return `clean, ${stop.time}`;
    case 'crash':
      return `not clean: process ${stop.pid} did not stop properly, or a server without a control socket is running`;
  }
}
