/**
 * A path as logs may hold it. A client can name an API token by its secret in a path, and logs are kept longer and read
 * by more people than secrets should be. So whatever follows `/api-tokens/`,
 * `/invite/` and `/invite-link/tokens/`, and every segment that has the form of a
 * token (docs/specification/rights.md#credentials), is left out, percent-encoded or not.
 */
const NAMED_TOKEN = /(\/(?:api-tokens|invite|invite-link\/tokens)\/)[^/]+/gi;
const TOKEN_SEGMENT = /\/(?:[^/]*(?::|%3a)[^/]*(?:\.|%2e)|user(?::|%3a))[^/]+/gi;

export function loggedPath(path: string): string {
  return path.replace(NAMED_TOKEN, '$1…').replace(TOKEN_SEGMENT, '/…');
}
