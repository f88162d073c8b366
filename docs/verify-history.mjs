// Checks a file of `flagstaff audit export` against a public key, and against a signed head that you have kept. It needs Node 18
// or newer and nothing else, so that you can read all that you trust.
//
//   node verify-history.mjs history.ndjson flagstaff+8a61d99e+AQ… [kept-head.txt]
//
// It recomputes the leaf of every frame from its payload, decodes the payload, and compares it with what the line shows to
// people. For a whole history it recomputes the root from the leaves, and the root that the kept head has; for a part of one, the
// path from each leaf to the root. Exit code 0: all is what was signed. 1: it is not; the line is named. 64: nothing was checked.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const check = (holds, what) => {
  if (!holds) throw new Error(what);
};

// Heads: checkpoints of C2SP (c2sp.org/tlog-checkpoint), signed with Ed25519.

const HEAD =
  /^flagstaff\/([0-9a-f]{32})\n([0-9]{1,10})\n([A-Za-z0-9+/]{43}=)\nevents ([0-9]+) to ([0-9]+) at ([-0-9T:.]+Z)\n(?:key \S+ hands over to \S+\n)?$/;

function readKey(text) {
  const [, name, base64] = /^flagstaff\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? [];
  const bytes = Buffer.from(base64 ?? '', 'base64');
  check(bytes.length === 33 && bytes[0] === 1, 'the key is not one of Ed25519');
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes.subarray(1)]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return { text: text.trim(), name: Buffer.from(name, 'hex'), key, upToSize: Number.POSITIVE_INFINITY };
}

function readHead(note, keys) {
  const end = note.indexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const signatures = [...note.slice(end + 1).matchAll(/^— \S+ (\S+)$/gm)].map(([, base64]) =>
    Buffer.from(base64, 'base64'),
  );
  const [, history, frames, root, first, last, at] = HEAD.exec(text) ?? [];
  check(history !== undefined, 'the head is not one of Flagstaff');
  const [size, firstId, lastId] = [frames, first, last].map(Number);
  const isBy = ({ name, key }, bytes) =>
    bytes.subarray(0, 4).equals(name) && verify(null, Buffer.from(text), key, bytes.subarray(4));
  const counts = keys.some((key) => size <= key.upToSize && signatures.some((bytes) => isBy(key, bytes)));
  check(counts, 'the key did not sign the head, or after it had handed over to another one');
  return { history, at, root: Buffer.from(root, 'base64'), size, firstId, lastId };
}

/** The keys that count: the one that is named, and those before and after it, which handed over by heads that both signed. */
function withHandovers(named, handovers) {
  const keys = [named];
  const find = (text) => keys.find((key) => key.text === text);
  const follow = (note, isForward) => {
    const [from, to] = /\nkey (\S+) hands over to (\S+)\n/.exec(note)?.slice(1).map(readKey) ?? [];
    if (from === undefined || !find((isForward ? from : to).text)) return;
    const [{ size }] = [from, to].map((key) => readHead(note, [key]));
    keys.push(...[isForward ? to : from].filter(({ text }) => !find(text)));
    const older = find(from.text);
    older.upToSize = Number.isFinite(older.upToSize) ? Math.max(older.upToSize, size) : size;
  };
  for (const note of handovers) follow(note, true);
  // A key that is trusted for what it handed over is trusted with no other handover.
  for (const note of [...handovers].reverse()) follow(note, false);
  return keys;
}

// The Merkle tree of RFC 9162, §2.1.

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const nodeOf = (left, right) => sha256(Buffer.of(1), left, right);

function leafOf({ contentVersion, rules, payload }) {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt16LE(contentVersion, 1);
  prefix.writeUInt16LE(rules, 3);
  return sha256(prefix, payload);
}

class Tree {
  constructor(size, peaks) {
    this.size = size;
    this.peaks = peaks;
  }

  add(leaf) {
    let top = leaf;
    for (let rest = this.size; rest % 2 === 1; rest = (rest - 1) / 2) top = nodeOf(this.peaks.pop(), top);
    this.peaks.push(top);
    this.size += 1;
  }

  get root() {
    if (this.peaks.length === 0) return sha256();
    return this.peaks.slice(0, -1).reduceRight((right, left) => nodeOf(left, right), this.peaks.at(-1));
  }
}

