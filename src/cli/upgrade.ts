/** `flagstaff upgrade --check`: what the way back from an upgrade is, before anything is written. */

import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from '../host/command.ts';
import { misuse } from '../host/command-failure.ts';
import { checkStart } from '../persistence/recovery/start-check.ts';

interface UpgradeOptions extends CommonOptions {
  readonly check?: boolean;
}

export const addUpgrade: AddCommand = (program, context) => {
  withCommonOptions(program.command('upgrade'))
    .description('Check whether the older version can still use a folder after an upgrade to this one.')
    .option('--check', 'only look; the upgrade itself is a start of this version')
    .addHelpText(
      'after',
      `
The command only reads. The exit code is 0 if this version would start on the folder, else 65.

Example:
  flagstaff upgrade --check --data-dir /var/lib/flagstaff`,
    )
    .action(async (options: UpgradeOptions) => {
      if (options.check !== true)
        throw misuse('The upgrade itself is a start of this version. Use --check to look before it.');
      const folder = dataDirectory(context, options);
      const check = await checkStart({ fs: context.fs, folder });
      if (check.refusal !== null) throw check.refusal;
      const { lastId, isOlder } = check;
      printResult(context, options, { folder, lastId, writtenByOlder: isOlder }, isOlder ? OLDER : SAME);
    });
};

const OLDER =
  'An older version wrote this folder. This one starts on it. Until it records a change, the older version can go on with the folder; ' +
  'after that, only with a backup from before. Make one now: flagstaff backup --to <folder>.';

const SAME =
  'This version, or one with the same formats, wrote this folder: nothing that a start or a change writes keeps that version from going on with it.';
