/**
 * Percent-decoding of one path segment: exactly once, strictly. Bad hex, bytes that are not shortest-form UTF-8,
 * and control characters (NUL above all) are refused rather than repaired, so that a name has one meaning.
 */

/** What may stand undecoded in a path segment: printable ASCII. Other bytes must come percent-encoded. */
const PLAIN_PATTERN = /^[\x21-\x7e]+$/;
const CONTROL_PATTERN = /\p{Cc}/u;

/** The decoded segment, or null when its encoding is bad. */
export function decodeSegment(raw: string): string | null {
  if (!PLAIN_PATTERN.test(raw)) return null;
  if (!raw.includes('%')) return raw;
  try {
    // Strict by specification: bad hex, overlong forms, surrogates and cut sequences all throw.
    const decoded = decodeURIComponent(raw);
    return CONTROL_PATTERN.test(decoded) ? null : decoded;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
