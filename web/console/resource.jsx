/** The data that a view loads from the server: again and again, one request at a time. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { messageOf } from './client.js';
import { useEvents } from './feed.js';
import { Failed, Loading } from './parts/states.jsx';
import { useSession } from './session.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Shape } from './parts/states.jsx' */
/** @import { EventHead } from './types.d.ts' */

/**
 * @template T
 * @typedef {ReturnType<typeof createResource<T>>} Resource
 */

/**
 * Loads on `refresh`, and once more when that was called meanwhile. After the first success a failure leaves standing what was shown.
 * @template T
 * @param {() => Promise<T>} load
 */
function createResource(load) {
  /** @type {import('@preact/signals').Signal<{ value: T } | null>} */
  const loaded = signal(null);
  const error = signal(/** @type {unknown} */ (null));
  let running = false;
  let again = false;

  async function refresh() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      try {
        loaded.value = { value: await load() };
        error.value = null;
      } catch (reason) {
        error.value = reason;
      }
    } while (again);
    running = false;
  }
  /** Puts in what is known to have changed since. What is being loaded meanwhile may not show it. @param {(value: T) => T} change */
  function patch(change) {
    if (loaded.value !== null) loaded.value = { value: change(loaded.value.value) };
    if (running) again = true;
  }
  return { loaded, error, refresh, patch };
}

/**
 * A resource that lives as long as the component, is loaded at once, and loads again when the server answers after an outage.
 * @template T
 * @param {() => Promise<T>} load
 * @param {readonly unknown[]} [of] makes it another resource when one of them changes
 * @param {(event: EventHead) => boolean} [isNews] the events after which it is loaded again; none unless said
 */
export function useResource(load, of = [], isNews = () => false) {
  const session = useSession();
  const resource = useMemo(() => createResource(load), of);
  const recoveries = session.feed.recoveries.value;
  useEffect(() => void resource.refresh(), [resource, recoveries]);
  useEvents(session, (events) => {
    if (events.some(isNews)) void resource.refresh();
  });
  return resource;
}

/** Reads a path. @param {string} at @param {(event: EventHead) => boolean} [isNews] @returns {Resource<any>} */
export function useRead(at, isNews) {
  const { client } = useSession();
  return useResource(() => client.get(at), [client, at], isNews);
}

/** Any event may change what is shown. */
export const anyEvent = () => true;

/**
 * Gives `take` what `run` resolves to a while after one of `of` has changed last, unless another change came meanwhile.
 * @template T
 * @param {number} ms
 * @param {() => Promise<T>} run
 * @param {(found: T) => void} take
 * @param {readonly unknown[]} of
 */
export function useDelayed(ms, run, take, of) {
  useEffect(() => {
    let isWanted = true;
    const timer = setTimeout(async () => {
      const found = await run();
      if (isWanted) take(found);
    }, ms);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, of);
}

/**
 * Shows what is loaded, or that it is being loaded, or why it could not be.
 * @template T
 * @param {Resource<T>} resource
 * @param {(value: T) => ComponentChildren} render
 * @param {Shape} [shape] of what comes
 */
export function whenLoaded({ loaded, error, refresh }, render, shape = 'rows') {
  if (loaded.value !== null) return render(loaded.value.value);
  if (error.value !== null) return <Failed error={error.value} retry={() => void refresh()} />;
  return <Loading shape={shape} />;
}

/**
 * Says what a change would do, once the server has tried it.
 * @template T
 * @param {{ at: string, body: unknown, children: (found: T) => ComponentChildren }} props
 */
export function Preview({ at, body, children }) {
  const { client } = useSession();
  const { loaded, error } = useResource(() => client.post(at, body), [client, at, JSON.stringify(body)]);
  if (error.value !== null) return messageOf(error.value);
  return loaded.value === null ? 'Previewing the changes…' : children(loaded.value.value);
}
