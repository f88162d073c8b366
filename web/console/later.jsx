/**
 * The rest of the console, which the first page does without: dialogs, and pages that people open seldom, in one file. It is loaded once
 * the first page stands, or when it is wanted sooner.
 */
import { useState } from 'preact/hooks';
import { Refused, request } from './client.js';
import { useResource, whenLoaded } from './resource.jsx';

/** @import { ComponentType } from 'preact' */

/** @typedef {typeof import('./rest.js')} Rest */

/** @type {Rest | null} */
let rest = null;

const load = () => import('./rest.js');

/** Rejects with why it could not be loaded, and tries again the next time. */
export async function loadRest() {
  rest ??= await load().catch(async () => {
    await request('auth/console');
    // Where the server answers, what was lost on the way is there now.
    return load().catch(() => {
      throw new Refused(404, 'Reload the page: it is of an earlier version of the server.');
    });
  });
  return rest;
}

/**
 * @template T
 * @typedef {T extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never} Late
 */

/** The functions of the rest. @type {{ readonly [N in keyof Rest]: Late<Rest[N]> }} */
export const later = new Proxy(/** @type {any} */ ({}), {
  get:
    (_, /** @type {keyof Rest} */ name) =>
    async (/** @type {readonly any[]} */ ...args) =>
      /** @type {any} */ ((await loadRest())[name])(...args),
});

/** A component of the rest, at once where that is loaded. @param {{ of: keyof Rest } & Record<string, unknown>} props */
export function Later({ of, ...props }) {
  const [isThere] = useState(rest !== null);
  const resource = useResource(loadRest);
  const show = (/** @type {Rest} */ loaded) => {
    const Found = /** @type {ComponentType<any>} */ (loaded[of]);
    return <Found {...props} />;
  };
  return isThere && rest !== null ? show(rest) : whenLoaded(resource, show);
}
