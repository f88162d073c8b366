/**
 * The interface as the console calls it. Who calls, the browser's session says: a cookie that no script can read.
 */
import { signal } from '@preact/signals';
import { visible } from './said.jsx';

/** Whether the last request was answered. */
export const isReachable = signal(true);

/** Responses that begin.js has asked for, by URL. @type {Map<string, Promise<Response>>} */
const begun = window.begun ?? new Map();
window.begun = begun;

/** Gives up what nobody took until the first view has asked for all that it needs: it only grows older. */
export const forgetBegun = () => begun.clear();

/** A response that is not a success, or none at all (status 0). The message is a sentence for people. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {readonly { message: string, path?: string }[]} [details] `path`: such as `/body/name`
   */
  constructor(status, message, details = []) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/**
 * @typedef {object} Change a request that changes something, as it is sent and as the equivalent curl shows it
 * @property {'POST' | 'PUT' | 'PATCH' | 'DELETE'} method
 * @property {string} path below `api/admin`, made with `path`
 * @property {unknown} [body]
 * @property {import('./proposals.jsx').Proposal} [proposal] what stands for it where its environment takes change requests, if its path does not say that
 */

/** @param {Change['method']} method @param {string} path @param {unknown} [body] @returns {Change} */
export const changing = (method, path, body) => ({ method, path, ...(body === undefined ? {} : { body }) });

/** @typedef {ReturnType<typeof createClient>} Client */

/**
 * @param {() => Promise<boolean>} [renew] called when nobody is signed in any more; resolves to whether somebody is again
 * @param {() => number} [replaced] how often another session has taken the place of that of before
 */
export function createClient(renew = async () => false, replaced = () => 0) {
  /** The newest event that this page made: in a cluster, another node may not have it yet, and waits for it. */
  let newest = 0;
  /**
   * @param {string} method
   * @param {string} path below `api/admin`, made with `path`
   * @param {{ body?: unknown, ifMatch?: string, key?: string }} [options]
   * @returns {Promise<{ body: any, etag: string }>}
   */
  async function call(method, path, { body, ifMatch = '', key = '' } = {}) {
    const send = () =>
      request(`api/admin${path}`, {
        method,
        body,
        // Responses are asked for anew each time; their ETags save the bodies.
        cache: 'no-cache',
        headers: {
          ...(ifMatch !== '' && { 'if-match': ifMatch }),
          ...(key !== '' && { 'idempotency-key': key }),
          ...(newest > 0 && { 'flagstaff-at-least': String(newest) }),
        },
      });
    const before = replaced();
    const received = await send().catch(async (error) => {
      const isRefused = error instanceof Refused && error.status === 401;
      // What the session of before was refused may be good for the one that has taken its place meanwhile.
      if (isRefused && (replaced() !== before || (await renew()))) return send();
      throw error;
    });
    newest = Math.max(newest, Number(received.headers.get('flagstaff-event-id') ?? 0));
    return { body: received.body, etag: received.headers.get('etag') ?? '' };
  }
  /** The request that was begun for the first read, whatever that turns out to be. @type {{ path: string, reading: ReturnType<typeof call> } | null} */
  let begun = null;
  /** @param {string} path */
  function read(path) {
    const reading = begun?.path === path ? begun.reading : call('GET', path);
    begun = null;
    return reading;
  }
  return {
    /** Asks at once for what a view will read first: drawing what stands around it takes slow processors a while. @param {string} path */
    begin(path) {
      const reading = call('GET', path);
      // The view that reads it says what went wrong.
      reading.catch(() => undefined);
      begun = { path, reading };
    },
    /** @param {string} path */
    get: async (path) => (await read(path)).body,
    /** With its ETag, which a change may name as what it was made from. @param {string} path */
    read,
    /** @param {string} path @param {unknown} [body] */
    post: async (path, body) => (await call('POST', path, { body })).body,
    /** @param {Change} change @param {string} [ifMatch] @param {string} [key] under which the server makes it once, however often it is sent */
    change: async ({ method, path, body }, ifMatch = '', key = '') =>
      (await call(method, path, { body, ifMatch, key })).body,
  };
}

/**
 * Resolves to a success, and rejects with `Refused` else.
 * @param {string} url
 * @param {{ method?: string, body?: unknown, headers?: Record<string, string>, cache?: RequestCache }} [options]
 * @returns {Promise<{ body: any, headers: Headers }>}
 */
export async function request(url, { method = 'GET', body, headers = {}, ...options } = {}) {
  const withBody =
    body === undefined
      ? { headers }
      : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetched(url, { method, ...withBody, ...options });
  const received = bodyOf(await response.text());
  if (response.ok && received !== undefined) return { body: received, headers: response.headers };
  throw refusalOf(response.status, received);
}

/** @param {string} url @param {RequestInit} init */
async function fetched(url, init) {
  try {
    const early = begun.get(url);
    begun.delete(url);
    const response = await (early ?? fetch(url, { credentials: 'same-origin', redirect: 'error', ...init }));
    isReachable.value = true;
    return response;
  } catch {
    isReachable.value = false;
    throw new Refused(0, 'The server cannot be reached.');
  }
}

/** Null for no body. Undefined for one that is no JSON: a proxy in between has pages of its own. @param {string} text */
function bodyOf(text) {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {number} status @param {any} body a list of `{ msg }` where a rule of memberships was broken */
function refusalOf(status, body) {
  const message = Array.isArray(body) ? body[0]?.msg : body?.message;
  return new Refused(
    status,
    typeof message === 'string' ? visible(message) : `The server answered ${status}.`,
    detailsIn(body),
  );
}

/** @param {any} body @returns {Refused['details']} */
const detailsIn = (body) =>
  (body?.details ?? []).map((/** @type {{ message: string, path?: string }} */ one) => ({
    ...one,
    message: visible(one.message),
  }));

/**
 * A path whose parts may hold any character: path`/projects/${id}`.
 * @param {TemplateStringsArray} texts
 * @param {...(string | number)} parts
 */
export function path(texts, ...parts) {
  return texts.reduce((before, text, index) => before + encodeURIComponent(parts[index - 1] ?? '') + text);
}

/** The client of one form: a change whose response was lost is made once, although it is sent again. @param {Client} client @returns {Client} */
export function onceEach(client) {
  /** @type {Map<string, string>} */
  const keys = new Map();
  return {
    ...client,
    change(change, ifMatch) {
      const { method, path, body } = change;
      const sent = JSON.stringify([method, path, body]);
      const key = keys.get(sent) ?? `${Date.now()}-${Math.random()}`;
      keys.set(sent, key);
      return client.change(change, ifMatch, key);
    },
  };
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
