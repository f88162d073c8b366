// Checks the journal of a data folder against a public key, and against a signed head that you have kept. It needs Node 18
// or newer and nothing else, so that you can read all that you trust.
//
//   node verify-history.mjs [--print] <data folder> flagstaff+8a61d99e+AQ… [kept-head.txt [flagstaff+…, the key that signed it, if it is another]]
//
// It hashes the frames of the journal into a chain, whose links have to be those of the signed heads: the heads of the folder, and the one
// that you have kept. A link is the SHA-256 of the last link of the block before and of the frames of its block up to there; a frame is in the
// block of its first event, of 64. With --print it also writes each frame as a JSON object a line; what it writes is proved if it ends with 0.
// Exit code 0: all is what was signed, up to the event that is named. 1: it is not. 64: nothing was checked.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const check = (holds, what) => {
  if (!holds) throw new Error(what);
};

// Heads: signed notes of C2SP (c2sp.org/signed-note), by Ed25519.

const HEAD =
  /^flagstaff\/[0-9a-f]{32}\nevent ([0-9]+) at ([-0-9T:.]+Z)\n([A-Za-z0-9+/]{43}=)\n(the events up to this one are deleted\n)?$/;

function readKey(text) {
  const [, name, base64] = /^flagstaff\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? [];
  const bytes = Buffer.from(base64 ?? '', 'base64');
  check(bytes.length === 33 && bytes[0] === 1, 'the key is not one of Ed25519');
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes.subarray(1)]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return { name: Buffer.from(name, 'hex'), key };
}

/** Null where the text is no head. */
function parseHead(note) {
  const end = note.indexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const [, last, at, link, cut] = HEAD.exec(text) ?? [];
  if (link === undefined) return null;
  const signatures = [...note.slice(end + 1).matchAll(/^— \S+ (\S+)$/gm)];
  const head = { text, at, link, isCut: cut !== undefined, lastId: Number(last) };
  return { ...head, signatures: signatures.map(([, base64]) => Buffer.from(base64, 'base64')) };
}

const isBy = ({ text, signatures }, { name, key }) =>
  signatures.some(
    (bytes) => bytes.subarray(0, 4).equals(name) && verify(null, Buffer.from(text), key, bytes.subarray(4)),
  );

/** The heads of the folder, whoever signed them. */
function headsIn(folder) {
  const file = join(folder, 'history.heads');
  if (!existsSync(file)) return [];
  const heads = [];
  for (const line of readFileSync(file, 'utf8').split('\n'))
    try {
      heads.push(parseHead(String(JSON.parse(line).head)));
    } catch {
      // A crash tears a line, which the next head is written over.
    }
  return heads.filter((head) => head !== null);
}

// Payloads: MessagePack (msgpack.org), as far as the journal uses it.

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  take(length) {
    check(this.at + length <= this.bytes.length, 'a payload is cut short');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  number(length) {
    return this.take(length).readUIntBE(0, length);
  }

  list(count) {
    return Array.from({ length: count }, () => this.value() ?? null);
  }

  map(count) {
    return Object.fromEntries(Array.from({ length: count }, () => [this.value(), this.value()]));
  }

  text(length) {
    return this.take(length).toString('utf8');
  }

  value() {
    const first = this.number(1);
    if (first < 0x80) return first;
    if (first < 0x90) return this.map(first & 0x0f);
    if (first < 0xa0) return this.list(first & 0x0f);
    if (first < 0xc0) return this.text(first & 0x1f);
    if (first >= 0xe0) return first - 0x100;
    const read = READERS[first];
    check(read !== undefined, `a payload has the type 0x${first.toString(16)}, which the journal never uses`);
    return read(this);
  }
}

const READERS = {
  192: () => null,
  194: () => false,
  195: () => true,
  202: (reader) => reader.take(4).readFloatBE(0),
  203: (reader) => reader.take(8).readDoubleBE(0),
  204: (reader) => reader.number(1),
  205: (reader) => reader.number(2),
  206: (reader) => reader.number(4),
  207: (reader) => Number(reader.take(8).readBigUInt64BE(0)),
  208: (reader) => reader.take(1).readInt8(0),
  209: (reader) => reader.take(2).readInt16BE(0),
  210: (reader) => reader.take(4).readInt32BE(0),
  211: (reader) => Number(reader.take(8).readBigInt64BE(0)),
  212: (reader) => void reader.take(2),
  217: (reader) => reader.text(reader.number(1)),
  218: (reader) => reader.text(reader.number(2)),
  219: (reader) => reader.text(reader.number(4)),
  220: (reader) => reader.list(reader.number(2)),
  221: (reader) => reader.list(reader.number(4)),
  222: (reader) => reader.map(reader.number(2)),
  223: (reader) => reader.map(reader.number(4)),
};

