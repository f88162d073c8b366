/** `flagstaff events`: show the event log on the terminal. */
import { EVENT_TYPES } from '../domain/state/event-types.ts';
import { didYouMean } from '../domain/state/nearest-name.ts';
import { type EventSelection, followEvents, newestEvents } from '../operations/read-events.ts';
import type { LoggedEvent } from '../persistence/event-log/logged-event.ts';
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  momentOf,
  withCommonOptions,
} from './command.ts';
import { misuse } from './failure.ts';
import { printable } from './format.ts';

/** Shows recent events on about two screens. */
const LIMIT_DEFAULT = 50;
/** Protects the memory of this command. Nobody reads more. */
const LIMIT_MAX = 1_000_000;

interface EventsCommandOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly limit?: string;
  readonly type?: string;
  readonly project?: string;
  readonly feature?: string;
  readonly environment?: string;
  readonly by?: string;
  readonly query?: string;
  readonly from?: string;
  readonly to?: string;
}

export const addEvents: AddCommand = (program, context) => {
  withCommonOptions(program.command('events'))
    .description('Show the event log, oldest first. A server may be running.')
    .option('-f, --follow', 'keep showing new events until interrupted')
    .option(
      '-n, --limit <number>',
      'show at most this many matching events, the newest ones',
      String(LIMIT_DEFAULT),
    )
    .option('--type <type>', 'only events of this type, such as feature-archived')
    .option('--project <id>', 'only events of this project')
    .option('--feature <name>', 'only events of this flag')
    .option('--environment <name>', 'only events of this environment')
    .option('--by <name>', 'only events of this author')
    .option('--query <text>', 'only events with this text in type, author or data (case-insensitive)')
    .option('--from <event id or time>', 'only events from this one onwards')
    .option('--to <event id or time>', 'only events up to this one')
    .addHelpText(
      'after',
      `
With --json, each line holds one event.

Examples:
  flagstaff events --type feature-archived --from 2025-06-01
  flagstaff events --feature checkout --follow
  flagstaff events --json --limit 1000 | jq -r .createdBy | sort | uniq -c`,
    )
    .action(async (options: EventsCommandOptions) => {
      const { fs, terminal } = context;
      const folder = dataDirectory(context, options);
      const selection = selectionOf(options);
      const show = (event: LoggedEvent): void =>
        terminal.out(options.json ? JSON.stringify(event) : eventText(event));
      const { events, durableId } = await newestEvents({ fs, folder, selection }, limitOf(options));
      for (const event of events) show(event);
      if (!options.follow) return;
      const { stopped } = terminal;
      await followEvents({ fs, folder, selection, afterId: durableId, stopped, onEvent: show });
    });
};

function limitOf({ limit = '' }: EventsCommandOptions): number {
  const number = Number(limit);
  if (/^[0-9]+$/.test(limit) && number >= 1 && number <= LIMIT_MAX) return number;
  throw misuse(`--limit takes a number from 1 to ${LIMIT_MAX}, not "${limit}".`);
}

/** A mistyped type would select nothing, which looks as if nothing had happened. */
function typeOf({ type }: EventsCommandOptions): string | undefined {
  if (type === undefined || EVENT_TYPES.some((known) => known === type)) return type;
  throw misuse(`--type: there is no event type "${type}".${didYouMean(type, EVENT_TYPES)}`);
}

function selectionOf(options: EventsCommandOptions): EventSelection {
  const { project, feature, environment, by, query, from, to } = options;
  const start = from === undefined ? null : momentOf('--from', from);
  const end = to === undefined ? null : momentOf('--to', to);
  return {
    type: typeOf(options),
    project,
    feature,
    environment,
    createdBy: by,
    query,
    afterId: start?.kind === 'event' ? Math.max(start.id - 1, 0) : undefined,
    sinceMs: start?.kind === 'before' ? start.timeMs : undefined,
    upTo: end?.kind === 'event' ? end.id : undefined,
    untilMs: end?.kind === 'before' ? end.timeMs : undefined,
  };
}

/** `   1042  2025-06-01T12:00:00.000Z  feature-archived  default/checkout  by admin`. */
function eventText({
  id,
  createdAt,
  type,
  project,
  featureName,
  environment,
  createdBy,
}: LoggedEvent): string {
  const flag = [project, featureName].filter((part) => part !== null).join('/');
  const place = environment === null ? flag : `${flag} in ${environment}`;
  return `${String(id).padStart(7)}  ${createdAt}  ${type.padEnd(28)}  ${printable(place.trim())}  by ${printable(createdBy)}`;
}
