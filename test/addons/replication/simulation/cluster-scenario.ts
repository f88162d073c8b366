/**
 * One seed of a cluster: nodes on disks of their own and a log between them, whose messages are lost, delayed, come twice and
 * overtake each other. Nodes crash, stand still, lose their disks, are cut off and come back; disks hang, fill up and rot, clocks jump;
 * the log stands still, and a server of it is behind; leaders hand over. Clients count upwards in flags, each step only from the number
 * that they have read at any node, write through any node, and repeat what got no response.
 *
 * What must hold at every moment: a node shows only what stands in the log, in the log's order (truth.ts), and none says for long
 * that it leads after another one took over. And at the end,
 * when all troubles are over: every node has the log's events, ids and checksums, each acknowledged step is there once, and each
 * number follows from the one before. Then comes one more trouble, by itself (final-acts.ts).
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Store } from '../../../../src/actors/store.ts';
import { firstRun, readArchiveIndex } from '../../../../src/addons/replication/archive-index.ts';
import { decodeRecord } from '../../../../src/addons/replication/record-format.ts';
import { dataFolder } from '../../../../src/persistence/disk/data-folder.ts';
import {
  idInFileName,
  SEGMENT_SUFFIX,
  segmentFileName,
} from '../../../../src/persistence/journal/segment.ts';
import { FOLDER } from '../../../support/engine.ts';
import { MemoryFileSystem } from '../../../support/memory-file-system.ts';
import { type SeededRandom, seededRandom } from '../../../support/seeded-random.ts';
import type { Fate } from '../memory-log.ts';
import { TestCluster, type TestNode } from '../test-cluster.ts';
import { CountingClient, Freshness } from './counting-client.ts';
import { FINAL_ACTS, type FinalAct } from './final-acts.ts';
import { LeaderWatch, setFull } from './leader-watch.ts';
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
/** Small, so that most batches have several parts. */
const PART_BYTES = 150;
const CLOCK_OFFSET_MS_MAX = 3 * 24 * 60 * 60 * 1_000;
/** After their clocks were set, the nodes know of it, and one of them leads. */
const SETTLED_MS = 15_000;
/** Enough for elections, retries and catching up once nothing is lost any more. */
const CALM_MS = 30_000;

/** The things that happen, of which it is counted how often; each final act counts once. */
export const COUNTED = [
  ...['seeds', 'acknowledged', 'takeOvers', 'deposed', 'cutTails', 'wipedDisks', 'fetches', 'forgotten'],
  ...['readsElsewhere', 'forwarded', 'hungDisks', 'fullDisks', 'frozen', 'staleServers'],
  ...['rottenFiles', 'mendedFiles', ...FINAL_ACTS.map(({ name }) => name)],
];

