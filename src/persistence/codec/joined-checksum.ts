/**
 * The CRC-32 of bytes that were checksummed in parts, without reading them again: a snapshot stands under a checksum for each block
 * and one for the whole file, and to compute both from the bytes took a start as long as anything else it does with most of them; a
 * gzip body of kept pieces has one for all of them.
 *
 * A CRC is a remainder of polynomials over two numbers, 0 and 1. That of two parts is the remainder of the first one, moved by as many
 * places as the second has bits, and added to that of the second: `b` bytes later means times x^(8b).
 */
import assert from 'node:assert/strict';

/** The polynomial of CRC-32 (RFC 1952 §8), its lowest power in the highest bit, as are all polynomials here. */
const POLYNOMIAL = 0xed_b8_83_20;
const ONE = 0x80_00_00_00;
const X = 0x40_00_00_00;

/** `a` is not 0. */
function product(a: number, b: number): number {
  let sum = 0;
  let power = b;
  for (let bit = ONE; ; bit >>>= 1) {
    if ((a & bit) !== 0) {
      sum ^= power;
      if ((a & (bit - 1)) === 0) return sum >>> 0;
    }
    power = (power & 1) === 1 ? (power >>> 1) ^ POLYNOMIAL : power >>> 1;
  }
}

/** x to the power of 8, 16, 32 and so on. */
const BYTE_POWERS: number[] = [];
for (let power = X, doubled = 0; doubled < 34; doubled += 1) {
  if (doubled >= 3) BYTE_POWERS.push(power);
  power = product(power, power);
}

/**
 * The factor that moves a checksum past so many bytes: x to the power of their bits. For `joinedChecksum`; callers cache it beside
 * the bytes.
 */
export function shiftPast(bytes: number): number {
  assert(bytes >= 0 && bytes < 2 ** BYTE_POWERS.length, 'the length is within the table of powers');
  let shift = ONE;
  for (let rest = bytes, at = 0; rest > 0; rest = Math.floor(rest / 2), at += 1) {
    if (rest % 2 === 1) shift = product(BYTE_POWERS[at]!, shift);
  }
  return shift;
}

/** The checksum of two parts, one behind the other; `secondShift` is `shiftPast` the bytes of the second. */
export const joinedChecksum = (first: number, second: number, secondShift: number): number =>
  (product(secondShift, first) ^ second) >>> 0;
