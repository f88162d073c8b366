/**
 * Percent-decoding of one path segment: exactly once, strictly. Bad hex, bytes that are not shortest-form UTF-8,
 * and control characters (NUL above all) are refused rather than repaired, so that a name has one meaning.
 */

const CONTROL_PATTERN = /\p{Cc}/u;
const PERCENT = 0x25;

/** The decoded segment, or null when its encoding is bad. */
export function decodeSegment(raw: string): string | null {
  let isEncoded = false;
  // One loop instead of two searches: this runs for every parameter of every request.
  for (let i = 0; i < raw.length; i += 1) {
    const code = raw.charCodeAt(i);
    // Undecoded, only visible ASCII may stand in a path. Other bytes must come percent-encoded.
    if (code <= 0x20 || code >= 0x7f) return null;
    isEncoded ||= code === PERCENT;
  }
  return isEncoded ? decode(raw) : raw;
}

function decode(raw: string): string | null {
  try {
    // Strict by specification: bad hex, overlong forms, surrogates and cut sequences all throw.
    const decoded = decodeURIComponent(raw);
    return CONTROL_PATTERN.test(decoded) ? null : decoded;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