/** The root that a leaf and its path give (RFC 9162 §2.1.3.2). */
function rootFrom(leaf, index, size, path) {
  check(index < size, 'a frame lies behind the head');
  let [node, rest, last] = [leaf, index, size - 1];
  for (const sibling of path) {
    check(last > 0, 'a path is too long');
    if (rest % 2 === 1 || rest === last) {
      node = nodeOf(sibling, node);
      while (rest % 2 === 0 && rest > 0) [rest, last] = [rest >> 1, last >> 1];
    } else node = nodeOf(node, sibling);
    [rest, last] = [rest >> 1, last >> 1];
  }
  check(last === 0, 'a path is too short');
  return node;
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

  /** A property that is undefined stands in no JSON. */
  map(count) {
    const entries = Array.from({ length: count }, () => [this.value(), this.value()]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
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

/** Compares values as JSON shows them, whatever the order of their keys. */
function isSame(a, b) {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [keysOfA, keysOfB] = [Object.keys(a).sort(), Object.keys(b).sort()];
  return keysOfA.join('\0') === keysOfB.join('\0') && keysOfA.every((key) => isSame(a[key], b[key]));
}

const SHOWN = 'index contentVersion rules payload id at by userId events path'.split(' ');

function checkShown(line, payload) {
  for (const name of Object.keys(line)) check(SHOWN.includes(name), `"${name}" was never signed`);
  const reader = new Reader(payload);
  const signed = reader.value();
  check(reader.at === payload.length, 'a payload has bytes behind its end');
  check(signed.id === line.id, 'the id is not the one that was signed');
  check(new Date(signed.at).toISOString() === line.at, 'the time is not the one that was signed');
  check(signed.by === line.by && signed.userId === line.userId, 'the author is not the one that was signed');
  check(isSame(signed.events, line.events), 'the events are not those that were signed');
  return signed.id + signed.events.length - 1;
}

async function checkFile(file, key, keptNote) {
  const state = { kept: null, head: null, tree: null, lines: 0, lastIndex: -1, firstId: null, lastId: null };
  for await (const text of createInterface({ input: createReadStream(file).on('error', refuse) })) {
    state.lines += 1;
    try {
      const line = JSON.parse(text);
      // Of a name that stands there twice, people may read the one and this program the other.
      check(JSON.stringify(line) === text, 'it is not written as the export writes it');
      if (state.head === null) begin(state, line, { key, keptNote });
      else checkLine(state, line);
    } catch (error) {
      throw new Error(`line ${state.lines}: ${error.message}`);
    }
  }
  return end(state);
}

/** A head as it stands in a file: alone, or in what /health responds. */
function noteIn(file) {
  const text = readFileSync(file, 'utf8');
  const { note, head } = text.startsWith('{') ? JSON.parse(text) : { note: text };
  const found = String(note ?? head?.note);
  check(HEAD.test(found.slice(0, found.indexOf('\n\n') + 1)), `${file} holds no signed head`);
  return found;
}

function begin(state, first, { key, keptNote }) {
  check(first.format === 'flagstaff-audit 1', 'this is no file of "flagstaff audit export"');
  const keys = withHandovers(key, first.handovers ?? []);
  state.head = readHead(first.head, keys);
  state.isWhole = first.whole;
  const peaks = first.peaks.map((peak) => Buffer.from(peak, 'base64'));
  state.tree = new Tree(first.size, peaks);
  if (keptNote === null) return;
  state.kept = readHead(keptNote, keys);
  const { head, kept } = state;
  check(kept.size <= head.size, `the history ends with event ${head.lastId}, before the kept head`);
  check(kept.firstId === head.firstId, 'the history begins with another event than that of the kept head');
  check(kept.size > first.size, 'the frames of the kept head are not in the file any more');
  // Without all frames between them, only an equal head can be compared.
  const canCompare = first.whole || kept.root.equals(head.root);
  check(canCompare, 'the kept head is an older one: it needs an export of the whole');
}

function checkLine(state, line) {
  const payload = Buffer.from(line.payload, 'base64');
  const lastId = checkShown(line, payload);
  const leaf = leafOf({ ...line, payload });
  check(Number.isSafeInteger(line.index) && line.index > state.lastIndex, 'a frame stands there twice');
  state.lastIndex = line.index;
  if (!state.isWhole) {
    const path = line.path.map((hash) => Buffer.from(hash, 'base64'));
    const root = rootFrom(leaf, line.index, state.head.size, path);
    check(root.equals(state.head.root), 'the frame is not in the signed history');
  } else {
    check(line.index === state.tree.size, 'a frame is missing, or in another place');
    check(state.lastId === null || line.id === state.lastId + 1, 'the events do not follow each other');
    state.tree.add(leaf);
    const { kept } = state;
    if (kept !== null && state.tree.size === kept.size) {
      const isSame = state.tree.root.equals(kept.root) && lastId === kept.lastId;
      check(isSame, 'the history is not the one of the kept head');
      state.sawKept = true;
    }
  }
  state.firstId ??= line.id;
  state.lastId = lastId;
}

function end({ kept, head, isWhole, tree, lines, firstId, lastId, sawKept }) {
  check(head !== null, 'the file is empty');
  if (!isWhole)
    return `${lines - 1} frames are part of the history that was signed at ${head.at}. Others may have been left out.`;
  check(tree.size === head.size, `the file ends early, with event ${lastId}`);
  check(tree.root.equals(head.root) && lastId === head.lastId, 'the history is not the one that was signed');
  check(kept === null || sawKept, 'the file does not reach the kept head');
  const also =
    kept === null ? '' : `, and up to event ${kept.lastId} what the kept head of ${kept.at} stands for`;
  return `The events from ${firstId} to ${lastId} are what was signed at ${head.at}${also}.`;
}

const USAGE = 'usage: node verify-history.mjs <file of the export> <public key> [<file of a kept head>]';
let isBegun = false;
function refuse({ message, syscall }) {
  const isRead = isBegun && syscall === undefined;
  console.error(`NOT ${isRead ? 'PROVED' : 'CHECKED'}: ${message.replaceAll('\n', ' ')}.`);
  process.exit(isRead ? 1 : 64);
}

try {
  const [file, keyText, keptFile, ...others] = process.argv.slice(2);
  check(keyText !== undefined && others.length === 0, USAGE);
  const [key, keptNote] = [readKey(keyText), keptFile === undefined ? null : noteIn(keptFile)];
  isBegun = true;
  console.log(await checkFile(file, key, keptNote));
} catch (error) {
  refuse(error);
}
