/** Half of a surrogate pair is U+FFFD here, as it is in UTF-8: one text of one flag keeps no document from being served. */
export function wellFormed(body: Uint8Array): Uint8Array {
  let bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let isCopy = false;
  for (let at = bytes.indexOf(ESCAPE); at >= 0; at = bytes.indexOf(ESCAPE, at + ESCAPE.length)) {
    if (!isEscape(bytes, at)) continue;
    const unit = unitAt(bytes, at);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = at + ESCAPED_BYTES;
    if (
      unit < 0xdc00 &&
      bytes.subarray(next, next + ESCAPE.length).equals(ESCAPE) &&
      (unitAt(bytes, next) & 0xfc00) === 0xdc00
    ) {
      at = next;
      continue;
    }
    if (!isCopy) bytes = Buffer.from(bytes);
    isCopy = true;
    bytes.write('fffd', at + ESCAPE.length, 'latin1');
  }
  return bytes;
}

const ESCAPE = Buffer.from('\\u');
const ESCAPED_BYTES = 6;

/** False for a backslash that is escaped itself. */
function isEscape(bytes: Buffer, at: number): boolean {
  let backslashes = 0;
  while (bytes[at - 1 - backslashes] === ESCAPE[0]) backslashes += 1;
  return backslashes % 2 === 0;
}

/** The UTF-16 code unit that is escaped here; -1 where it is none. */
function unitAt(bytes: Buffer, at: number): number {
  const digits = bytes.toString('latin1', at + ESCAPE.length, at + ESCAPED_BYTES);
  return /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
}
