/**
 * The response to one query for flags: a document of bytes, remade only when something in it has changed. It is
 * put together from blocks of flags, and only blocks with a changed flag are made again.
 *
 * Its tag is a hash of its content. Event ids would not do: an event of another environment, or about something that
 * SDKs do not see, must not change the tag, and the state keeps no ids for each environment. A hash survives
 * restarts, is the same on every node, and costs a change the hashing of one block.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import type { FlagChunk } from '../../domain/state/project-flags.ts';
import { SDK_DOCUMENT_BYTES_MAX } from '../../domain/state/served-bytes.ts';
import type { ProjectState, World, WorldOwner } from '../../domain/state/world.ts';
import { passes } from '../../http/serving/flag-filter.ts';
import { type ClientQuery, projectsOf } from './client-query.ts';
import { type BodyWorkshop, EncodedBody } from './encoded-body.ts';
import type { SegmentSource } from './evaluation/segment-test.ts';
import { type FlagSurroundings, segmentJson } from './flag-view.ts';
import {
  BLOCK_ITEMS,
  BlockList,
  type FlagBlocks,
  holdOnTo,
  type JsonBlock,
  joining,
  listed,
} from './json-blocks.ts';

const VERSION = 2;

/** Bytes of the digest of one flag: with its text, which goes sooner. */
const DIGEST_BYTES = 48;

/** The version of the document's format: a new one makes SDKs fetch the same flags again. */
const RENDERING = 1;

export interface ClientDocumentOptions extends BodyWorkshop {
  readonly state: WorldOwner;
  readonly query: ClientQuery;
  readonly blocks: FlagBlocks;
  onResized(document: ClientDocument): void;
}

/** A stamp of everything that the query looks at: equal stamps mean that nothing can have changed. */
interface Stamp {
  readonly directory: number;
  readonly projectCount: number;
  readonly newestProject: number;
}

interface Content {
  readonly blocks: readonly JsonBlock[];
  /** Segments that the flags refer to, by id. */
  readonly segments: readonly SegmentSource[];
  readonly encoded: EncodedBody;
}

export interface NextContent {
  readonly builder: DocumentBuilder;
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

  get query(): ClientQuery {
    return this.#options.query;
  }

  /** The newest event that it can show: a reader waits until that is durable. */
  get revision(): number {
    return this.#revision;
  }

  get isMade(): boolean {
    return this.#content !== null;
  }

