/**
 * JSON pointers (RFC 6901). The names through which JavaScript reaches the prototype of an object are refused
 * anywhere in a pointer: no document needs them, and following one would read or change what all objects of the
 * process share.
 */

const HOSTILE_TOKENS: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** One token as it is written in a pointer. */
export function pointerToken(key: string | number): string {
  const token = String(key);
  return /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}

export type ParsedPointer =
  | { readonly ok: true; readonly tokens: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** The unescaped tokens; empty for '', the whole document. The reason of a fault is a clause: "it must start …". */
export function parsePointer(pointer: string): ParsedPointer {
  if (pointer === '') return { ok: true, tokens: [] };
  if (!pointer.startsWith('/')) return { ok: false, reason: 'it must be empty or start with a slash' };
  const written = pointer.slice(1).split('/');
  // Most pointers escape nothing, so their parts are the tokens.
  const tokens = pointer.includes('~') ? unescaped(written) : written;
  if (tokens === null) return { ok: false, reason: 'a tilde in it must be written ~0' };
  for (const token of tokens) {
    if (HOSTILE_TOKENS.includes(token)) return { ok: false, reason: `it must not contain ${token}` };
  }
  return { ok: true, tokens };
}

/** Null when a tilde is not part of an escape. */
function unescaped(written: readonly string[]): string[] | null {
  if (written.some((token) => /~(?![01])/.test(token))) return null;
  // In this order, so that ~01 becomes ~1 and not a slash.
  return written.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Undefined unless the token is written exactly as the index is: no sign, leading zero, exponent or space. */
export function arrayIndex(token: string): number | undefined {
  const index = Number(token);
  return Number.isSafeInteger(index) && index >= 0 && String(index) === token ? index : undefined;
}
