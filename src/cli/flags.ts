/** `flagstaff flags`: flags of a server, by their names. */
import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { AdminClient } from '../host/admin-client.ts';
import {
  type AddCommand,
  type CommandContext,
  type CommonOptions,
  printResult,
  withJson,
} from '../host/command.ts';
import { CommandFailure, misuse } from '../host/command-failure.ts';
import { fields, printable } from '../host/format.ts';
import { withServer } from '../host/remote-server.ts';
import { EXIT } from '../process/exit-codes.ts';

interface FoundFlag {
  readonly name: string;
  readonly project: string;
  readonly environments: readonly { readonly name: string; readonly enabled: boolean }[];
}

interface WholeFlag extends FoundFlag {
  readonly description: string | null;
  readonly type: string;
  readonly environments: readonly (FoundFlag['environments'][number] & {
    readonly strategies: readonly Strategy[];
  })[];
}

interface Strategy {
  readonly id: string;
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface FlagOptions extends CommonOptions {
  readonly project?: string;
  readonly environment?: string;
  readonly type?: string;
  readonly description?: string;
}

const PERCENT_PATTERN = /^(?:100|[1-9]?\d)$/;

export const addFlags: AddCommand = (program, context) => {
  const flags = program.command('flags').description('List, show and change flags of a server.');
  const verb = (name: string, description: string): Command =>
    withJson(flags.command(name)).description(description);
  const inEnvironment = (command: Command): Command =>
    command.requiredOption('-e, --environment <name>', 'the environment');

  verb('list', 'List flags and where they are on.')
    .option('-p, --project <id>', 'only flags of this project')
    .action((options: FlagOptions) => list(context, options));
  verb('show', 'Show a flag with its strategies.')
    .argument('<flag>')
    .action((name: string, options: FlagOptions) => change(context, options, name, () => null));
  verb('create', 'Create a flag, which is off everywhere.')
    .argument('<name>')
    .option('-p, --project <id>', 'the project', 'default')
    .option('--type <type>', 'release, experiment, operational, kill-switch or permission')
    .option('--description <text>', 'its purpose')
    .action((name: string, { project, type, description, ...options }: FlagOptions) => {
      const path = `/projects/${encodeURIComponent(project ?? '')}/features`;
      return withServer(context, async (client) => {
        await client.call('POST', path, { name, type, description });
        print(context, options, await wholeFlag(client, `${path}/${encodeURIComponent(name)}`));
      });
    });
  for (const state of ['on', 'off'])
    inEnvironment(verb(state, `Switch a flag ${state} in an environment.`))
      .argument('<flag>')
      .action((name: string, options: FlagOptions) =>
        change(context, options, name, (client, path) =>
          client.call('POST', `${placeIn(path, options)}/${state}`),
        ),
      );
  inEnvironment(verb('rollout', 'Serve a flag to a share of the users in an environment.'))
    .argument('<flag>')
    .argument('<percent>', 'a whole number from 0 to 100')
    .action((name: string, percent: string, options: FlagOptions) => {
      if (!PERCENT_PATTERN.test(percent))
        throw misuse(`rollout takes a whole number from 0 to 100, not "${percent}".`);
      return change(context, options, name, (client, path) =>
        rollOut(client, placeIn(path, options), name, percent),
      );
    });
  verb('archive', 'Archive a flag.')
    .argument('<flag>')
    .action((name: string, options: FlagOptions) =>
      withServer(context, async (client) => {
        await client.call('DELETE', await pathOf(client, name));
        printResult(context, options, { name, archived: true }, printable(`${name} is archived.`));
      }),
    );
};

const placeIn = (path: string, { environment = '' }: FlagOptions): string =>
  `${path}/environments/${encodeURIComponent(environment)}`;

/** Flags that the search finds, page by page. */
export async function* foundFlags(
  client: AdminClient,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<FoundFlag> {
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const asked: URLSearchParams = new URLSearchParams({
      ...query,
      sortBy: 'name',
      limit: '100',
      offset: `${offset}`,
    });
    const page = (await client.get(`/search/features?${asked}`)) as {
      readonly features: readonly FoundFlag[];
      readonly nextOffset?: number;
    };
    yield* page.features;
    offset = page.nextOffset;
  }
}

/** The path of a flag, whose name says nothing of its project. */
async function pathOf(client: AdminClient, name: string): Promise<string> {
  for await (const found of foundFlags(client, { query: name }))
    if (found.name === name)
      return `/projects/${encodeURIComponent(found.project)}/features/${encodeURIComponent(name)}`;
  throw new CommandFailure(
    EXIT.noInput,
    printable(`There is no flag "${name}"; flagstaff flags list shows all.`),
  );
}

const wholeFlag = async (client: AdminClient, path: string): Promise<WholeFlag> =>
  (await client.get(path)) as WholeFlag;

/** Sends what is to be sent about the flag of a name, and shows the flag. */
const change = (
  context: CommandContext,
  options: FlagOptions,
  name: string,
  send: (client: AdminClient, path: string) => unknown,
): Promise<void> =>
  withServer(context, async (client) => {
    const path = await pathOf(client, name);
    await send(client, path);
    print(context, options, await wholeFlag(client, path));
  });

/** Changes the only strategy, or adds one where there is none; of several it is not known which one is meant. */
async function rollOut(client: AdminClient, path: string, name: string, rollout: string): Promise<void> {
  const strategies = (await client.get(`${path}/strategies`)) as readonly Strategy[];
  const [only] = strategies;
  if (only === undefined) {
    const parameters = { rollout, stickiness: 'default', groupId: name };
    await client.call('POST', `${path}/strategies`, { name: 'flexibleRollout', parameters });
  } else if (strategies.length === 1 && only.name === 'flexibleRollout') {
    const operations = [{ op: 'add', path: '/parameters/rollout', value: rollout }];
    await client.call('PATCH', `${path}/strategies/${only.id}`, operations);
  } else {
    const names = strategies.map((one) => one.name).join(', ');
    throw misuse(
      printable(`${name} has not one gradual rollout there but ${names}; change these in the console.`),
    );
  }
}

async function list(context: CommandContext, options: FlagOptions): Promise<void> {
  const { project } = options;
  const found: FoundFlag[] = [];
  await withServer(context, async (client) => {
    for await (const flag of foundFlags(client, project === undefined ? {} : { project: `IS:${project}` }))
      found.push(flag);
  });
  const rows = found.map(({ name, environments }): [string, string] => [
    printable(name),
    environments.map((one) => switchText(context, one)).join('  '),
  ]);
  printResult(context, options, found, rows.length === 0 ? 'There are no flags.' : fields(rows));
}

function print(context: CommandContext, options: FlagOptions, flag: WholeFlag): void {
  const rows: [string, string][] = [
    ['flag', printable(flag.name)],
    ['project', printable(flag.project)],
    ['type', printable(flag.type)],
    ['description', printable(flag.description ?? '')],
  ];
  for (const environment of flag.environments) {
    rows.push(['', switchText(context, environment)]);
    for (const { name, parameters } of environment.strategies) {
      const share = parameters['rollout'] === undefined ? '' : ` ${parameters['rollout']}%`;
      rows.push(['', printable(`  ${name}${share}`)]);
    }
  }
  printResult(context, options, flag, fields(rows));
}

/** The colour of a switch that is off is that of other text, so that those that are on stand out. */
function switchText(
  { terminal }: CommandContext,
  { name, enabled }: FoundFlag['environments'][number],
): string {
  const text = printable(`${name}: ${enabled ? 'on' : 'off'}`);
  return enabled && terminal.hasColours === true ? styleText('green', text, { validateStream: false }) : text;
}