  get encoded(): EncodedBody {
    assert(this.#content !== null, 'a document is brought up to date before it is read');
    return this.#content.encoded;
  }

  /** Bytes of the bodies, in which the blocks are, and of what the blocks know of their flags. */
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

  shows(eventId: number): boolean {
    return this.#checkedId >= eventId;
  }

  /** The content after the event `lastId`, which is the newest one: flags and segments as they are at the moment of the call. */
  next(lastId: number): NextContent {
    const { query, blocks, state } = this.#options;
    const { world } = state;
    const records = recordsOf(projectsOf(world, query), query);
    const { segments } = world.directory;
    const around = { ...surroundingsOf(world, query), segment: (id: number) => segments.get(id) };
    const builder = new DocumentBuilder({ records, blocks, around, query, known: this.#content });
    return { builder, lastId, stamp: this.#stampNow() };
  }

  /** Shows what the builder has made, which is done, unless it shows something newer by now. */
  adopt({ builder, lastId, stamp }: NextContent): void {
    if (lastId < this.#checkedId) return;
    this.#checkedId = lastId;
    this.#stamp = stamp;
    const { made } = builder;
    if (made === null) return;
    const { compressor, later, onResized } = this.#options;
    this.#content?.encoded.retire();
    const encoded = new EncodedBody({ compressor, later, ...made, onResized: () => onResized(this) });
    this.#content = { ...made, encoded };
    this.#revision = lastId;
    onResized(this);
  }

  retire(): void {
    this.#content?.encoded.retire();
  }

  #stampNow(): Stamp {
    const { query, state } = this.#options;
    const { world } = state;
    const { directory } = world;
    let projectCount = 0;
    let newestProject = 0;
    for (const { revision } of projectsOf(world, query)) {
      projectCount += 1;
      newestProject = Math.max(newestProject, revision);
    }
    return { directory: directory.revision, projectCount, newestProject };
  }
}

interface MadeDocument {
  readonly blocks: readonly JsonBlock[];
  readonly segments: readonly SegmentSource[];
  readonly tag: string;
  readonly body: Buffer;
}

interface BuilderOptions {
  readonly records: Iterable<FlagRecord | null>;
  readonly blocks: FlagBlocks;
  readonly around: FlagSurroundings;
  readonly query: ClientQuery;
  readonly known: Content | null;
}

/** Makes a document step by step, none of which takes more than a few milliseconds, however many flags there are and however large. */
export class DocumentBuilder {
  readonly #options: BuilderOptions;
  readonly steps: Iterator<void, void>;
  #made: MadeDocument | null = null;
  #bytes = 0;
  #isTooLarge = false;

  constructor(options: BuilderOptions) {
    this.#options = options;
    this.steps = this.#build();
  }

  /** Null where the document shows all of it already, and where it would be too large. */
  get made(): MadeDocument | null {
    return this.#made;
  }

  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  get bytes(): number {
    return this.#bytes;
  }

  *#build(): Generator<void, void> {
    const { records, blocks: flagBlocks, around, known, query } = this.#options;
    const used = new Map<number, SegmentSource>();
    const flags = new BlockList(known?.blocks ?? []);
    for (const shown of records) {
      yield;
      if (shown === null) continue;
      const { json, look, sources } = flagBlocks.of(shown, around);
      for (const segment of sources) if (segment !== undefined) used.set(segment.id, segment);
      flags.add({ json, digest: look.digest });
      this.#bytes += json.length;
      this.#isTooLarge = this.#bytes > SDK_DOCUMENT_BYTES_MAX;
      if (this.#isTooLarge) return;
    }
    const blocks = flags.end();
    const segments = [...used.values()].sort((a, b) => a.id - b.id);
    if (known !== null && isSameContent(known, { blocks, segments })) return;
    const sent = new BlockList([]);
    if (!query.inlineSegments) {
      for (const segment of segments) {
        sent.add({ json: segmentJson(segment), digest: '' });
        yield;
      }
    }
    const parts = { flags: blocks, segments: query.inlineSegments ? null : sent.end() };
    const { tag, pieces } = rendered(query, parts);
    const body = yield* joining(pieces);
    holdOnTo(blocks, body, pieces[0]!.byteLength);
    this.#made = { blocks, segments, tag, body };
  }
}

function isSameContent(known: Content, { blocks, segments }: Pick<Content, 'blocks' | 'segments'>): boolean {
  return (
    blocks.length === known.blocks.length &&
    blocks.every((one, at) => one === known.blocks[at]) &&
    segments.length === known.segments.length &&
    segments.every((one, at) => one === known.segments[at])
  );
}

interface DocumentParts {
  readonly flags: readonly JsonBlock[];
  /** Null where they are inlined. */
  readonly segments: readonly JsonBlock[] | null;
}

function rendered(query: ClientQuery, { flags, segments }: DocumentParts) {
  const { environment, projects, namePrefix, tags, inlineSegments } = query;
  const queryHash = createHash('sha256')
    .update(JSON.stringify([RENDERING, query.key]))
    .digest('hex')
    .slice(0, 8);
  const sent = segments === null ? [] : ['"segments":[', ...listed(segments), ']'];
  const content = createHash('sha256').update('{');
  for (const piece of sent) content.update(piece);
  content.update('}');
  for (const block of flags) content.update(block.hash());
  const tag = `${queryHash}:${content.digest('base64url').slice(0, 22)}`;
  const asked = {
    environment,
    inlineSegmentConstraints: inlineSegments,
    ...(projects === '*' ? {} : { project: projects }),
    ...(namePrefix === '' ? {} : { namePrefix }),
    ...(tags.length === 0 ? {} : { tag: tags.map(({ type, value }) => [type, value]) }),
  };
  const tail = `"meta":${JSON.stringify({ etag: `"${tag}"`, queryHash })}}`;
  const pieces = [
    `{"version":${VERSION},"features":[`,
    ...listed(flags),
    `],"query":${JSON.stringify(asked)},`,
    ...sent,
    ...(sent.length === 0 ? [tail] : [`,${tail}`]),
  ];
  return { tag, pieces: pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)) };
}

function recordsOf(projects: Iterable<ProjectState>, query: ClientQuery): Iterable<FlagRecord | null> {
  const chunks = [...projects].flatMap(({ flags }) => flags.chunks);
  return recordsIn(chunks, query);
}

/** Null for each flag that the query does not show: thousands of them may follow one another. */
function* recordsIn(chunks: readonly FlagChunk[], query: ClientQuery): Generator<FlagRecord | null> {
  for (const { values } of chunks) {
    for (const record of values) {
      const { flag } = record;
      yield flag.archivedAt === null && passes(query, flag) ? record : null;
    }
  }
}

export function surroundingsOf(
  world: World,
  { environment, inlineSegments }: Pick<ClientQuery, 'environment' | 'inlineSegments'>,
): FlagSurroundings {
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
