/** Names that sentences need of what flags refer to: of segments by id, and of the context fields that exist. */
import { signal } from '@preact/signals';

/** @import { ContextField, Segment, Session } from './types.d.ts' */

/** @typedef {{ segments: ReadonlyMap<number, string>, fields: ReadonlySet<string> | null }} Names `fields`: null while they are not known */

/** @type {Names} */
const UNKNOWN = { segments: new Map(), fields: null };

export const names = signal(UNKNOWN);

/** Null until somebody has asked for them. @type {Promise<void> | null} */
let loading = null;

/** Resolves once they are known, or cannot be. @param {Session} session */
export function loadNames({ client }) {
  loading ??= read(client).catch(() => {
    loading = null;
  });
  return loading;
}

/** @param {Session['client']} client */
async function read(client) {
  const [{ segments }, fields] = await Promise.all([client.get('/segments'), client.get('/context')]);
  names.value = {
    segments: new Map(segments.map((/** @type {Segment} */ { id, name }) => [id, name])),
    fields: new Set(fields.map((/** @type {ContextField} */ { name }) => name)),
  };
}

/** After an event that may have changed them. @param {Session} session */
export function reloadNames(session) {
  if (loading === null) return;
  loading = null;
  void loadNames(session);
}

/** At the end of a session. */
export function forgetNames() {
  loading = null;
  names.value = UNKNOWN;
}
