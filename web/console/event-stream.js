/** The stream by which the server tells of events as they are recorded. */

/** @import { EventHead } from './types.d.ts' */

/** Before a stream that failed is tried again, in milliseconds. Meanwhile the events are searched for. */
const RETRY_MS = 15_000;

/**
 * Open while it is wanted, and tried again now and then when it fails.
 * @param {object} of
 * @param {() => number} of.known the last event that is known
 * @param {(events: readonly EventHead[]) => void} of.onEvents newest first
 * @param {(id: number) => void} of.onMissed more happened, up to this event, than the stream tells
 * @param {() => void} of.onLost
 */
export function openEventStream({ known, onEvents, onMissed, onLost }) {
  /** @type {EventSource | null} */
  let source = null;
  let isOpen = false;
  let retryAt = 0;

  /** @param {EventSource} opened */
  function listenTo(opened) {
    opened.addEventListener('opened', () => {
      isOpen = true;
    });
    opened.addEventListener('recorded', ({ data }) => onEvents(JSON.parse(data).events.reverse()));
    opened.addEventListener('missed', ({ lastEventId }) => onMissed(Number(lastEventId)));
    // It is not left to the browser to try again, which does not say whether anybody is still signed in.
    opened.addEventListener('error', () => {
      const wasOpen = isOpen;
      close();
      retryAt = wasOpen ? 0 : Date.now() + RETRY_MS;
      onLost();
    });
  }

  function close() {
    source?.close();
    source = null;
    isOpen = false;
  }

  return {
    isOpen: () => isOpen,
    /** @param {boolean} isWanted */
    wanted(isWanted) {
      if (!isWanted) return close();
      if (source !== null || Date.now() < retryAt) return;
      source = new EventSource(`api/admin/event-stream?after=${known()}`);
      listenTo(source);
    },
  };
}