// The journal: files of a header of 64 bytes and frames; in format 1 with 16 bytes before each payload, and in format 2 with 24.

const filesIn = (folder) => {
  const journal = join(folder, 'journal');
  const names = readdirSync(journal).filter((name) => /^[0-9]{20}\.journal$/.test(name));
  return names.sort().map((name) => join(journal, name));
};

function* framesIn(file) {
  const bytes = readFileSync(file);
  check(bytes.subarray(0, 8).toString() === 'FLAGJRNL', `${file} is no file of a journal`);
  const format = bytes.readUInt32LE(8);
  check(format === 1 || format === 2, `${file} has a format that is not known`);
  const [headerBytes, lengthAt] = format === 1 ? [16, 0] : [24, 12];
  for (let at = 64; at + headerBytes < bytes.length; ) {
    const length = bytes.readUInt32LE(at + lengthAt);
    const payload = bytes.subarray(at + headerBytes, at + headerBytes + length);
    // Room that the server has made for what it writes next, or a write that did not end.
    if (length === 0 || payload.length < length) return;
    const versions = format === 1 ? Buffer.from([1, 0, 1, 0]) : bytes.subarray(at + 20, at + 24);
    yield { versions, payload };
    at += headerBytes + length;
  }
}

const lastIdOf = ({ id, events }) => id + events.length - 1;

function checkFolder(folder, key, kept, isPrinted) {
  const heads = headsIn(folder);
  const others = heads.filter((head) => !isBy(head, key));
  check(others.length === 0, `${others.length} heads of the folder are not signed by the key`);
  const cut = heads.filter(({ isCut }) => isCut).at(-1) ?? {
    lastId: 0,
    link: Buffer.alloc(32).toString('base64'),
  };
  const wanted = [...heads, ...(kept === null ? [] : [kept])].filter(({ lastId }) => lastId > cut.lastId);
  check(wanted.length > 0, 'there is no signed head');
  wanted.sort((a, b) => a.lastId - b.lastId);
  const newest = wanted.at(-1);
  let { lastId } = cut;
  let block = null;
  let hash = createHash('sha256').update(Buffer.from(cut.link, 'base64'));
  for (const file of filesIn(folder))
    for (const { versions, payload } of framesIn(file)) {
      if (wanted.length === 0) return { cut, newest };
      const frame = new Reader(payload).value();
      if (frame.id <= cut.lastId) continue;
      check(frame.id === lastId + 1, `event ${frame.id} is where event ${lastId + 1} should be`);
      const frameBlock = Math.floor((frame.id - 1) / 64);
      if (block !== null && block !== frameBlock) hash = createHash('sha256').update(hash.digest());
      block = frameBlock;
      hash.update(versions).update(payload);
      lastId = lastIdOf(frame);
      if (isPrinted) console.log(JSON.stringify(frame));
      while (wanted[0]?.lastId <= lastId) {
        const { at, ...head } = wanted.shift();
        const isSame = head.lastId === lastId && head.link === hash.copy().digest('base64');
        check(isSame, `the events up to ${head.lastId} are not what was signed at ${at}`);
      }
    }
  check(
    wanted.length === 0,
    `the journal ends with event ${lastId}, before event ${newest.lastId}, which was signed`,
  );
  return { cut, newest };
}

/** A head as it stands in a file: alone, or in what /health responds. */
function headIn(file) {
  const text = readFileSync(file, 'utf8');
  const { note, head } = text.startsWith('{') ? JSON.parse(text) : { note: text };
  const found = parseHead(String(note ?? head?.note));
  check(found !== null, `${file} holds no signed head`);
  return found;
}

const USAGE =
  'usage: node verify-history.mjs [--print] <data folder> <public key> [<file of a kept head> [<its key>]]';
let isBegun = false;

try {
  const isPrinted = process.argv[2] === '--print';
  const [folder, keyText, keptFile, keptKeyText = keyText, ...others] = process.argv.slice(isPrinted ? 3 : 2);
  check(keyText !== undefined && others.length === 0, USAGE);
  const [key, kept] = [readKey(keyText), keptFile === undefined ? null : headIn(keptFile)];
  check(filesIn(folder).length > 0, `${folder} holds no journal`);
  const keptKey = readKey(keptKeyText);
  isBegun = true;
  check(kept === null || isBy(kept, keptKey), 'the key did not sign the kept head');
  const { cut, newest } = checkFolder(folder, key, kept, isPrinted);
  const said = `The events from ${cut.lastId + 1} to ${newest.lastId} are what was signed at ${newest.at}.`;
  (isPrinted ? console.error : console.log)(said);
} catch ({ message }) {
  console.error(`NOT ${isBegun ? 'PROVED' : 'CHECKED'}: ${message.replaceAll('\n', ' ')}.`);
  process.exit(isBegun ? 1 : 64);
}
