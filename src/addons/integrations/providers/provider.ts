/** A provider of integrations: a row that turns an event into the HTTP requests that tell its receiver. */
import type { LoggedEvent } from '../../../persistence/event-log/logged-event.ts';

export interface ProviderParameter {
  readonly name: string;
  readonly displayName: string;
  readonly type: 'text' | 'textfield' | 'url';
  readonly required: boolean;
  /** Whether it is in no response, event, export or log. */
  readonly sensitive: boolean;
  readonly placeholder?: string;
  readonly description: string;
  /** A sentence that says why a value that is not empty is refused, or null. A `url` is checked without it. */
  readonly issueOf?: (value: string) => string | null;
}

/** The values of an integration, by the names of parameters. An empty text is as none. */
export type Parameters = Readonly<Record<string, string>>;

/** The inputs of a request beside the event and the integration. */
export interface Surroundings {
  /** The address at which people reach this server, with BASE_URI_PATH and without a slash at its end; null where no setting says so. */
  readonly publicUrl: string | null;
  /** The time of the attempt. */
  readonly at: Date;
  /** The percentage of users for whom the event's flag is on in its environment at this time; null where no one number says it. */
  readonly share: number | null;
}

export interface OutgoingRequest {
  readonly method: 'POST';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A delivery that did not succeed. */
export interface DeliveryFailure {
  /** A sentence without secrets. */
  readonly reason: string;
  /** Whether no retry can succeed, so that the next event need not wait. */
  readonly isFinal: boolean;
  /** The shortest pause before a retry that the receiver asks for; infinite where it is gone for good. */
  readonly pauseMs?: number;
}

export interface ReceivedResponse {
  readonly status: number;
  /** The part of it that was read. */
  readonly body: string;
  /** The pause that its header Retry-After asks for. */
  readonly retryAfterMs?: number;
}

export interface Provider {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly documentationUrl: string;
  readonly howTo?: string;
  /** A sentence that says why it should not be chosen any more. */
  readonly deprecated?: string;
  readonly parameters: readonly ProviderParameter[];
  /** Types of the events that it can send. */
  readonly events: readonly string[];
  readonly tagTypes?: readonly TagTypeOfProvider[];
  /** One request for each place that the receiver has for the event, none where it has none. Pure, with bounded work. */
  readonly requests: (
    event: LoggedEvent,
    parameters: Parameters,
    surroundings: Surroundings,
  ) => readonly OutgoingRequest[] | DeliveryFailure;
  /** Null for success; without it a status of 2xx is one, and any other status may be followed by a retry. */
  readonly failureOf?: (response: ReceivedResponse) => DeliveryFailure | null;
}

export interface TagTypeOfProvider {
  readonly name: string;
  readonly description: string;
  readonly icon: string;
}

export function statusFailure({ status, retryAfterMs = 0 }: ReceivedResponse): DeliveryFailure | null {
  if (status >= 200 && status <= 299) return null;
  // Standard Webhooks: a receiver that is gone wants nothing more.
  if (status === 410)
    return {
      reason: 'The receiver is gone (status 410).',
      isFinal: false,
      pauseMs: Number.POSITIVE_INFINITY,
    };
  return { reason: `The receiver answered with status ${status}.`, isFinal: false, pauseMs: retryAfterMs };
}
