/** `flagstaff import-unleash`: makes a running Flagstaff equal to an Unleash. */
import { readFileSync } from 'node:fs';
import { AdminClient } from '../../host/admin-client.ts';
import { type AddCommand, type CommandContext, jsonText } from '../../host/command.ts';
import { CommandFailure, misuse } from '../../host/command-failure.ts';
import { printable } from '../../host/format.ts';
import { answerOf } from '../../host/remote-server.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { type ClientDocument, readDocument } from './client-document.ts';
import type { Configuration } from './configuration.ts';
import { type FailedStep, type MigrationResult, takeSteps } from './migrate.ts';
import { type Plan, planMigration } from './plan.ts';
import { type Comparison, compareDocuments, type Difference } from './prove.ts';
import { readExport } from './read-export.ts';
import { readServer, withWholeFlags } from './read-server.ts';

interface ImportOptions extends ProveOptions {
  readonly prove?: boolean;
}

export const addImportUnleash: AddCommand = (program, context) => {
  program
    .command('import-unleash')
    .description(
      'Migrate an Unleash into a running Flagstaff: projects, flags, segments, users and related settings.',
    )
    .argument('<source>', 'the address of an Unleash server, or the file of an export')
    .option('--to <url>', 'the address of the Flagstaff server', 'http://localhost:4242')
    .option('--dry-run', 'show the steps, and change nothing')
    .option('--prove', 'change nothing, and report flags that applications would get differently')
    .option('--contexts <count>', 'with --prove: random contexts per flag', '1000')
    .option('--seed <number>', 'with --prove: seed of the random contexts', '1')
    .option('--settle <seconds>', 'with --prove: delay before differences are read again', '3')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      `
Admin tokens of both servers come from the environment: UNLEASH_TOKEN and FLAGSTAFF_TOKEN. Equal parts are left alone, so the
command can be run again to add what has changed since or was refused. Anything only in Flagstaff stays. It ends with 65 if the
server refused a step.

--prove reads what SDKs read, with client tokens in UNLEASH_CLIENT_TOKENS and, if different, in
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
  const client = new AdminClient({ url: options.to, token: tokenOf(context, 'FLAGSTAFF_TOKEN') });
  const from = await sourceOf(context, source);
  const { plan, result } = await answerOf(options.to, async () => {
    const target = await targetOf(client, from);
    const plan = planMigration(from, target);
    return { plan, result: options.dryRun ? null : await takeSteps(plan, target, client) };
  });
  terminal.out(
    options.json ? jsonText({ read: countsOf(from), ...plannedOf(plan), result }) : text(from, plan, result),
  );
  if (result !== null && result.failed.length > 0) context.finish(EXIT.damagedData);
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
  if (/^https?:\/\//.test(source)) {
    const client = new AdminClient({ url: source, token: tokenOf(context, 'UNLEASH_TOKEN') });
    return answerOf(source, () => readServer(client));
  }
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

// `flagstaff import-unleash --prove`: whether applications get the same from both servers.

interface ProveOptions {
  readonly to: string;
  readonly contexts: string;
  readonly seed: string;
  readonly settle: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** An environment, or that of one project, as a client token names it. */
interface Scope {
  readonly environment: string;
  readonly ofSource: string;
  readonly ofTarget: string;
}

type Compared = Comparison & Pick<Scope, 'environment'>;

/** The most names in the text; JSON has them all. */
const NAMES_SHOWN = 20;

async function proveImport(context: CommandContext, source: string, options: ProveOptions): Promise<void> {
  if (options.dryRun) throw misuse('--prove changes nothing, so it takes no --dry-run.');
  if (!/^https?:\/\//.test(source))
    throw misuse(
      `--prove compares with a running Unleash, and ${source} is no address, such as https://unleash.example.com.`,
    );
  const { terminal } = context;
  const scopes = scopesOf(terminal.env);
  const drawing = { count: numberOf('--contexts', options.contexts), seed: numberOf('--seed', options.seed) };
  const settleMs = numberOf('--settle', options.settle) * 1000;
  const compared: Compared[] = [];
  for (const scope of scopes) {
    const compare = async (): Promise<Comparison> => {
      const [theirs, ours] = await Promise.all([
        documentOf(source, scope.ofSource, scope),
        documentOf(options.to, scope.ofTarget, scope),
      ]);
      return compareDocuments(theirs, ours, { ...drawing, nowMs: context.now() });
    };
    let comparison = await compare();
    if (comparison.differences.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, settleMs));
      comparison = await compare();
    }
    compared.push({ environment: scope.environment, ...comparison });
  }
  terminal.out(
    options.json ? jsonText({ ...drawing, environments: compared }) : compared.flatMap(linesOf).join('\n'),
  );
  if (compared.some(({ differences }) => differences.length > 0)) context.finish(EXIT.damagedData);
}

