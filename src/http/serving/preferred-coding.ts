/** Which content coding a client likes best. */
import Negotiator from 'negotiator';

/** Codings in the order in which the server likes them. */
const CODINGS = ['br', 'gzip', 'identity'] as const;

export type ContentCoding = (typeof CODINGS)[number];

/** Headers whose verdict is remembered. Every SDK sends the same one in each request; there are few SDKs. */
const REMEMBERED_MAX = 256;
const REMEMBERED_LENGTH_MAX = 200;
const remembered = new Map<string, ContentCoding>();
/** The last of them. Comparing with it is faster than looking it up. */
let lastHeader = '';
let lastCoding: ContentCoding = 'identity';

/** The coding that an Accept-Encoding header likes best, and names first of those that it likes alike. */
export function preferredCoding(acceptEncoding: string): ContentCoding {
  if (acceptEncoding === '') return 'identity';
  if (acceptEncoding === lastHeader) return lastCoding;
  const known = remembered.get(acceptEncoding);
  const coding = known ?? likedBest(acceptEncoding, CODINGS);
  if (acceptEncoding.length > REMEMBERED_LENGTH_MAX) return coding;
  if (known === undefined) {
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(acceptEncoding, coding);
  }
  lastHeader = acceptEncoding;
  lastCoding = coding;
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
