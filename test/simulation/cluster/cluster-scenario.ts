/**
 * One seed of a cluster: nodes on disks of their own and a log between them, whose messages are lost, delayed and overtake
 * each other. Nodes crash, lose their disks, are cut off and come back; disks hang, fill up and rot, clocks jump; the log stands still; leaders hand over. Clients
 * count upwards in flags, each step only from the number that they have read, and repeat what got no response.
 *
 * What must hold at every moment: a node shows only what stands in the log, in the log's order (truth.ts), and none says for long
 * that it leads after another one took over. And at the end,
 * when all troubles are over: every node has the log's events, ids and checksums, each acknowledged step is there once, and each
 * number follows from the one before.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Store } from '../../../src/actors/store.ts';
import { firstRun, readArchiveIndex } from '../../../src/addons/replication/archive-index.ts';
import { decodeRecord } from '../../../src/addons/replication/record-format.ts';
import { dataFolder } from '../../../src/persistence/disk/data-folder.ts';
import { idInFileName, SEGMENT_SUFFIX, segmentFileName } from '../../../src/persistence/journal/segment.ts';
import { FOLDER } from '../../support/engine.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import type { Fate } from '../../support/replication/memory-log.ts';
import { TestCluster, type TestNode } from '../../support/replication/test-cluster.ts';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts';
import { CountingClient } from './counting-client.ts';
import { History } from './linearizability.ts';
import { Truth } from './truth.ts';

const FOUND = ['leads', 'follows', 'refused', 'nothing'] as const;

const NODES_MAX = 3;
const CLIENTS = 3;
/** How long troubles come, in simulated time, and at most how long after each other. */
const TROUBLED_MS = 40_000;
const TROUBLE_PAUSE_MS_MAX = 5_000;
/** Small, so that the log forgets something in a short life; a file holds some ten steps. */
const ARCHIVE_FILE_BYTES = 3_000;
const EVENTS_PER_SNAPSHOT = 40;
/** Small, so that a node soon has files of journal that it only keeps. */
const SEGMENT_BYTES = 3_000;
/** A leader that was deposed says so after this time, in which it asks the log, at the latest. */
const DEPOSED_MS_MAX = 3_000;
/** A change that is not decided for so long keeps a node from leading. */
const UNDECIDED_MS_MAX = 4_000;
/** Below the reserve of the journal: a disk of this size has no room for changes. */
const FULL_DISK_BYTES = 32 * 1024 * 1024;
/** A node with a full disk knows of it after a second and a change, and a take-over record may be on its way for some more. */
const FULL_MS_MAX = 8_000;
/** Small, so that most batches have several parts. */
const PART_BYTES = 150;
const CLOCK_OFFSET_MS_MAX = 3 * 24 * 60 * 60 * 1_000;
/** After this, whoever contradicts a log that has lost its tail has noticed, if anybody leads. */
const CONTRADICTION_MS_MAX = 15_000;
/** Enough for elections, retries and catching up once nothing is lost any more. */
const CALM_MS = 30_000;

export interface ClusterTally {
  readonly seeds: number;
  readonly acknowledged: number;
  readonly takeOvers: number;
  readonly deposed: number;
  readonly cutTails: number;
  readonly wipedDisks: number;
  /** Starts for which the archive had what a node lacked, and records that the log forgot. */
  readonly fetches: number;
  readonly forgotten: number;
  readonly readsElsewhere: number;
  readonly hungDisks: number;
  readonly fullDisks: number;
  readonly lostTails: number;
  /** Files whose bytes went bad, and those made anew. */
  readonly rottenFiles: number;
  readonly mendedFiles: number;
}

