/** The content of the file beside each golden folder: what the release itself showed of the folder that it made. */
import type { Json, Shape } from './picture.ts';

export interface Expected {
  /** The version of the build that made the folder. */
  readonly release: string;
  readonly lastEventId: number;
  /** The fields that the release showed; everything below is reduced to them. */
  readonly shapes: {
    readonly document: Shape;
    readonly flag: Shape;
    /** By type of event. */
    readonly events: Readonly<Record<string, Shape>>;
  };
  /** The newest state, as `flagstaff export --credentials` writes it. */
  readonly document: Json;
  /** Earlier events, and SHA-256 of the document of the state right after each. */
  readonly moments: readonly { readonly eventId: number; readonly documentHash: string }[];
  /** The first digits of the SHA-256 of each event, from event 1 on, so that a test names the event that differs. */
  readonly eventHashes: readonly string[];
  /** The response to `GET /projects/:project/features/:flag?at=:eventId`. */
  readonly pastFlags: readonly {
    readonly project: string;
    readonly flag: string;
    readonly eventId: number;
    readonly shown: Json;
  }[];
  /** A POST that was sent with this idempotency key, and the response to it. */
  readonly retried: {
    readonly path: string;
    readonly body: Json;
    readonly key: string;
    readonly status: number;
    readonly response: Json;
  };
  /** The secret of a personal token that is in the folder, and the username of its owner. */
  readonly personalToken: { readonly secret: string; readonly username: string };
  /** The ids that the next user and the next personal token must get, since an id is never given twice. */
  readonly nextUserId: number;
  readonly nextPersonalTokenId: number;
}

/** Digits of an event's hash that are recorded. */
export const EVENT_HASH_DIGITS = 16;
