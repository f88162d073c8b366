/** Signed heads: what they say can be read, and a change of a single character is no longer signed. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { HeadSigner, PublicKey, parseHead } from '../../../src/addons/audit/signed-head.ts';

const newSigner = (): HeadSigner => new HeadSigner(generateKeyPairSync('ed25519').privateKey);
const HEAD = {
  history: '00112233445566778899aabbccddeeff',
  ...{ lastId: 1310, link: Buffer.alloc(32, 7), isCut: false, at: Date.UTC(2025, 5, 1) },
};

test('a head is read back as it was signed, and its key travels as text', () => {
  const signer = newSigner();
  const note = signer.sign(HEAD);
  assert.deepEqual(parseHead(note), HEAD);
  const cut = { ...HEAD, isCut: true };
  assert.deepEqual(parseHead(signer.sign(cut)), cut);
  const key = PublicKey.parse(signer.publicKey.text);
  assert(key?.signed(note), 'the key verifies its own head');
  assert(!newSigner().publicKey.signed(note), 'another key does not');
});

test('no changed character of a head passes', () => {
  const signer = newSigner();
  const note = signer.sign(HEAD);
  const end = note.indexOf('\n\n');
  for (let at = 0; at < end; at += 1) {
    const changed = `${note.slice(0, at)}${note[at] === '1' ? '2' : '1'}${note.slice(at + 1)}`;
    assert(!signer.publicKey.signed(changed), `character ${at}`);
  }
});

test('a text that is no key, or a key under the name of another one, is refused', () => {
  const [one, other] = [newSigner().publicKey.text, newSigner().publicKey.text];
  for (const text of ['', 'flagstaff', one.slice(0, -1), `${one.slice(0, 18)}${other.slice(18)}`])
    assert.equal(PublicKey.parse(text), null, text);
});

test('a text that is no head is none', () => {
  const note = newSigner().sign(HEAD);
  for (const text of ['', '\n\n', note.slice(10), note.replace('event', 'events'), note.repeat(9)])
    assert.equal(parseHead(text), null);
});

test('a head that two keys have signed is that of either', () => {
  const [old, next, stranger] = [newSigner(), newSigner(), newSigner()];
  const note = next.sign(HEAD, old);
  assert.deepEqual(parseHead(note), HEAD);
  assert.deepEqual(
    [old, next, stranger].map(({ publicKey }) => publicKey.signed(note)),
    [true, true, false],
  );
});
