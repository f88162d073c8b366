/** `flagstaff import-unleash`: makes a running Flagstaff equal to an Unleash. */
import { readFileSync } from 'node:fs';
import { AdminCallError, AdminClient } from '../addons/migration/admin-client.ts';
import type { Configuration } from '../addons/migration/configuration.ts';
import { type FailedStep, type MigrationResult, takeSteps } from '../addons/migration/migrate.ts';
import { type Plan, planMigration } from '../addons/migration/plan.ts';
import { readExport } from '../addons/migration/read-export.ts';
import { readServer, withWholeFlags } from '../addons/migration/read-server.ts';
import { EXIT } from '../process/exit-codes.ts';
import type { AddCommand, CommandContext } from './command.ts';
import { jsonText } from './command.ts';
import { CommandFailure, misuse } from './failure.ts';
import { type ProveOptions, proveImport } from './prove-import.ts';

interface ImportOptions extends ProveOptions {
  readonly prove?: boolean;
}

export const addImportUnleash: AddCommand = (program, context) => {
  program
    .command('import-unleash')
    .description(
      'Make a running Flagstaff equal to an Unleash: projects, flags, segments, users and what belongs to them.',
    )
    .argument('<source>', 'the address of an Unleash server, or the file of an export')
    .option('--to <url>', 'the address of the Flagstaff server', 'http://localhost:4242')
    .option('--dry-run', 'show what would be done, and change nothing')
    .option('--prove', 'change nothing, and say which flags applications would get differently')
    .option('--contexts <count>', 'with --prove: contexts drawn for each flag', '1000')
    .option('--seed <number>', 'with --prove: what the contexts are drawn from', '1')
    .option('--settle <seconds>', 'with --prove: when to read again what differs', '3')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      `
Admin tokens of both servers stand in the environment: UNLEASH_TOKEN and FLAGSTAFF_TOKEN. What is equal already is left
alone, so the command can be run again, to take in what has changed since or what was refused. What only Flagstaff has
stays as it is. It ends with 65 if the server refused a step.

--prove reads what SDKs read, with client tokens in UNLEASH_CLIENT_TOKENS and, where they are others, in
FLAGSTAFF_CLIENT_TOKENS: one for each environment, separated by commas. It ends with 65 if a flag differs.

Examples:
  flagstaff import-unleash https://unleash.example.com --dry-run
  flagstaff import-unleash https://unleash.example.com --prove
  flagstaff import-unleash export.json --to http://localhost:4242`,
    )
    .action((source: string, options: ImportOptions) => importUnleash(context, source, options));
};

async function importUnleash(context: CommandContext, source: string, options: ImportOptions): Promise<void> {
  if (options.prove) return proveImport(context, source, options);
  const { terminal } = context;
  try {
    const client = new AdminClient({ url: options.to, token: tokenOf(context, 'FLAGSTAFF_TOKEN') });
    const from = await sourceOf(context, source);
    const target = await targetOf(client, from);
    const plan = planMigration(from, target);
    const result = options.dryRun ? null : await takeSteps(plan, target, client);
    terminal.out(
      options.json
        ? jsonText({ read: countsOf(from), ...plannedOf(plan), result })
        : text(from, plan, result),
    );
    if (result !== null && result.failed.length > 0) context.finish(EXIT.damagedData);
  } catch (error) {
    if (!(error instanceof AdminCallError)) throw error;
    throw new CommandFailure(error.status === 0 ? EXIT.unavailable : EXIT.fault, error.message);
  }
}

function tokenOf({ terminal }: CommandContext, variable: string): string {
  const token = terminal.env[variable];
  if (token !== undefined && token !== '') return token;
  throw misuse(`Set ${variable} to an admin token of that server.`);
}

/** With all of the archived flags that are to be revived. */
async function targetOf(client: AdminClient, from: Configuration): Promise<Configuration> {
  const target = await readServer(client);
  const revived = [...target.flags.values()].filter(
    ({ name, archived }) => archived && from.flags.get(name)?.archived === false,
  );
  return withWholeFlags(
    client,
    target,
    revived.map(({ name }) => name),
  );
}

async function sourceOf(context: CommandContext, source: string): Promise<Configuration> {
  if (/^https?:\/\//.test(source))
    return readServer(new AdminClient({ url: source, token: tokenOf(context, 'UNLEASH_TOKEN') }));
  let content: string;
  try {
    content = readFileSync(source, 'utf8');
  } catch (error) {
    throw new CommandFailure(
      EXIT.noInput,
      `${source} is neither an address, such as https://unleash.example.com, nor a file that can be read: ${reasonOf(error)}`,
    );
  }
  try {
    return readExport(JSON.parse(content));
  } catch (error) {
    throw new CommandFailure(EXIT.damagedData, `${source} is no export of Unleash. ${reasonOf(error)}`);
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function countsOf({
  projects,
  flags,
  segments,
  contextFields,
  strategyTypes,
  users,
  environments,
}: Configuration) {
  return {
    environments: environments.size,
    projects: projects.size,
    flags: flags.size,
    segments: segments.size,
    contextFields: contextFields.size,
    strategyTypes: [...strategyTypes.values()].filter(({ editable }) => editable !== false).length,
    users: users.size,
  };
}

const plannedOf = ({ steps, remarks }: Plan) => ({ steps: steps.map(({ does }) => does), remarks });

function text(from: Configuration, { steps, remarks }: Plan, result: MigrationResult | null): string {
  const counts = Object.entries(countsOf(from)).map(([what, count]) => `${count} ${WORDS[what] ?? what}`);
  const lines = [`Read ${counts.join(', ')}.`];
  if (steps.length === 0) lines.push('Everything is equal already.');
  else if (result === null)
    lines.push(`${steps.length} steps would be taken:`, ...steps.map(({ does }) => `- ${does}`));
  else {
    lines.push(`${result.taken} of ${steps.length} steps were taken.`);
    lines.push(...result.failed.map((one) => `- refused: ${notTaken(one)}`));
    lines.push(...result.leftOut.map((one) => `- left out: ${notTaken(one)}`));
  }
  return [...lines, ...remarks.map((remark) => `Note: ${remark}`)].join('\n');
}

const notTaken = ({ does, reason, effect }: FailedStep): string =>
  [`${does}: ${reason}`, ...(effect === null ? [] : [effect])].join(' ');

const WORDS: Readonly<Record<string, string>> = {
  contextFields: 'context fields',
  strategyTypes: 'strategy types',
};
