/**
 * The check of email addresses. It is deliberately looser than RFC 5322 and stricter than "has an @": the grammar
 * of the RFC admits comments and quoted spaces that no provider issues, while an address that cannot be delivered
 * is only found by sending to it, which this service never does. So the check finds typing errors: a missing @ or
 * domain, a space, a doubled or trailing dot. Letters of any script are accepted on both sides.
 */

/** The longest address that fits the path of an SMTP envelope (RFC 5321: 256 octets with the angle brackets). */
export const EMAIL_LENGTH_MAX = 254;
/** RFC 5321, 4.5.3.1.1. */
const LOCAL_PART_LENGTH_MAX = 64;
/** RFC 1035, 2.3.4. */
const LABEL_LENGTH_MAX = 63;

/** No spaces, control characters, quotes or brackets; dots only between other characters. */
const LOCAL_PART = /^[^\s\p{C}"(),.:;<>@[\\\]]+(?:\.[^\s\p{C}"(),.:;<>@[\\\]]+)*$/u;
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u;

/** Takes time linear in the length of any text. */
export function isEmail(text: string): boolean {
  if (text.length > EMAIL_LENGTH_MAX) return false;
  const at = text.lastIndexOf('@');
  if (at < 1 || at > LOCAL_PART_LENGTH_MAX) return false;
  return LOCAL_PART.test(text.slice(0, at)) && isDomain(text.slice(at + 1));
}

/** A domain without a dot is a host of a local network, and almost always a typing error. */
function isDomain(domain: string): boolean {
  const labels = domain.split('.');
  return labels.length > 1 && labels.every((label) => label.length <= LABEL_LENGTH_MAX && LABEL.test(label));
}
