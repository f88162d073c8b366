/**
 * What one query for flags gets: a document of bytes, made anew only when something in it changed. It is put together
 * from blocks of flags, and of those only the ones with a changed flag are made again.
 *
 * Its tag is a hash of what is in it. Event ids would not do: an event of another environment, or about what SDKs do
 * not see, must not change the tag, and the state keeps no ids for each environment. A hash survives restarts, is the
 * same on every node, and costs a change the hashing of one block.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { SegmentSource } from '../../domain/evaluation/segment-test.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { FlagRecord, ShelvedFlags } from '../../domain/state/flag-record.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';
import { passes } from '../dispatch/flag-filter.ts';
import { BLOCK_ITEMS, blockOf, type JsonBlock, type JsonItem, withList } from '../dispatch/json-blocks.ts';
import { type ClientQuery, projectsOf } from './client-query.ts';
import { type BodyWorkshop, EncodedBody } from './encoded-body.ts';
import type { FlagBlocks } from './flag-blocks.ts';
import { type FlagSurroundings, segmentView } from './flag-view.ts';

/** The format of the document that SDKs know as version 2. */
const VERSION = 2;

/** Of one flag: with its text, which goes sooner. */
const DIGEST_BYTES = 48;

/** Counts changes of what a document of the same flags says: SDKs must then fetch it again. */
const RENDERING = 1;

export interface ClientDocumentOptions extends BodyWorkshop {
  readonly world: World;
  readonly query: ClientQuery;
  readonly blocks: FlagBlocks;
  onResized(document: ClientDocument): void;
}

/** What tells whether anything can have changed that the query looks at. */
interface Stamp {
  readonly directory: number;
  readonly projectCount: number;
  readonly newestProject: number;
}

interface Content {
  readonly blocks: readonly JsonBlock[];
  /** Those that the flags refer to, by id. */
  readonly segments: readonly SegmentSource[];
  readonly encoded: EncodedBody;
}

/** What a document is to show, while it is made. */
export interface NextContent {
  readonly builder: BlockBuilder;
  readonly lastId: number;
  readonly stamp: Stamp;
}

export class ClientDocument {
  readonly #options: ClientDocumentOptions;
  #checkedId = -1;
  #stamp: Stamp | null = null;
  #content: Content | null = null;
  #revision = 0;

  constructor(options: ClientDocumentOptions) {
    this.#options = options;
  }

  /** The newest event that it can show: a reader waits until that is durable. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether it was asked for before. */
  get isMade(): boolean {
    return this.#content !== null;
  }

