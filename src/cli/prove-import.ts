/** `flagstaff import-unleash --prove`: whether applications get the same from both servers. */

import { AdminCallError } from '../addons/migration/admin-client.ts';
import { type ClientDocument, readDocument } from '../addons/migration/client-document.ts';
import { type Comparison, compareDocuments, type Difference } from '../addons/migration/prove.ts';
import { EXIT } from '../process/exit-codes.ts';
import type { CommandContext } from './command.ts';
import { jsonText } from './command.ts';
import { CommandFailure, misuse } from './failure.ts';

export interface ProveOptions {
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

export async function proveImport(
  context: CommandContext,
  source: string,
  options: ProveOptions,
): Promise<void> {
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

async function documentOf(url: string, token: string, { environment }: Scope): Promise<ClientDocument> {
  try {
    return await readDocument(url, token);
  } catch (error) {
    if (!(error instanceof AdminCallError)) throw error;
    const code = error.status === 0 ? EXIT.unavailable : EXIT.fault;
    throw new CommandFailure(code, `${url}, with its token for ${environment}: ${error.message}`);
  }
}

function linesOf({ environment, flags, evaluations, differences, onlyInTarget }: Compared): string[] {
  const found = differences.length === 0 ? 'no flag differs' : `${differences.length} differ`;
  const names = onlyInTarget.slice(0, NAMES_SHOWN).map((name) => `"${name}"`);
  const more = onlyInTarget.length - names.length;
  return [
    `${environment}: ${flags} flags, ${evaluations} evaluations on each server: ${found}.`,
    ...differences.map((one) => `- ${sentenceOf(one)}`),
    ...(names.length === 0
      ? []
      : [
          `Note: Flagstaff alone has in ${environment}: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
        ]),
  ];
}

function sentenceOf({ flag, contexts, example }: Difference): string {
  if (example === null) return `flag "${flag}" is defined in another way, which no context told apart.`;
  const { context, hostName, source, target } = example;
  const place = hostName === 'elsewhere' ? '' : ` on host ${JSON.stringify(hostName)}`;
  return `flag "${flag}" for ${contexts} contexts, such as ${JSON.stringify(context)}${place}: ${source} in Unleash, ${target ?? 'not there'} in Flagstaff.`;
}
