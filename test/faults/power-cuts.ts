/**
 * Power cuts on the real program: a server under sixteen clients is recorded by strace, with all that it writes, syncs and renames. From
 * the record folders are built as a disk may have them when the power goes at some moment: what was not synced is there, missing, torn, or
 * there in some of its pages; of the changes of names in a folder that was not synced, the later ones are missing. The program starts
 * on each of them, and has to have whatever it had acknowledged, in an order that the clients can have seen.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { FEATURES } from '../support/interface.ts';
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts';
import { type Call, type ServerProcess, spawnServer, temporaryFolder } from '../support/server.ts';

const CLIENTS = 16;
const WRITES_PER_CLIENT = 12;
const PAGE_BYTES = 4096;
const SHARED = 'shared';

/** Milliseconds since 1970 of its beginning and its end. */
interface Timed {
  readonly from: number;
  readonly to: number;
}

type Operation = Timed &
  (
    | {
        readonly kind: 'write';
        readonly path: string;
        readonly at: number;
        readonly bytes: Buffer;
        readonly isDurable: boolean;
      }
    | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
    | { readonly kind: 'create' | 'sync' | 'remove'; readonly path: string }
    | { readonly kind: 'rename'; readonly path: string; readonly target: string }
  );

/** A change of a flag: its number among those of its client. */
interface Change extends Timed {
  readonly client: number;
  readonly flag: string;
  readonly number: number;
}

interface Recording {
  /** The folder before the first operation. */
  readonly base: string;
  readonly operations: readonly Operation[];
  /** The changes that were acknowledged, `to` the moment of the response. */
  readonly changes: readonly Change[];
}

const CALLS =
  'pwrite64,write,pwritev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,openat';

async function recordServer(): Promise<Recording> {
  const [folder, base, traces] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const first = await spawnServer(folder);
  for (const name of [SHARED, ...ownFlags()])
    assert.equal((await first.call('POST', FEATURES, { name, description: '0' })).status, 201);
  assert.equal(await first.terminate(), 0);
  const server = await spawnServer(folder);
  const durable = durableFiles(server);
  const tracing = await trace(server, join(traces, 'calls'));
  cpSync(folder, base, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  const changes: Change[] = [];
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(server.call, client, changes)));
  assert.equal(await server.terminate(), 0);
  await tracing.ended;
  const lines = readdirSync(traces).flatMap((name) => readFileSync(join(traces, name), 'latin1').split('\n'));
  const operations = operationsIn(lines, folder, durable);
  assert(operations.some(({ kind }) => kind === 'write') && operations.some(({ kind }) => kind === 'rename'));
  for (const path of [folder, traces]) rmSync(path, { recursive: true, force: true });
  return { base, operations, changes };
}

const ownFlags = (): readonly string[] => Array.from({ length: CLIENTS }, (_, client) => `own-${client}`);

async function write(call: Call, client: number, changes: Change[]): Promise<void> {
  for (let number = 1; number <= WRITES_PER_CLIENT; number += 1)
    for (const flag of [`own-${client}`, SHARED]) {
      const from = nowMs();
      const { status } = await call('PUT', `${FEATURES}/${flag}`, { description: `${client}:${number}` });
      assert.equal(status, 200);
      changes.push({ client, flag, number, from, to: nowMs() });
    }
}

const nowMs = (): number => performance.timeOrigin + performance.now();

/** Paths that the process has open so that each write is durable when it returns. */
function durableFiles({ child }: ServerProcess): Set<string> {
  const paths = new Set<string>();
  for (const fd of readdirSync(`/proc/${child.pid}/fd`)) {
    const flags = /flags:\s+0?([0-7]+)/.exec(readFileSync(`/proc/${child.pid}/fdinfo/${fd}`, 'utf8'))?.[1];
    if ((Number.parseInt(flags ?? '0', 8) & 0o10000) !== 0)
      paths.add(readlinkSync(`/proc/${child.pid}/fd/${fd}`));
  }
  return paths;
}

