/** One attempt to tell an integration of an event: its requests, one after the other, and what became of them. */
import type { LoggedEvent } from '../../../persistence/event-log/logged-event.ts';
import { failureOf, outgoingRequests } from './outgoing-requests.ts';
import type {
  DeliveryFailure,
  OutgoingRequest,
  Parameters,
  ReceivedResponse,
  Surroundings,
} from './provider.ts';
import { providerNamed } from './table.ts';

/** The names that Unleash gives them. */
export type DeliveryState = 'success' | 'failed' | 'successWithErrors';

export interface Told {
  readonly state: DeliveryState;
  /** A sentence without secrets; empty for a success. */
  readonly reason: string;
  /** Whether nothing is left to be tried again. */
  readonly isDone: boolean;
  /** The shortest pause before the next attempt; infinite where there is to be none. */
  readonly pauseMs?: number;
}

/** Requests of the event that need not be sent again, by their places, and why those among them that failed did. */
export type Handled = Map<number, string | null>;

/** The outcome of one request. */
export type Attempt =
  | { readonly kind: 'response'; readonly response: ReceivedResponse }
  | { readonly kind: 'failure'; readonly failure: string };

export type Send = (request: OutgoingRequest, attempt: number) => Promise<Attempt>;

export interface Telling {
  /** Its name. */
  readonly provider: string;
  readonly parameters: Parameters;
  readonly event: LoggedEvent;
  readonly surroundings: Surroundings;
  /** Attempts for this event before this one. */
  readonly attempt: number;
  /** Extended by this attempt. */
  readonly handled: Handled;
}

/** Makes the attempt; null where the integration has nothing to send for the event. Never rejects for what a receiver does. */
export async function tell(telling: Telling, send: Send): Promise<Told | null> {
  const { parameters, event, surroundings, handled, attempt } = telling;
  const provider = providerNamed(telling.provider);
  if (provider === null)
    return { state: 'failed', reason: `There is no provider ${telling.provider}.`, isDone: false };
  const requests = outgoingRequests(provider, event, parameters, surroundings);
  if ('reason' in requests) return { state: 'failed', reason: requests.reason, isDone: requests.isFinal };
  if (requests.length === 0) return null;
  const toRetry: DeliveryFailure[] = [];
  for (const [place, request] of requests.entries()) {
    if (handled.has(place)) continue;
    const made = await send(request, attempt);
    const failure =
      made.kind === 'failure' ? { reason: made.failure, isFinal: false } : failureOf(provider, made.response);
    if (failure === null || failure.isFinal) handled.set(place, failure?.reason ?? null);
    else toRetry.push(failure);
  }
  return outcomeOf(handled, toRetry);
}

function outcomeOf(handled: Handled, toRetry: readonly DeliveryFailure[]): Told {
  const failed = [...handled.values()].filter((reason) => reason !== null);
  const reason = [...new Set([...failed, ...toRetry.map((one) => one.reason)])].join(' ');
  const isDone = toRetry.length === 0;
  if (reason === '') return { state: 'success', reason, isDone };
  const state = isDone && failed.length < handled.size ? 'successWithErrors' : 'failed';
  return { state, reason, isDone, pauseMs: Math.max(0, ...toRetry.map(({ pauseMs = 0 }) => pauseMs)) };
}
