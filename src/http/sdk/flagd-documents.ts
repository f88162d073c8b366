/**
 * The documents for flagd that are kept, one for each query that is asked. They are made of what SDKs get, so each lasts as long
 * as the document of SDKs for the same query, and its tag is made from the tag of that.
 */
import type { Engine } from '../../actors/engine.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { type CachePart, type CachePartOptions, cacheOf } from '../serving/cache.ts';
import { passes } from '../serving/flag-filter.ts';
import { inSlices } from '../serving/slices.ts';
import { surroundingsOf } from './documents/client-document.ts';
import { clientDocuments } from './documents/client-documents.ts';
import { type ClientQuery, type Payer, projectsOf } from './documents/client-query.ts';
import { EncodedBody } from './documents/encoded-body.ts';
import { DefinitionsBuilder } from './flagd-definitions.ts';

/** While changes come faster than a document can be made, so often. */
const TRIES_MAX = 4;

/** A document takes some memory however small it is. */
const BYTES_EACH = 4 * 1024;

/** Counts changes of what a document of the same flags says: flagd must then fetch it again. */
const RENDERING = 1;

export interface FlagdDocument {
  /** The newest event that it can show: a reader waits until that is durable. */
  readonly revision: number;
  readonly encoded: EncodedBody;
}

interface Entry extends FlagdDocument {
  /** What SDKs got when it was made. */
  readonly source: EncodedBody;
}

interface MakingOptions extends Pick<Entry, 'source' | 'revision'> {
  readonly payer: Payer | undefined;
}

export class FlagdDocuments {
  readonly #engine: Engine;
  readonly #whole: CachePart<string, Entry>;
  readonly #narrowed: CachePart<string, Entry>;
  /** Documents that are made at the moment, by what SDKs get. */
  readonly #pending = new Map<EncodedBody, Promise<FlagdDocument>>();

  constructor(engine: Engine) {
    this.#engine = engine;
    const options: CachePartOptions<string, Entry> = {
      bytesOf: ({ encoded }, key) => encoded.bytes + key.length * 2 + BYTES_EACH,
      onEvicted: ({ encoded }) => encoded.retire(),
    };
    this.#whole = cacheOf(engine).part(options);
    this.#narrowed = cacheOf(engine).part({ ...options, isMultiplied: true });
  }

  /** The document of the query, in the newest state. `payer` is charged if it has to be made. */
  async get(query: ClientQuery, payer?: Payer): Promise<FlagdDocument | Refusal> {
    const engine = this.#engine;
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const document = await clientDocuments(engine).get(query, () => engine.lastId, payer);
      if (isRefusal(document)) return document;
      // The state may have changed while it was waited for.
      if (!document.isCurrent(engine.lastId)) continue;
      const { encoded: source, revision } = document;
      const known = this.#keptOf(query).get(query.key);
      if (known?.source === source) return known;
      let pending = this.#pending.get(source);
      if (pending === undefined) {
        pending = this.#making(query, { source, revision, payer }).finally(() =>
          this.#pending.delete(source),
        );
        this.#pending.set(source, pending);
      }
      return pending;
    }
    return refuse(
      'ServiceUnavailableError',
      'Flags change faster than they can be written for flagd; try again.',
    );
  }

  #keptOf({ isNarrowed }: ClientQuery): CachePart<string, Entry> {
    return isNarrowed ? this.#narrowed : this.#whole;
  }

  #making(query: ClientQuery, making: MakingOptions): Promise<FlagdDocument> {
    return clientDocuments(this.#engine).making.run(() => this.#make(query, making), making.payer);
  }

  async #make(query: ClientQuery, { source, revision, payer }: MakingOptions): Promise<FlagdDocument> {
    const kept = this.#keptOf(query);
    const builder = await this.#builderOf(query, payer);
    await inSlices(() => builder.advance(), payer);
    const encoded = new EncodedBody({
      ...clientDocuments(this.#engine).workshop,
      tag: `flagd${RENDERING}:${source.tag}`,
      body: builder.document(),
      onResized: () => {
        if (kept.peek(query.key) === entry) kept.set(query.key, entry);
      },
    });
    const entry: Entry = { source, revision, encoded };
    kept.get(query.key)?.encoded.retire();
    kept.set(query.key, entry);
    return entry;
  }

  /** Takes flags and segments as they are at this moment; none of these objects ever changes. */
  async #builderOf(query: ClientQuery, payer: Payer | undefined): Promise<DefinitionsBuilder> {
    const { world } = this.#engine;
    const flags = new Map<string, Flag>();
    const { environmentEnabled } = surroundingsOf(world, query);
    const segments = new Map(world.directory.segments);
    const shelves = [...projectsOf(world, query)].flatMap((project) => project.flags.shelved());
    let at = 0;
    await inSlices(() => {
      for (const flag of shelves[at]?.flags ?? [])
        if (flag.archivedAt === null && passes(query, flag)) flags.set(flag.name, flag);
      at += 1;
      return at >= shelves.length;
    }, payer);
    return new DefinitionsBuilder(flags.values(), {
      environment: query.environment,
      environmentEnabled,
      flag: (name) => flags.get(name),
      segment: (id) => segments.get(id),
    });
  }
}

/** Keyed by the engine whose state they show: they go with it. */
const documentsOf = new WeakMap<Engine, FlagdDocuments>();

export function flagdDocuments(engine: Engine): FlagdDocuments {
  let known = documentsOf.get(engine);
  if (known === undefined) {
    known = new FlagdDocuments(engine);
    documentsOf.set(engine, known);
  }
  return known;
}