/** Resolves, when strace has hold of the process, with the promise of its end. */
async function trace(
  { child }: ServerProcess,
  output: string,
): Promise<{ readonly ended: Promise<unknown> }> {
  const strace = spawn(
    'strace',
    [
      '-ff',
      '-y',
      '-xx',
      '-ttt',
      '-T',
      '-s',
      '10000000',
      '-e',
      `trace=${CALLS}`,
      '-o',
      output,
      '-p',
      String(child.pid),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await new Promise<void>((resolve, reject) => {
    let said = '';
    strace.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('attached')) resolve();
    });
    strace.on('exit', () => reject(new Error(`strace ended: ${said}`)));
  });
  return { ended: once(strace, 'exit') };
}

/** The bytes of a text in which each byte is escaped. */
const unescaped = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex');

const lastNumber = (args: string): number => Number(/, (\d+)$/.exec(args)?.[1]);

/** The calls of a record that concern the folder, with paths below it. `durable`: files whose writes are durable when they return. */
function operationsIn(
  lines: readonly string[],
  folder: string,
  durable: ReadonlySet<string>,
): readonly Operation[] {
  const operations: Operation[] = [];
  const own = new Set(durable);
  const below = (path: string): string => relative(folder, path);
  for (const call of lines.flatMap((line) => callOf(line) ?? []).sort((a, b) => a.from - b.from)) {
    const { name, args, texts, result, from, to } = call;
    const isByName = /^(?:openat|rename|unlink)/.test(name);
    const file = isByName
      ? texts[0]!.toString()
      : unescaped(/^\d+<([^>]*)>/.exec(args)?.[1] ?? '').toString();
    if (result < 0 || (file !== folder && !file.startsWith(`${folder}/`))) continue;
    const timed = { from, to, path: below(file) };
    if (name === 'openat') {
      if (args.includes('O_DSYNC')) own.add(file);
      if (args.includes('O_CREAT')) operations.push({ ...timed, kind: 'create' });
    } else if (name === 'pwrite64') {
      const bytes = texts[0]!.subarray(0, result);
      assert.equal(bytes.length, result, 'a write is recorded with all of its bytes');
      const write = { at: lastNumber(args), bytes, isDurable: own.has(file) };
      operations.push({ ...timed, kind: 'write', ...write });
    } else if (name === 'ftruncate') operations.push({ ...timed, kind: 'truncate', size: lastNumber(args) });
    else if (name.endsWith('sync')) operations.push({ ...timed, kind: 'sync' });
    else if (name.startsWith('unlink')) operations.push({ ...timed, kind: 'remove' });
    else if (name.startsWith('rename'))
      operations.push({ ...timed, kind: 'rename', target: below(texts[1]!.toString()) });
    else assert.fail(`${name} of ${file} is not known here`);
  }
  return operations.sort((a, b) => a.to - b.to);
}

interface TracedCall extends Timed {
  readonly name: string;
  readonly args: string;
  /** Its arguments in quotes. */
  readonly texts: readonly Buffer[];
  readonly result: number;
}

function callOf(line: string): TracedCall | null {
  const found = /^(\d+\.\d+) (\w+)\((.*)\) += (-?\d+).*<(\d+\.\d+)>$/.exec(line);
  if (found === null) return null;
  const [, at, name = '', args = '', result, took] = found;
  const from = Number(at) * 1000;
  const texts = [...args.matchAll(/"([^"]*)"/g)].map(([, text = '']) => unescaped(text));
  return { name, args, texts, result: Number(result), from, to: from + Number(took) * 1000 };
}

/** A change of a file that was not synced. */
type Pending = { readonly at: number; readonly bytes: Buffer } | { readonly size: number };

/** A file on a disk: what is certain to be there, and what may be. */
interface DiskFile {
  bytes: Buffer;
  pending: Pending[];
}