/** Throws when anything that was promised did not hold; the message names the seed. */
export async function simulateCluster(seed: number): Promise<ClusterTally> {
  const trace: string[] = [];
  try {
    return await new Scenario(seed, trace).run();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cluster seed ${seed}: ${reason}\n${trace.slice(-30).join('\n')}`, { cause });
  }
}

class Scenario {
  readonly #random: SeededRandom;
  readonly #trace: string[];
  readonly #cluster: TestCluster;
  readonly #truth: Truth;
  readonly #history = new History();
  readonly #clients: readonly CountingClient[];
  /** Of messages: how many are lost, and how long the others take at most. */
  #lossChance: number;
  #delayMsMax: number;
  /** While they are, another node takes over from a leader that goes on working. */
  #areAnnouncementsLost = false;
  /** Events that neither the log nor the archive held at some time. */
  readonly #lostEvents: string[] = [];
  #wipedDisks = 0;
  #deposed = 0;
  #hungDisks = 0;
  #fullDisks = 0;
  /** By node: when its disk was first seen to be full, and its last event then. */
  readonly #fullSince = new Map<string, { readonly ms: number; readonly durableId: number }>();
  /** Nodes of which a file went bad. */
  readonly #rotten = new Set<string>();
  /** Whether this life ends with a log that loses acknowledged records. */
  readonly #losesTail: boolean;
  /** The epoch that was seen last, and when it was seen first. */
  #epoch = 0;
  #epochAtMs = 0;

  constructor(seed: number, trace: string[]) {
    const random = seededRandom(seed);
    this.#random = random;
    this.#trace = trace;
    this.#lossChance = random.chance(0.5) ? random.next() * 0.05 : 0;
    this.#delayMsMax = random.chance(0.7) ? random.below(60) : 0;
    this.#cluster = new TestCluster({
      random: () => random.next(),
      fate: (kind) => this.#fate(kind),
      audited: true,
      ...(random.chance(0.6) && {
        archiveFileBytes: ARCHIVE_FILE_BYTES,
        eventsPerSnapshot: EVENTS_PER_SNAPSHOT,
        segmentBytes: SEGMENT_BYTES,
      }),
      ...(random.chance(0.3) && { partBytes: PART_BYTES }),
      archiveTakesMs: () => (this.#delayMsMax === 0 ? 0 : this.#random.below(this.#delayMsMax)),
      onOpen: (node, store) => this.#watch(node, store),
      // Whatever is found at an address decides only when somebody stands.
      found: (found) => (random.chance(0.1) ? FOUND[random.below(FOUND.length)]! : found),
    });
    this.#losesTail = random.chance(0.15);
    this.#truth = new Truth(this.#cluster.log);
    this.#cluster.log.onPurge = (newest) => this.#lookAtForgotten(newest);
    const nodes = 1 + random.below(NODES_MAX);
    for (let added = 0; added < nodes; added += 1) this.#cluster.add();
    this.#clients = Array.from(
      { length: CLIENTS },
      (_, at) =>
        new CountingClient({
          ...{ name: `client-${at}`, random, history: this.#history },
          ...{ cluster: this.#cluster, truth: this.#truth },
        }),
    );
  }

  #fate: Fate = (kind) => {
    if (kind === 'announcement' && this.#areAnnouncementsLost) return 'lost';
    if (this.#lossChance > 0 && this.#random.chance(this.#lossChance)) return 'lost';
    return this.#delayMsMax === 0 ? 0 : this.#random.below(this.#delayMsMax);
  };

  #watch({ name }: TestNode, { engine }: Store): void {
    this.#truth.checkPlace(name, { lastId: engine.lastId, chain: engine.lastChain });
    engine.feed.subscribe((changes) => this.#truth.checkShown(name, changes));
  }

  /** The last event up to which the archive has all. */
  get #archivedId(): number {
    const files = [...this.#cluster.archive.files].map(([name, { length: bytes }]) => ({ name, bytes }));
    return firstRun(readArchiveIndex(files))?.lastId ?? 0;
  }

  /** Whoever asks the log to forget takes an error for one of the log, so that it is told at the end. */
  #lookAtForgotten(newest: Buffer): void {
    const record = decodeRecord(newest);
    const forgottenId = record.kind === 'frames' ? record.lastId : record.previousId;
    const archivedId = this.#archivedId;
    if (forgottenId > archivedId) this.#lostEvents.push(`${archivedId + 1} to ${forgottenId}`);
  }

  async run(): Promise<ClusterTally> {
    const { time } = this.#cluster;
    const clients = this.#clients.map((client) => client.live());
    void Promise.all(clients).catch(() => undefined);
    while (time.elapsedMs < TROUBLED_MS) {
      await this.#pass(this.#random.below(TROUBLE_PAUSE_MS_MAX));
      this.#trouble();
      this.#startAgain();
    }
    await this.#calm();
    await this.#checkFiles();
    const tally = this.#check();
    return this.#losesTail ? await this.#loseTail(tally) : tally;
  }

  async #pass(ms: number): Promise<void> {
    await this.#cluster.pass(ms);
    for (const client of this.#clients) client.throwFault();
    this.#lookAtLeaders();
    for (const { stops } of this.#cluster.nodes) for (const stop of stops.splice(0)) this.#judge(stop);
  }

  #lookAtLeaders(): void {
    const { leaders, time } = this.#cluster;
    const { epoch, leader } = this.#truth;
    for (const { name, store } of leaders) {
      const { undecidedMs } = store!.engine.journal;
      assert(undecidedMs <= UNDECIDED_MS_MAX, `${name} leads, and has decided nothing for ${undecidedMs} ms`);
    }
    this.#lookAtFullDisks();
    if (epoch > this.#epoch && leader !== null) this.#checkRoom(leader);
    if (epoch > this.#epoch) [this.#epoch, this.#epochAtMs] = [epoch, time.elapsedMs];
    if (time.elapsedMs - this.#epochAtMs <= DEPOSED_MS_MAX) return;
    for (const { name } of leaders)
      assert.equal(name, leader, `${name} leads as the log says, or knows that it does not`);
  }

  #lookAtFullDisks(): void {
    for (const { name, disk, store } of this.#cluster.nodes) {
      if (store === null || disk.capacityBytes > FULL_DISK_BYTES) this.#fullSince.delete(name);
      else if (!this.#fullSince.has(name))
        this.#fullSince.set(name, { ms: this.#cluster.time.elapsedMs, durableId: store.engine.durableId });
    }
  }

  #checkRoom(leader: string): void {
    const since = this.#fullSince.get(leader);
    const node = this.#cluster.nodes.find(({ name }) => name === leader);
    const hasChanged = since !== undefined && (node?.store?.engine.durableId ?? 0) > since.durableId + 1;
    if (since === undefined || !hasChanged) return;
    const fullMs = this.#cluster.time.elapsedMs - since.ms;
    assert(fullMs <= FULL_MS_MAX, `${leader} takes over, and its disk was full for ${fullMs} ms`);
  }

  /** The only reason for a node to end by itself is that another one took over. */
  #judge(stop: Error): void {
    const isFenced = [stop, stop.cause].some(
      (error) => error instanceof Error && error.name === 'FencedError',
    );
    if (!isFenced) throw stop;
    this.#deposed += 1;
  }

  #trouble(): void {
    const { nodes, log } = this.#cluster;
    const node = nodes[this.#random.below(nodes.length)]!;
    const leader = this.#cluster.leaders[0];
    const kinds: readonly (readonly [string, () => void])[] = [
      [`${node.name} crashes`, () => node.crash()],
      [`the leader ${leader?.name} crashes`, () => leader?.crash()],
      [`${node.name} is cut off`, () => this.#cut(node, true)],
      [`the leader ${leader?.name} is cut off`, () => leader !== undefined && this.#cut(leader, true)],
      ['all links are whole', () => this.#heal()],
      ['the log stands still', () => log.pause()],
      ['the log goes on', () => log.resume()],
      [
        `the leader ${leader?.name} hands over`,
        () => void leader?.replica?.handOver().catch(() => undefined),
      ],
      [`${node.name} loses its disk`, () => this.#wipe(node)],
      [`the disk of the leader ${leader?.name} hangs`, () => this.#hang(leader)],
      [`the disk of ${node.name} is full`, () => this.#fill(node)],
      ['all disks are well', () => this.#cureDisks()],
      [`a bit of an old file of ${node.name} flips`, () => this.#rot(node)],
      [`the clock of ${node.name} jumps`, () => this.#setClock(node)],
      ['announcements are lost', () => this.#loseAnnouncements(true)],
      ['announcements arrive', () => this.#loseAnnouncements(false)],
    ];
    const [what, happen] = kinds[this.#random.below(kinds.length)]!;
    this.#trace.push(`${this.#cluster.time.elapsedMs}: ${what}`);
    happen();
  }

  #cut({ link }: TestNode, isCut: boolean): void {
    if (link !== null) link.isCut = isCut;
  }

  #heal(): void {
    for (const node of this.#cluster.nodes) this.#cut(node, false);
  }

  #hang(node: TestNode | undefined): void {
    if (node === undefined) return;
    node.hangDisk();
    this.#hungDisks += 1;
  }

  #fill({ disk }: TestNode): void {
    disk.capacityBytes = FULL_DISK_BYTES;
    this.#fullDisks += 1;
  }

  #cureDisks(): void {
    for (const node of this.#cluster.nodes) {
      node.healDisk();
      node.disk.capacityBytes = Number.POSITIVE_INFINITY;
    }
  }

  #setClock(node: TestNode): void {
    node.clockOffsetMs = this.#random.below(2 * CLOCK_OFFSET_MS_MAX) - CLOCK_OFFSET_MS_MAX;
  }

  #loseAnnouncements(areLost: boolean): void {
    this.#areAnnouncementsLost = areLost;
  }

  #wipe(node: TestNode): void {
    node.crash();
    node.disk = new MemoryFileSystem();
    this.#wipedDisks += 1;
  }

  /** In a file of journal that the archive can make up for, once for each node: nobody vouches for the end of a file where the next one is bad too. */
  #rot({ name, disk }: TestNode): void {
    const { journal } = dataFolder(FOLDER);
    const ids = disk.namesIn(journal).flatMap((file) => idInFileName(file, SEGMENT_SUFFIX) ?? []);
    const archivedId = this.#archivedId;
    const old = ids.filter((_, at) => at + 1 < ids.length && ids[at + 1]! <= archivedId + 1);
    const id = old[this.#random.below(old.length)];
    if (id === undefined || this.#rotten.has(name)) return;
    const path = join(journal, segmentFileName(id));
    const bytes = disk.bytesOf(path);
    bytes[this.#random.below(bytes.length)]! ^= 1 << this.#random.below(8);
    disk.put(path, bytes);
    this.#rotten.add(name);
  }

  #startAgain(): void {
    for (const node of this.#cluster.nodes) if (!node.isRunning && this.#random.chance(0.7)) node.begin();
  }

  async #calm(): Promise<void> {
    this.#trace.push(`${this.#cluster.time.elapsedMs}: calm`);
    this.#lossChance = 0;
    this.#delayMsMax = 0;
    this.#loseAnnouncements(false);
    this.#cluster.log.resume();
    this.#cureDisks();
    for (const client of this.#clients) client.stop();
    for (let passed = 0; passed < CALM_MS; passed += 1_000) {
      for (const node of this.#cluster.nodes) {
        this.#cut(node, false);
        if (!node.isRunning) node.begin();
      }
      await this.#pass(1_000);
    }
  }

  async #checkFiles(): Promise<void> {
    for (const { name, store } of this.#cluster.nodes) {
      const { historyCheck } = store!;
      let isRead = false;
      void historyCheck.pass().then(() => {
        isRead = true;
      });
      await this.#cluster.until(`${name} has read its journal again`, () => isRead);
      assert.deepEqual(historyCheck.damages, [], `${name} mends what the archive has`);
    }
  }

  #check(): ClusterTally {
    const { nodes, leaders } = this.#cluster;
    assert.equal(leaders.length, 1, 'in the end one node leads');
    const places = nodes.map(({ place }) => place);
    for (const [at, place] of places.entries()) {
      assert.deepEqual(place, places[0], `${nodes[at]!.name} has what the others have`);
      this.#truth.checkPlace(nodes[at]!.name, place);
    }
    assert.equal(places[0]!.lastId, this.#truth.lastId, 'every node has all that the log holds');
    assert.deepEqual(this.#lostEvents, [], 'what the log forgets is in the archive');
    this.#history.check();
    this.#truth.checkCounts();
    for (const client of this.#clients) client.check();
    return {
      seeds: 1,
      acknowledged: this.#clients.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
      takeOvers: this.#truth.epoch,
      deposed: this.#deposed,
      cutTails: this.#timesNoted('are cut off'),
      wipedDisks: this.#wipedDisks,
      fetches: this.#timesNoted('came from the archive'),
      forgotten: this.#cluster.log.first - 1,
      readsElsewhere: this.#clients.reduce((sum, { readsElsewhere }) => sum + readsElsewhere, 0),
      hungDisks: this.#hungDisks,
      fullDisks: this.#fullDisks,
      lostTails: 0,
      rottenFiles: this.#rotten.size,
      mendedFiles: this.#timesNoted('was made anew from the archive'),
    };
  }

  /** Nobody may go on with another history than somebody else shows. */
  async #loseTail(tally: ClusterTally): Promise<ClusterTally> {
    const { log, nodes, time } = this.#cluster;
    const { lastId } = this.#truth;
    log.loseTail(1 + this.#random.below(Math.min(3, log.last)));
    this.#trace.push(`${time.elapsedMs}: the log ends at ${log.last}`);
    for (let passed = 0; passed < CONTRADICTION_MS_MAX; passed += 1_000) {
      await this.#cluster.pass(1_000);
      for (const node of nodes) if (!node.isRunning && this.#random.chance(0.5)) node.begin();
    }
    const left = new Truth(log);
    if (left.lastId < lastId)
      assert.deepEqual(this.#cluster.leaders, [], 'nobody leads without what every node has acknowledged');
    if (this.#cluster.leaders.length === 0) return { ...tally, lostTails: 1 };
    for (const { name, store, place } of nodes.filter(({ store: opened }) => opened !== null))
      if (store !== null) left.checkPlace(name, place);
    return { ...tally, lostTails: 1 };
  }

  #timesNoted(what: string): number {
    return this.#cluster.nodes.reduce(
      (sum, { notes }) => sum + notes.filter((note) => note.includes(what)).length,
      0,
    );
  }
}