function scopesOf(env: CommandContext['terminal']['env']): readonly Scope[] {
  const ofSource = tokensOf('UNLEASH_CLIENT_TOKENS', env['UNLEASH_CLIENT_TOKENS']);
  if (ofSource.length === 0)
    throw misuse(
      'Set UNLEASH_CLIENT_TOKENS to client tokens, one for each environment, separated by commas; and FLAGSTAFF_CLIENT_TOKENS to those of Flagstaff where they are others.',
    );
  const ofTarget = tokensOf('FLAGSTAFF_CLIENT_TOKENS', env['FLAGSTAFF_CLIENT_TOKENS']);
  const there = ofTarget.length === 0 ? ofSource : ofTarget;
  const environments = (tokens: readonly Token[]): string =>
    tokens.map(({ environment }) => environment).join(', ');
  if (environments(ofSource) !== environments(there))
    throw misuse(
      `UNLEASH_CLIENT_TOKENS is for ${environments(ofSource)}, and FLAGSTAFF_CLIENT_TOKENS for ${environments(there)}; give tokens of the same environments, in the same order.`,
    );
  return ofSource.map(({ environment, token }, at) => ({
    environment,
    ofSource: token,
    ofTarget: there[at]?.token ?? token,
  }));
}

interface Token {
  readonly environment: string;
  readonly token: string;
}

/** Names a token by its position, because it is a secret. */
function tokensOf(variable: string, text = ''): readonly Token[] {
  const tokens = text.split(',').map((token) => token.trim());
  return tokens
    .filter((token) => token !== '')
    .map((token, at) => {
      const environment = /^[^:]+:([^.]+)\../.exec(token)?.[1];
      if (environment === undefined || environment === '*')
        throw misuse(
          `Token ${at + 1} of ${variable} is ${environment === '*' ? 'an admin token' : 'no client token'}; one begins with the project, or *, and the environment: *:production.secret`,
        );
      return { environment, token };
    });
}

function numberOf(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw misuse(`${option} takes a whole number, not "${text}".`);
}

const documentOf = (url: string, token: string, { environment }: Scope): Promise<ClientDocument> =>
  answerOf(`${url}, with its token for ${environment}`, () => readDocument(url, token));

function linesOf({ environment, flags, evaluations, differences, onlyInTarget }: Compared): string[] {
  const found = differences.length === 0 ? 'no flag differs' : `${differences.length} differ`;
  const names = onlyInTarget.slice(0, NAMES_SHOWN).map((name) => `"${name}"`);
  const more = onlyInTarget.length - names.length;
  return [
    `${environment}: ${flags} flags, ${evaluations} evaluations on each server: ${found}.`,
    ...differences.map((one) => `- ${printable(sentenceOf(one))}`),
    ...(names.length === 0
      ? []
      : [
          `Note: Flagstaff alone has in ${environment}: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
        ]),
  ];
}

function sentenceOf({ flag, contexts, example }: Difference): string {
  if (example === null) return `flag "${flag}" is defined in another way, which no context distinguished.`;
  const { context, hostName, source, target } = example;
  const place = hostName === 'elsewhere' ? '' : ` on host ${JSON.stringify(hostName)}`;
  return `flag "${flag}" for ${contexts} contexts, such as ${JSON.stringify(context)}${place}: ${source} in Unleash, ${target ?? 'not there'} in Flagstaff.`;
}
