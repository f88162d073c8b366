/** The log holds what happened; everything that nodes show is held against it. */
import assert from 'node:assert/strict';
import type { Change } from '../../../../src/actors/change-feed.ts';
import { NodeHistory } from '../../../../src/addons/replication/node-history.ts';
import { RecordReader } from '../../../../src/addons/replication/record-reader.ts';
import { lastEventId } from '../../../../src/persistence/journal/frame.ts';
import { decodePayload } from '../../../../src/persistence/journal/frame-payload.ts';
import type { MemoryLog } from '../memory-log.ts';
import { CLUSTER } from '../test-cluster.ts';

interface DecidedChange {
  readonly events: string;
  readonly chain: number;
}

/** A step of a client: the flag, the number that it made, and who made it. */
const STEP = /^(\d+) by (\S+)$/;

export class Truth {
  readonly #log: MemoryLog;
  readonly #reader = new RecordReader(new NodeHistory(CLUSTER, null), 1);
  /** By the id of the last event of each change. */
  readonly #changes = new Map<number, DecidedChange>();
  /** The numbers of each flag, in order. */
  readonly #counts = new Map<string, number[]>();
  /** How often each step was recorded. */
  readonly #steps = new Map<string, number>();
  /** By a step: the last event of its change. */
  readonly #ids = new Map<string, number>();
  /** Time of the newest change. */
  #at = 0;

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  get lastId(): number {
    this.#readOn();
    return this.#reader.place?.id ?? 0;
  }

  get epoch(): number {
    this.#readOn();
    return this.#reader.epoch;
  }

  /** The node that took over last; null before anybody did. */
  get leader(): string | null {
    this.#readOn();
    return this.#reader.leader?.node ?? null;
  }

  /** A node has events up to this one, on its disk. */
  checkPlace(node: string, { lastId, chain }: { readonly lastId: number; readonly chain: number }): void {
    this.#readOn();
    if (lastId > 0)
      assert.equal(this.#changes.get(lastId)?.chain, chain, `${node} holds what the log does not`);
  }

  /** A node shows these changes to everybody. */
  checkShown(node: string, changes: readonly Change[]): void {
    this.#readOn();
    for (const change of changes) {
      const decided = this.#changes.get(lastEventId(change));
      assert.equal(decided?.events, eventsText(change), `${node} shows what the log does not hold`);
    }
  }

  /** How often the log holds a step of a client. */
  timesOf(step: string): number {
    this.#readOn();
    return this.#steps.get(step) ?? 0;
  }

  /** The event that a reader of the step has to ask for. */
  idOf(step: string): number {
    this.#readOn();
    return this.#ids.get(step) ?? 0;
  }

  /** Each number follows from the one before: no step was made from an old one. */
  checkCounts(): void {
    this.#readOn();
    for (const [flag, numbers] of this.#counts) {
      const expected = numbers.map((_, index) => index + 1);
      assert.deepEqual(numbers, expected, `each number of ${flag} follows from the one before`);
    }
  }

  /** Throws where a record does not follow: two leaders never write between each other. */
  #readOn(): void {
    for (let at = this.#reader.position; at < this.#log.last; at += 1) {
      const decided = this.#reader.read({ position: at + 1, bytes: this.#log.records[at]! });
      if (decided.kind !== 'batch') continue;
      for (const { body, lastId, chain } of decided.frames) {
        const decoded = decodePayload(body.payload, body);
        assert(decoded.problem === null, 'what the log holds can be read');
        this.#changes.set(lastId, { events: eventsText(decoded.frame), chain });
        assert(decoded.frame.at >= this.#at, 'recorded times never go back, whoever leads');
        this.#at = decoded.frame.at;
        for (const event of decoded.frame.events) this.#count(event, lastId);
      }
    }
  }

  #count(
    {
      type,
      featureName,
      data,
    }: { readonly type: string; readonly featureName: string | null; readonly data: unknown },
    lastId: number,
  ): void {
    if (type !== 'feature-metadata-updated' || featureName === null) return;
    const { description } = data as { readonly description: string };
    const [, number = '', by = ''] = STEP.exec(description) ?? [];
    const numbers = this.#counts.get(featureName) ?? [];
    numbers.push(Number(number));
    this.#counts.set(featureName, numbers);
    this.#steps.set(by, (this.#steps.get(by) ?? 0) + 1);
    this.#ids.set(by, lastId);
  }
}

const eventsText = ({ id, at, by, events }: Pick<Change, 'id' | 'at' | 'by' | 'events'>): string =>
  JSON.stringify([id, at, by, events]);
