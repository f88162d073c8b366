/** The requests of a delivery with the headers that all providers send, and the outcome of each. */
import type { LoggedEvent } from '../../../persistence/event-log/logged-event.ts';
import { eventHeaders } from './headers.ts';
import {
  type DeliveryFailure,
  type OutgoingRequest,
  type Parameters,
  type Provider,
  type ReceivedResponse,
  type Surroundings,
  statusFailure,
} from './provider.ts';
import { signature } from './signature.ts';

/** Made anew for each attempt, whose time they are signed with. */
export function outgoingRequests(
  provider: Provider,
  event: LoggedEvent,
  parameters: Parameters,
  surroundings: Surroundings,
): readonly OutgoingRequest[] | DeliveryFailure {
  const requests = provider.requests(event, parameters, surroundings);
  if (!isRequests(requests)) return requests;
  const headers = eventHeaders(event, surroundings);
  return requests.map((request) => ({
    ...request,
    headers: {
      ...request.headers,
      ...headers,
      ...signature(parameters['signingSecrets'] ?? '', headers, request.body),
    },
  }));
}

const isRequests = (made: readonly OutgoingRequest[] | DeliveryFailure): made is readonly OutgoingRequest[] =>
  Array.isArray(made);

export const failureOf = (provider: Provider, response: ReceivedResponse): DeliveryFailure | null =>
  (provider.failureOf ?? statusFailure)(response);
