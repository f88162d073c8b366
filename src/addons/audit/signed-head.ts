/**
 * A signed head: what a history is at one moment, under a signature. It is a signed note as transparency logs use them (C2SP signed-note):
 *
 *   flagstaff/00112233445566778899aabbccddeeff            the history (log-history.ts)
 *   event 1310 at 2025-06-01T12:00:00.000Z                 its last event, and the time of the signature
 *   47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=           the link of that event's frame (history-chain.ts), base64
 *
 *   — flagstaff/00112233445566778899aabbccddeeff 8zjw…     4 bytes that name the key and 64 of its signature, base64
 *
 * The signature is Ed25519 over all up to the empty line. A link stands for all frames before it, so the newest head stands for all that
 * any earlier one stood for. A *cut*, in which the server says that it deletes what lies before, has a line more:
 *
 *   the events up to this one are deleted
 *
 * Heads from before a change of the key have the signatures of the new key and of the old one.
 */
import assert from 'node:assert/strict';
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

export interface Head {
  /** Id of the history. */
  readonly history: string;
  /** The last event, and the link of its frame. */
  readonly lastId: number;
  readonly link: Buffer;
  /** Whether the events up to `lastId` are deleted. */
  readonly isCut: boolean;
  /** The time of the signature, in milliseconds since 1970. */
  readonly at: number;
}

const ORIGIN = 'flagstaff/';
const ED25519 = 1;
/** The bytes before the 32 of the key in its DER form (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Protects readers: a head has some 300 bytes. */
export const HEAD_CHARS_MAX = 1024;

const CUT = 'the events up to this one are deleted\n';
const HEAD =
  /^flagstaff\/([0-9a-f]{32})\nevent ([0-9]{1,16}) at ([-0-9T:.]{23}Z)\n([A-Za-z0-9+/]{43}=)\n(the events up to this one are deleted\n)?$/;
const SIGNATURE = /^— flagstaff\/[0-9a-f]{32} ([A-Za-z0-9+/]{91}=)$/;

function textOf({ history, lastId, link, isCut, at }: Head): string {
  const time = new Date(at).toISOString();
  return `${ORIGIN}${history}\nevent ${lastId} at ${time}\n${link.toString('base64')}\n${isCut ? CUT : ''}`;
}

/** The public part of a key: as text, `flagstaff+<8 hexadecimal digits>+<base64>`. */
export class PublicKey {
  readonly #key: KeyObject;
  readonly #raw: Buffer;

  constructor(key: KeyObject) {
    assert(
      key.type === 'public' && key.asymmetricKeyType === 'ed25519',
      'a head is verified by a public key',
    );
    this.#key = key;
    this.#raw = key.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
  }

  /** Null where the text is no key. */
  static parse(text: string): PublicKey | null {
    const [, name, base64] = /^flagstaff\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(text.trim()) ?? [];
    const bytes = Buffer.from(base64 ?? '', 'base64');
    if (name === undefined || bytes.length !== 33 || bytes[0] !== ED25519) return null;
    const der = Buffer.concat([SPKI_PREFIX, bytes.subarray(1)]);
    const key = new PublicKey(createPublicKey({ key: der, format: 'der', type: 'spki' }));
    return key.name.toString('hex') === name ? key : null;
  }

  /** Four bytes that tell keys apart. */
  get name(): Buffer {
    const digest = createHash('sha256')
      .update(`flagstaff\n`)
      .update(Buffer.from([ED25519]))
      .update(this.#raw);
    return digest.digest().subarray(0, 4);
  }

  get text(): string {
    const bytes = Buffer.concat([Buffer.from([ED25519]), this.#raw]);
    return `flagstaff+${this.name.toString('hex')}+${bytes.toString('base64')}`;
  }

  /** Whether it made the signature of the head, which is `note`. */
  signed(note: string): boolean {
    const { text, signatures } = partsOf(note);
    return signatures.some(
      (bytes) =>
        bytes.subarray(0, 4).equals(this.name) &&
        verify(null, Buffer.from(text), this.#key, bytes.subarray(4)),
    );
  }
}

export class HeadSigner {
  readonly #key: KeyObject;
  readonly publicKey: PublicKey;

  constructor(privateKey: KeyObject) {
    this.#key = privateKey;
    this.publicKey = new PublicKey(createPublicKey(privateKey));
  }

  /** Signs a head by this key, and by others too. */
  sign(head: Head, ...others: readonly HeadSigner[]): string {
    const text = textOf(head);
    const signers = [this, ...others];
    const lines = signers.map((signer) => `— ${ORIGIN}${head.history} ${signer.signatureOf(text)}\n`);
    const note = `${text}\n${lines.join('')}`;
    assert(parseHead(note) !== null, 'a head can be read back');
    return note;
  }

  /** The name of the key and its signature, base64. */
  signatureOf(text: string): string {
    return Buffer.concat([this.publicKey.name, sign(null, Buffer.from(text), this.#key)]).toString('base64');
  }
}

function partsOf(note: string): { readonly text: string; readonly signatures: readonly Buffer[] } {
  const end = note.indexOf('\n\n');
  const signatures = note
    .slice(end + 2)
    .split('\n')
    .map((line) => SIGNATURE.exec(line)?.[1])
    .filter((base64) => base64 !== undefined);
  return {
    text: note.slice(0, end + 1),
    signatures: signatures.map((base64) => Buffer.from(base64, 'base64')),
  };
}

/** The content of a head, by any signer; null where it is none. */
export function parseHead(note: string): Head | null {
  if (note.length > HEAD_CHARS_MAX) return null;
  const [, history, lastId, time, link, cut] = HEAD.exec(partsOf(note).text) ?? [];
  const at = Date.parse(time ?? '');
  if (history === undefined || link === undefined || Number.isNaN(at)) return null;
  return { history, lastId: Number(lastId), link: Buffer.from(link, 'base64'), isCut: cut !== undefined, at };
}
