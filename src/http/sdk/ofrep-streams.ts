/**
 * Streams that tell OpenFeature clients when to evaluate again. A browser opens them without headers, so that the path has to show
 * what the client may hear of: it holds a ticket, which is made from the digest of a token. Whoever has a ticket hears that
 * something has changed in what the token covers, and never what; the token cannot be found from it.
 */
import { createHash } from 'node:crypto';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import type { ApiToken, World } from '../../domain/state/world.ts';
import { scopeOf } from '../serving/access.ts';
import type { RequestContext, StreamRoute } from '../serving/route.ts';
import { queryOfAnyone, queryOfScope } from './documents/client-query.ts';
import { flagStreams, type StreamRequest } from './streams/flag-streams.ts';
import { REFETCH_FORMAT } from './streams/stream-format.ts';

export const STREAMS_PATH = '/ofrep/v1/streams';

/** Hexadecimal digits. */
const TICKET_LENGTH = 32;

const tickets = new WeakMap<ApiToken, string>();

function ticketOf(token: ApiToken): string {
  let ticket = tickets.get(token);
  if (ticket === undefined) {
    const hash = createHash('sha256').update(`${STREAMS_PATH}/${token.digest}`);
    ticket = hash.digest('hex').slice(0, TICKET_LENGTH);
    tickets.set(token, ticket);
  }
  return ticket;
}

interface TicketIndex {
  readonly accessRevision: number;
  readonly tokens: ReadonlyMap<string, ApiToken>;
}

const indexes = new WeakMap<World, TicketIndex>();

/** Made anew when tokens have changed; the tickets of those that stay are known. */
function tokenOfTicket(world: World, ticket: string): ApiToken | undefined {
  const { apiTokens, accessRevision } = world.directory;
  let index = indexes.get(world);
  if (index?.accessRevision !== accessRevision) {
    const tokens = [...apiTokens.values()].filter(({ type }) => type !== 'admin');
    index = { accessRevision, tokens: new Map(tokens.map((token) => [ticketOf(token), token])) };
    indexes.set(world, index);
  }
  return index.tokens.get(ticket);
}

/** Stands in the path where nobody needs a token; no ticket has a letter beyond f. */
const OPEN_TICKET = 'open';

/** The field `eventStreams` as JSON, with a comma before it; empty where no stream is offered. */
export function eventStreamsField({ streaming, caller }: RequestContext<unknown>): string {
  if (!streaming.forPages) return '';
  const ticket = caller.token === null ? OPEN_TICKET : ticketOf(caller.token);
  const requestUri = `${streaming.basePath}${STREAMS_PATH}/${ticket}`;
  return `,"eventStreams":${JSON.stringify([{ type: 'sse', endpoint: { requestUri } }])}`;
}

type Heard = Pick<StreamRequest, 'query' | 'token'>;

const NO_STREAM = notFound('No token gives this stream.');

function heardWith({ world, params, now }: RequestContext<unknown>): Heard | Refusal {
  const token = tokenOfTicket(world, params.ticket);
  const isValid = token !== undefined && (token.expiresAt === null || Date.parse(token.expiresAt) > now());
  return isValid ? { query: queryOfScope(scopeOf(token), false), token } : NO_STREAM;
}

/** What evaluations without a token show. */
function heardByAnyone({ world, streaming }: RequestContext<unknown>): Heard | Refusal {
  return streaming.areOpen ? { query: queryOfAnyone(world, false), token: null } : NO_STREAM;
}

export const eventStreamRoute: StreamRoute = {
  kind: 'stream',
  method: 'GET',
  path: '/:ticket',
  operationId: 'streamEvaluationHints',
  tag: 'OpenFeature',
  summary: 'Hear, as server-sent events, that flags have changed and are to be evaluated again.',
  permission: 'scope',
  success: { status: 200, schema: null },
  refusals: ['NotFoundError'],
  open: (context) => {
    const { engine, params } = context;
    const heard = params.ticket === OPEN_TICKET ? heardByAnyone(context) : heardWith(context);
    if (isRefusal(heard)) return heard;
    return flagStreams(engine).open({
      ...heard,
      format: REFETCH_FORMAT,
      lastEventId: context.header('last-event-id'),
    });
  },
};
