/** `flagstaff events`: what was changed on a server, and what is being changed. */
import { type AddCommand, type CommandContext, withJson } from '../host/command.ts';
import { CommandFailure, misuse } from '../host/command-failure.ts';
import { printable } from '../host/format.ts';
import { withServer } from '../host/remote-server.ts';
import { EXIT } from '../process/exit-codes.ts';

interface EventOptions {
  readonly follow?: boolean;
  readonly after?: string;
  readonly json?: boolean;
  /** Conditions. */
  readonly project?: string;
  readonly feature?: string;
  readonly environment?: string;
  readonly type?: string;
}

interface ShownEvent {
  readonly id: number;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly type: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly environment: string | null;
}

/** Events that are shown without `--after`. */
const NEWEST = '20';

export const addEvents: AddCommand = (program, context) => {
  withJson(program.command('events'))
    .description('Show the newest events of a server, and with --follow each that happens.')
    .option('-f, --follow', 'go on with events as they happen, until you interrupt it')
    .option('--after <event id>', 'all events after this one')
    .option('-p, --project <id>', 'only events of this project')
    .option('--feature <flag>', 'only events of this flag')
    .option('-e, --environment <name>', 'only events in this environment')
    .option('--type <type>', 'only events of this type, such as feature-environment-enabled')
    .action((options: EventOptions) => showEvents(context, options));
};

async function showEvents(context: CommandContext, options: EventOptions): Promise<void> {
  const { follow = false, after, json = false, ...others } = options;
  if (after !== undefined && !/^\d+$/.test(after))
    throw misuse(`--after takes the id of an event, not "${after}".`);
  const conditions = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, `IS:${value}`]));
  let lastId = after;
  const show = (line: string): Promise<void> => {
    const event = JSON.parse(line) as ShownEvent;
    lastId = `${event.id}`;
    return context.terminal.write(`${json ? printable(line) : lineOf(event)}\n`);
  };
  await withServer(context, async (client, url) => {
    const newest = async (query: Readonly<Record<string, string>>): Promise<readonly ShownEvent[]> => {
      const found = await client.get(`/search/events?${new URLSearchParams(query)}`);
      return (found as { readonly events: readonly ShownEvent[] }).events;
    };
    if (lastId === undefined) {
      // Before the others, so that none is left out that happens in between; those are shown once.
      lastId = `${(await newest({ limit: '1' }))[0]?.id ?? 0}`;
      for (const event of (await newest({ ...conditions, limit: NEWEST })).toReversed())
        await show(JSON.stringify(event));
      if (!follow) return;
    }
    const query = new URLSearchParams({ ...conditions, after: lastId, follow: `${follow}` });
    for await (const line of client.lines(`/events.ndjson?${query}`)) await show(line);
    if (follow)
      throw new CommandFailure(
        EXIT.unavailable,
        `${url} ended the stream; go on with --follow --after ${lastId}.`,
      );
  });
}

function lineOf({ id, createdAt, type, createdBy, project, featureName, environment }: ShownEvent): string {
  const place = [project, featureName, environment].filter((one) => one != null && one !== '').join(' / ');
  return printable([id, createdAt, type, createdBy, place].join('  ').trimEnd());
}
