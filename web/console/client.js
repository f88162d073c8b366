/**
 * The interface as the console calls it. The token is kept in this closure and nowhere else: not in storage, not in an
 * address, not in a cookie. A reload forgets it.
 */

/** A response that is not a success, or none at all (status 0). The message is a sentence for people. */
export class Refused extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @typedef {ReturnType<typeof createClient>} Client */

/** @param {string | null} token */
export function createClient(token) {
  /**
   * @param {string} method
   * @param {string} path below `api/admin`, made with `path`
   * @param {unknown} [body]
   * @returns {Promise<any>}
   */
  async function call(method, path, body) {
    const response = await send(token, method, path, body);
    const received = bodyOf(await response.text());
    if (response.ok && received !== undefined) return received;
    throw new Refused(response.status, received?.message ?? `The server answered ${response.status}.`);
  }
  return {
    /** @param {string} path */
    get: (path) => call('GET', path),
    /** @param {string} path @param {unknown} [body] */
    post: (path, body) => call('POST', path, body),
    /** @param {string} path */
    remove: (path) => call('DELETE', path),
  };
}

/**
 * @param {string | null} token
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 */
async function send(token, method, path, body) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (token !== null) headers['authorization'] = token;
  if (body !== undefined) headers['content-type'] = 'application/json';
  try {
    return await fetch(`api/admin${path}`, {
      method,
      headers,
      // Responses are asked for anew each time; their ETags save the bodies.
      cache: 'no-cache',
      credentials: 'omit',
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
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

/**
 * A path whose parts may hold any character: path`/projects/${id}`.
 * @param {TemplateStringsArray} texts
 * @param {...(string | number)} parts
 */
export function path(texts, ...parts) {
  return texts.reduce((before, text, index) => before + encodeURIComponent(parts[index - 1] ?? '') + text);
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
