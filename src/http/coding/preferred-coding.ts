/** Which content coding a client likes best. */
import Negotiator from 'negotiator';

/** In the order in which the server likes them. */
const CODINGS = ['br', 'gzip', 'identity'] as const;

export type ContentCoding = (typeof CODINGS)[number];

/** Headers whose verdict is remembered. Every SDK sends the same one in each request; there are few SDKs. */
const REMEMBERED_MAX = 256;
const REMEMBERED_LENGTH_MAX = 200;
const remembered = new Map<string, ContentCoding>();

/** The coding that an Accept-Encoding header likes best, and names first of those that it likes alike. */
export function preferredCoding(acceptEncoding: string): ContentCoding {
  if (acceptEncoding === '') return 'identity';
  const known = remembered.get(acceptEncoding);
  if (known !== undefined) return known;
  const coding = likedBest(acceptEncoding, CODINGS);
  if (acceptEncoding.length <= REMEMBERED_LENGTH_MAX) {
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(acceptEncoding, coding);
  }
  return coding;
}

/** Whether a client that likes another coding best takes gzip too. */
export function takesGzip(acceptEncoding: string): boolean {
  return likedBest(acceptEncoding, ['gzip', 'identity']) === 'gzip';
}

function likedBest(acceptEncoding: string, codings: readonly ContentCoding[]): ContentCoding {
  const liked = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([...codings]);
  return codings.find((one) => one === liked[0]) ?? 'identity';
}