  get encoded(): EncodedBody {
    assert(this.#content !== null, 'a document is brought up to date before it is read');
    return this.#content.encoded;
  }

  /** Of the bodies, in whose bytes the blocks are, and of what the blocks know of their flags. */
  get bytes(): number {
    if (this.#content === null) return 0;
    const { blocks, encoded } = this.#content;
    return encoded.bytes + blocks.length * BLOCK_ITEMS * DIGEST_BYTES;
  }

  /** Whether it shows the state as it is after the event `lastId`, or can be seen to without looking at any flag. */
  isCurrent(lastId: number): boolean {
    if (lastId === this.#checkedId) return true;
    if (this.#stamp === null || !isSameStamp(this.#stamp, this.#stampNow())) return false;
    this.#checkedId = lastId;
    return true;
  }

  /** How many flags `update` would look at. */
  get flagCount(): number {
    let count = 0;
    for (const { flags } of projectsOf(this.#options.world, this.#options.query)) count += flags.size;
    return count;
  }

  /** Whether it shows at least what was there after the event. */
  shows(eventId: number): boolean {
    return this.#checkedId >= eventId;
  }

  /** Shows the state as it is after the event `lastId`. */
  update(lastId: number): void {
    const next = this.next(lastId);
    while (!next.builder.advance());
    this.adopt(next);
  }

  /** What it has to show after the event `lastId`, which is the newest one: flags and segments as they are at the moment of the call. */
  next(lastId: number): NextContent {
    const { query, blocks, world } = this.#options;
    const records = recordsOf(projectsOf(world, query), query);
    const segments = new Map(world.directory.segments);
    const around = { ...surroundingsOf(world, query), segment: (id: number) => segments.get(id) };
    const builder = new BlockBuilder(records, blocks, around, this.#content?.blocks ?? []);
    return { builder, lastId, stamp: this.#stampNow() };
  }

  /** Shows what the builder has made, which is done, unless it shows something newer by now. */
  adopt({ builder, lastId, stamp }: NextContent): void {
    if (lastId < this.#checkedId) return;
    this.#checkedId = lastId;
    this.#stamp = stamp;
    if (!this.#isContentOf(builder)) this.#replace(builder, lastId);
  }

  retire(): void {
    this.#content?.encoded.retire();
  }

  #stampNow(): Stamp {
    const { directory } = this.#options.world;
    let projectCount = 0;
    let newestProject = 0;
    for (const { revision } of projectsOf(this.#options.world, this.#options.query)) {
      projectCount += 1;
      newestProject = Math.max(newestProject, revision);
    }
    return { directory: directory.revision, projectCount, newestProject };
  }

  #isContentOf({ made, segments }: BlockBuilder): boolean {
    const known = this.#content;
    if (known === null || made.length !== known.blocks.length || segments.size !== known.segments.length)
      return false;
    return (
      made.every((one, at) => one === known.blocks[at]) &&
      known.segments.every((one) => segments.get(one.id) === one)
    );
  }

  #replace({ made: blocks, segments: used }: BlockBuilder, lastId: number): void {
    const { compressor, later, onResized } = this.#options;
    const segments = [...used.values()].sort((a, b) => a.id - b.id);
    const { tag, body } = this.#render(blocks, segments);
    this.#content?.encoded.retire();
    const encoded = new EncodedBody({ compressor, later, tag, body, onResized: () => onResized(this) });
    this.#content = { blocks, segments, encoded };
    this.#revision = lastId;
    onResized(this);
  }

  #render(blocks: readonly JsonBlock[], segments: readonly SegmentSource[]) {
    const { query } = this.#options;
    const { environment, projects, namePrefix, tags, inlineSegments } = query;
    const queryHash = createHash('sha256')
      .update(JSON.stringify([RENDERING, query.key]))
      .digest('hex')
      .slice(0, 8);
    const sent = inlineSegments ? {} : { segments: segments.map(segmentView) };
    const content = createHash('sha256').update(JSON.stringify(sent));
    for (const block of blocks) content.update(block.hash());
    const tag = `${queryHash}:${content.digest('base64url').slice(0, 22)}`;
    const body = withList({ version: VERSION }, 'features', blocks, {
      query: {
        environment,
        inlineSegmentConstraints: inlineSegments,
        ...(projects === '*' ? {} : { project: projects }),
        ...(namePrefix === '' ? {} : { namePrefix }),
        ...(tags.length === 0 ? {} : { tag: tags.map(({ type, value }) => [type, value]) }),
      },
      ...sent,
      meta: { etag: `"${tag}"`, queryHash },
    });
    return { tag, body };
  }
}

/** Goes through the flags of a query and makes blocks of them. */
export class BlockBuilder {
  readonly made: JsonBlock[] = [];
  /** Those that the flags refer to. */
  readonly segments = new Map<number, SegmentSource>();
  readonly #records: Iterator<RecordAt>;
  readonly #blocks: FlagBlocks;
  readonly #around: FlagSurroundings;
  readonly #known: readonly JsonBlock[];

  constructor(
    records: Iterator<RecordAt>,
    blocks: FlagBlocks,
    around: FlagSurroundings,
    known: readonly JsonBlock[],
  ) {
    this.#records = records;
    this.#blocks = blocks;
    this.#around = around;
    this.#known = known;
  }

  /** Makes one more block. True when there is no other. */
  advance(): boolean {
    const items: JsonItem[] = [];
    for (let next = this.#records.next(); next.done !== true; next = this.#records.next()) {
      const { record, flag } = next.value;
      const { json, look, sources } = this.#blocks.at(record, flag, this.#around);
      for (const segment of sources) if (segment !== undefined) this.segments.set(segment.id, segment);
      items.push({ json, digest: look.digest });
      if (items.length === BLOCK_ITEMS) break;
    }
    if (items.length > 0) this.made.push(blockOf(items, this.#known[this.made.length]));
    return items.length < BLOCK_ITEMS;
  }
}

/** The record of a flag, with the flag that it held at some moment. */
interface RecordAt {
  readonly record: FlagRecord;
  readonly flag: Flag;
}

/** Those of the moment of the call. */
function recordsOf(projects: Iterable<ProjectState>, query: ClientQuery): Iterator<RecordAt> {
  const shelves = [...projects].flatMap(({ flags }) => flags.shelved());
  return recordsOn(shelves, query);
}

function* recordsOn(shelves: readonly ShelvedFlags[], query: ClientQuery): Generator<RecordAt> {
  for (const { records, flags } of shelves) {
    for (const [at, flag] of flags.entries())
      if (flag.archivedAt === null && passes(query, flag)) yield { record: records[at]!, flag };
  }
}

export function surroundingsOf(world: World, { environment, inlineSegments }: ClientQuery): FlagSurroundings {
  const found = world.directory.environments.find(({ name }) => name === environment);
  return {
    environment,
    environmentEnabled: found?.enabled === true,
    inlineSegments,
    segment: (id) => world.directory.segments.get(id),
  };
}

function isSameStamp(a: Stamp, b: Stamp): boolean {
  return (
    a.newestProject === b.newestProject && a.directory === b.directory && a.projectCount === b.projectCount
  );
}
