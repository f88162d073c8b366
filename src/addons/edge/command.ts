/** `flagstaff edge`: an edge in this process; and `edge health` and `edge ready`, which ask one that runs. */
import type { Command } from 'commander';
import type { AddCommand, CommandContext } from '../../host/command.ts';
import { CommandFailure } from '../../host/command-failure.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { EDGE_OPTIONS, OTHER_OPTIONS } from './options.ts';

const EDGE_URL = 'http://127.0.0.1:3063';

/** A probe that takes longer has failed. */
const PROBE_MS = 5_000;

export const addEdge: AddCommand = (program, context) => {
  const edge = program
    .command('edge')
    .description(
      'Serve SDKs in front of a Flagstaff or an Unleash. Each option is also an environment variable: --upstream-url is UPSTREAM_URL.',
    );
  for (const { name, takes, initial, purpose } of EDGE_OPTIONS) {
    const shown = initial === null ? purpose : `${purpose} (default: ${initial})`;
    edge.option(takes === null ? `--${name}` : `--${name} <${takes}>`, shown);
  }
  for (const name of OTHER_OPTIONS.keys()) edge.addOption(edge.createOption(`--${name} [value]`).hideHelp());
  edge
    .addHelpText(
      'after',
      `
Examples:
  flagstaff edge --upstream-url https://flags.example --tokens '*:production.secret'
  flagstaff edge ready`,
    )
    .action(async (options: Readonly<Record<string, string | true | undefined>>) => {
      // Loaded for this command only.
      const { runEdge } = await import('./run.ts');
      await runEdge(givenOptions(options), context.terminal.env);
    });
  for (const probe of ['health', 'ready'] as const) addProbe(edge, context, probe);
};

/** By their own names: commander gives them in camel case. */
function givenOptions(options: Readonly<Record<string, string | true | undefined>>) {
  const names = [...EDGE_OPTIONS.map(({ name }) => name), ...OTHER_OPTIONS.keys()];
  const camelCase = (name: string): string =>
    name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(names.map((name) => [name, options[camelCase(name)]]));
}

function addProbe(edge: Command, { terminal }: CommandContext, probe: 'health' | 'ready'): void {
  edge
    .command(probe)
    .description(`Ask a running edge /internal-backstage/${probe}, as supervisors of containers do.`)
    .option('--edge-url <url>', 'where the edge listens, with its base path', EDGE_URL)
    .action(async ({ edgeUrl }: { edgeUrl: string }) => {
      const url = `${edgeUrl.replace(/\/+$/, '')}/internal-backstage/${probe}`;
      const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) }).catch((error: unknown) => {
        throw new CommandFailure(EXIT.unavailable, `There is no response from ${url}: ${String(error)}`);
      });
      terminal.out(await response.text());
      if (!response.ok) throw new CommandFailure(EXIT.unavailable, `The edge answered ${response.status}.`);
    });
}
