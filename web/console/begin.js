/**
 * Runs while the script of the page is still on its way: asks who is signed in, then for what the page at this address reads first, and
 * makes a format, since the first one of a page takes slow processors 150 ms. `client.js` takes the responses from the map, which it makes
 * itself where it came first.
 */

/** @type {RequestInit} */
const OPTIONS = { credentials: 'same-origin', redirect: 'error', cache: 'no-cache' };

/** The flags of a project, or one flag. */
const PLACE = /^#(\/projects\/[^/?]+)(?:\/flags(\/[^/?]+))?(?:\?.*)?$/;

if (window.begun === undefined) {
  /** @type {Map<string, Promise<Response>>} */
  const begun = new Map();
  window.begun = begun;
  /** @param {string} url */
  const ask = (url) => {
    const response = fetch(url, OPTIONS);
    // Who takes it says what went wrong.
    response.catch(() => undefined);
    begun.set(url, response);
    return response;
  };
  try {
    // Changes after this response are told of, so nothing else is read before it.
    const { me } = await (await ask('auth/console')).clone().json();
    const [, project, flag] = PLACE.exec(location.hash) ?? [];
    if (me !== null && project !== undefined)
      ask(`api/admin${project}${flag === undefined ? '' : `/features${flag}`}`);
  } catch {
    // The page asks again, and says it.
  }
  new Intl.DateTimeFormat().format();
}