function changed(bytes: Buffer, change: Pending): Buffer {
  if ('size' in change) {
    const cut = Buffer.alloc(change.size);
    bytes.copy(cut);
    return cut;
  }
  const grown = Buffer.alloc(Math.max(bytes.length, change.at + change.bytes.length));
  bytes.copy(grown);
  change.bytes.copy(grown, change.at);
  return grown;
}

/** The change as the disk may have it: whole, not at all, its beginning, or some of its pages. */
function perhapsChanged(bytes: Buffer, change: Pending, random: SeededRandom): Buffer {
  const choice = random.below(4);
  if (choice === 0) return bytes;
  if (choice === 1 || 'size' in change) return changed(bytes, change);
  const { at, bytes: data } = change;
  if (choice === 2) return changed(bytes, { at, bytes: data.subarray(0, random.below(data.length + 1)) });
  let result = bytes;
  for (let from = 0; from < data.length; ) {
    const to = Math.min(data.length, from + PAGE_BYTES - ((at + from) % PAGE_BYTES));
    if (random.chance(0.5)) result = changed(result, { at: at + from, bytes: data.subarray(from, to) });
    from = to;
  }
  return result;
}

type Names = Map<string, DiskFile>;

/** The folder as the kernel shows it, and as it is certain to be on disk. */
class CutDisk {
  readonly #names: Names = new Map();
  readonly #durableNames: Names = new Map();
  #nameChanges: { readonly folder: string; apply(names: Names): void }[] = [];

