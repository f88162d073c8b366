/**
 * Values that a browser keeps for the server and can neither read nor change: AES-256-GCM under a key that is derived from the
 * client's secret, which all nodes of a cluster have. A value names the moment at which it is over.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class Seal {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'flagstaff sign-in', KEY_BYTES));
  }

  seal(value: object, untilMs: number): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, iv);
    const text = JSON.stringify({ untilMs, value });
    return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    );
  }

  /** Null for what was not sealed here, was changed, or is over. */
  open(sealed: string, nowMs: number): unknown {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < IV_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = Buffer.concat([
        decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)),
        decipher.final(),
      ]).toString();
      const { untilMs, value } = JSON.parse(text) as { untilMs: number; value: unknown };
      return untilMs > nowMs ? value : null;
    } catch {
      return null;
    }
  }
}