export type ClusterTally = Readonly<Record<string, number>>;

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
  /** The fate of messages: how many are lost, and how long the others take at most. */
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
  #frozen = 0;
  #staleServers = 0;
  /** Names of nodes at whose addresses nothing responds. */
  readonly #unreached = new Set<string>();
  /** Nodes of which a file went bad. */
  readonly #rotten = new Set<string>();
  readonly #watchLeaders: LeaderWatch;
  readonly #act: FinalAct;
  #isCalm = false;

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
      reaches: (_, to) => !this.#unreached.has(to),
      // Whatever is found at an address decides only when somebody stands.
      found: (found) => (!this.#isCalm && random.chance(0.1) ? FOUND[random.below(FOUND.length)]! : found),
    });
    this.#truth = new Truth(this.#cluster.log);
    this.#watchLeaders = new LeaderWatch(this.#cluster, this.#truth);
    this.#cluster.log.onPurge = (newest) => this.#lookAtForgotten(newest);
    this.#act = FINAL_ACTS[seed % FINAL_ACTS.length]!;
    const { nodesMin, name } = this.#act;
    const nodes = nodesMin + random.below(NODES_MAX + 1 - nodesMin);
    for (let added = 0; added < nodes; added += 1)
      this.#cluster.add(undefined, { isOld: name === 'rollingUpgrades' });
    const freshness = new Freshness();
    this.#clients = Array.from(
      { length: CLIENTS },
      (_, at) =>
        new CountingClient({
          ...{ name: `client-${at}`, random, history: this.#history, freshness },
          ...{ cluster: this.#cluster, truth: this.#truth },
        }),
    );
  }

  #fate: Fate = (kind) => {
    if (kind === 'announcement' && this.#areAnnouncementsLost) return 'lost';
    if (this.#lossChance > 0 && this.#random.chance(this.#lossChance)) return 'lost';
    if (!this.#isCalm && this.#random.chance(0.02)) return 'twice';
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

  /** Looks at what is forgotten. The caller takes an error for one of the log, so that it is told at the end. */
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
    await this.#lastAct();
    return tally;
  }

  async #pass(ms: number): Promise<void> {
    await this.#cluster.pass(ms);
    for (const client of this.#clients) client.throwFault();
    this.#watchLeaders.look();
    for (const { stops } of this.#cluster.nodes) for (const stop of stops.splice(0)) this.#judge(stop);
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
      [`the disk of ${node.name} hangs`, () => this.#hang(node)],
      [`the leader ${leader?.name} stands still`, () => this.#freeze(leader)],
      [`${node.name} stands still`, () => this.#freeze(node)],
      ['all go on that stood still', () => this.#thaw()],
      [`the server of ${node.name} is behind`, () => this.#leaveBehind(node)],
      [`nobody reaches ${node.name}`, () => this.#unreached.add(node.name)],
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
    this.#unreached.clear();
    for (const node of this.#cluster.nodes) {
      this.#cut(node, false);
      if (node.link !== null) node.link.endsAt = null;
    }
  }

  #freeze(node: TestNode | undefined): void {
    if (node?.isRunning !== true) return;
    node.freeze();
    this.#frozen += 1;
  }

  #thaw(): void {
    for (const node of this.#cluster.nodes) node.thaw();
    // A zombie has not looked at anything yet.
    this.#watchLeaders.look();
  }

  #leaveBehind({ link }: TestNode): void {
    if (link === null) return;
    link.endsAt = this.#cluster.log.last;
    this.#staleServers += 1;
  }

  #hang(node: TestNode | undefined): void {
    if (node === undefined) return;
    node.hangDisk();
    this.#hungDisks += 1;
  }

  #fill(node: TestNode): void {
    setFull(node, true);
    this.#fullDisks += 1;
  }

  #cureDisks(): void {
    for (const node of this.#cluster.nodes) {
      node.healDisk();
      setFull(node, false);
    }
  }

  #setClock(node: TestNode): void {
    node.clockOffsetMs = this.#random.below(2 * CLOCK_OFFSET_MS_MAX) - CLOCK_OFFSET_MS_MAX;
    assert(!node.isLeading, 'a leader whose clock has jumped decides nothing');
  }

  #loseAnnouncements(areLost: boolean): void {
    this.#areAnnouncementsLost = areLost;
  }

  #wipe(node: TestNode): void {
    node.crash();
    node.disk = new MemoryFileSystem();
    this.#wipedDisks += 1;
  }

  /** Damages a file of journal that the archive can make up for, once for each node: nobody vouches for the end of a file where the next one is bad too. */
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
    this.#thaw();
    this.#heal();
    this.#isCalm = true;
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
    this.#watchLeaders.checkClock();
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
      acknowledged: this.#sumOfClients(({ acknowledged }) => acknowledged.size),
      takeOvers: this.#truth.epoch,
      deposed: this.#deposed,
      cutTails: this.#timesNoted('are cut off'),
      wipedDisks: this.#wipedDisks,
      fetches: this.#timesNoted('came from the archive'),
      forgotten: this.#cluster.log.first - 1,
      readsElsewhere: this.#sumOfClients(({ readsElsewhere }) => readsElsewhere),
      forwarded: this.#sumOfClients(({ forwarded }) => forwarded),
      hungDisks: this.#hungDisks,
      fullDisks: this.#fullDisks,
      frozen: this.#frozen,
      staleServers: this.#staleServers,
      rottenFiles: this.#rotten.size,
      mendedFiles: this.#timesNoted('was restored from the archive'),
      [this.#act.name]: 1,
    };
  }

  #sumOfClients(of: (client: CountingClient) => number): number {
    return this.#clients.reduce((sum, client) => sum + of(client), 0);
  }

  async #lastAct(): Promise<void> {
    for (const node of this.#cluster.nodes) node.clockOffsetMs = 0;
    await this.#pass(SETTLED_MS);
    const [leader] = this.#cluster.leaders;
    const others = this.#cluster.nodes.filter((node) => node !== leader);
    this.#trace.push(`${this.#cluster.time.elapsedMs}: ${this.#act.name}, ${leader!.name} leads`);
    const { lastId } = this.#truth;
    await this.#act.run({
      ...{ cluster: this.#cluster, random: this.#random, lastId, leader: leader!, others },
      unreached: this.#unreached,
    });
  }

  #timesNoted(what: string): number {
    return this.#cluster.nodes.reduce(
      (sum, { notes }) => sum + notes.filter((note) => note.includes(what)).length,
      0,
    );
  }
}