  constructor(base: string) {
    for (const entry of readdirSync(base, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const file = { bytes: readFileSync(path), pending: [] };
      for (const names of [this.#names, this.#durableNames]) names.set(relative(base, path), file);
    }
  }

  /** `isDone`: whether the call has returned. */
  apply(operation: Operation, isDone: boolean): void {
    const { path } = operation;
    const file = this.#names.get(path);
    if (operation.kind === 'create') {
      const made = { bytes: Buffer.alloc(0), pending: [] };
      if (file === undefined) this.#changeName(path, (names) => names.set(path, made));
    } else if (operation.kind === 'remove') this.#changeName(path, (names) => names.delete(path));
    else if (operation.kind === 'rename') {
      const { target } = operation;
      if (file === undefined) return;
      this.#changeName(path, (names) => {
        names.delete(path);
        names.set(target, file);
      });
    } else if (operation.kind === 'sync') {
      if (isDone) this.#sync(path);
    } else if (file === undefined) return;
    else if (operation.kind === 'write' && operation.isDurable && isDone)
      file.bytes = changed(file.bytes, operation);
    else if (operation.kind === 'write' || operation.kind === 'truncate') file.pending.push(operation);
  }

  #changeName(path: string, apply: (names: Names) => void): void {
    apply(this.#names);
    this.#nameChanges.push({ folder: dirname(path), apply });
  }

  #sync(path: string): void {
    const file = this.#names.get(path);
    for (const change of file?.pending ?? []) file!.bytes = changed(file!.bytes, change);
    if (file !== undefined) file.pending = [];
    const isIn = ({ folder }: { readonly folder: string }): boolean => folder === (path === '' ? '.' : path);
    for (const change of this.#nameChanges.filter(isIn)) change.apply(this.#durableNames);
    this.#nameChanges = this.#nameChanges.filter((change) => !isIn(change));
  }

  /** Writes it as it may be after a power cut. */
  writeTo(target: string, random: SeededRandom): void {
    for (const folder of new Set(this.#nameChanges.map((change) => change.folder))) {
      const own = this.#nameChanges.filter((change) => change.folder === folder);
      for (const change of own.slice(0, random.below(own.length + 1))) change.apply(this.#durableNames);
    }
    for (const [path, { bytes, pending }] of this.#durableNames) {
      const left = pending.reduce((before, change) => perhapsChanged(before, change, random), bytes);
      mkdirSync(dirname(join(target, path)), { recursive: true });
      writeFileSync(join(target, path), left);
    }
  }
}

/** Builds the folder as it may be when the power goes at this moment. */
function cutAt({ base, operations }: Recording, atMs: number, random: SeededRandom): string {
  const disk = new CutDisk(base);
  for (const operation of operations) if (operation.from < atMs) disk.apply(operation, operation.to <= atMs);
  const folder = temporaryFolder();
  for (const name of ['journal', 'snapshots']) mkdirSync(join(folder, name), { recursive: true });
  disk.writeTo(folder, random);
  return folder;
}

interface FoundEvent {
  readonly id: number;
  readonly type: string;
  readonly featureName: string | null;
  readonly data: { readonly description: string } | null;
  readonly preData: { readonly description: string } | null;
}

/** All that was acknowledged before the cut is there, once, and in an order that the clients can have seen; returns how much that is. */
async function check(call: Call, changes: readonly Change[], atMs: number): Promise<number> {
  const places = await placesOf(call);
  const present = changes.map((change) => ({
    ...change,
    place: places.get(`${change.flag} ${change.client}:${change.number}`),
  }));
  const acknowledged = present.filter(({ to }) => to < atMs);
  for (const { place, flag, client, number } of acknowledged)
    assert(place !== undefined, `change ${number} of ${flag} by ${client} was acknowledged`);
  let begun = 0;
  for (const { from, to } of present
    .filter(({ place }) => place !== undefined)
    .sort((a, b) => a.place! - b.place!)) {
    begun = Math.max(begun, from);
    assert(to >= begun, 'no change comes behind one that was begun after its response');
  }
  return acknowledged.length;
}

/** The places of changes in the history, each of which follows from the one before; the state is that of the last ones. */
async function placesOf(call: Call): Promise<ReadonlyMap<string, number>> {
  const found: FoundEvent[] = [];
  for (let offset = 0, more = true; more; offset = (found.at(-1)?.id ?? 1) - 1) {
    const query = { type: 'feature-metadata-updated', limit: 100, offset };
    const { body } = await call('POST', '/events/search', query);
    found.push(...body.events);
    more = body.events.length === 100;
  }
  const last = new Map<string, string>();
  const places = new Map<string, number>();
  for (const [place, { featureName, data, preData }] of found.reverse().entries()) {
    assert(featureName !== null && data !== null);
    assert.equal(preData?.description, last.get(featureName) ?? '0', 'a change follows from the one before');
    last.set(featureName, data.description);
    places.set(`${featureName} ${data.description}`, place);
  }
  assert.equal(places.size, found.length, 'a change is there once');
  for (const [flag, description] of last) {
    const { body } = await call('GET', `${FEATURES}/${flag}`);
    assert.equal(body.description, description, 'the state is that of the last event');
  }
  return places;
}

let recording: Promise<Recording> | null = null;

export interface CutCounts {
  readonly cuts: number;
  /** Changes that were acknowledged before the cuts, and found after them. */
  readonly acknowledged: number;
}

export async function cutPower({
  first,
  count,
}: {
  readonly first: number;
  readonly count: number;
}): Promise<CutCounts> {
  recording ??= recordServer();
  const recorded = await recording;
  let acknowledged = 0;
  for (let seed = first; seed < first + count; seed += 1) {
    const random = seededRandom(seed);
    // Before, in the middle of, or behind one of the calls.
    const { from, to } = recorded.operations[random.below(recorded.operations.length)]!;
    const atMs = from + random.next() * 2 * (to - from);
    const folder = cutAt(recorded, atMs, random);
    try {
      const server = await spawnServer(folder);
      acknowledged += await check(server.call, recorded.changes, atMs).finally(() => server.kill());
    } catch (cause) {
      throw new Error(`cut ${seed}, in ${folder}`, { cause });
    }
    rmSync(folder, { recursive: true, force: true });
  }
  return { cuts: count, acknowledged };
}
