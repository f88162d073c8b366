/**
 * The surface for flagd, which gets definitions of flags and evaluates them itself
 * (docs/specification/surfaces.md#what-flagd-gets).
 */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type CachePart, type CachePartOptions, cacheOf } from '../../actors/cache.ts';
import type { ServedState } from '../../actors/served-state.ts';
import { each, inTurns, type Requester } from '../../actors/turn.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { described, titled } from '../../domain/json/schema.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { passes } from '../serving/flag-filter.ts';
import { readRoute, underTag } from '../serving/route.ts';
import { SDK_ERRORS, sdkAccess } from '../serving/sdk-access.ts';
import type { Surface } from '../serving/surface.ts';
import { type ClientDocument, surroundingsOf } from './client-document.ts';
import { clientDocuments, Making } from './client-documents.ts';
import { type ClientQuery, clientQuery, projectsOf, QUERY_PARAMETERS, requesterOf } from './client-query.ts';
import { EncodedBody } from './encoded-body.ts';
import { flagRule, isLeftOut, type RuleScope } from './flagd-flag-rule.ts';

const DefinitionSchema = titled('FlagdDefinition', {
  state: v.literal('ENABLED'),
  variants: v.object({ on: v.boolean(), off: v.boolean() }),
  defaultVariant: v.picklist(['on', 'off']),
  targeting: described(
    v.exactOptional(v.record(v.string(), v.unknown())),
    'JSONLogic; absent for a flag that is the same for everybody.',
  ),
});

const DefinitionsSchema = titled('FlagdDefinitions', {
  $schema: v.string(),
  flags: v.record(v.string(), DefinitionSchema),
  metadata: v.object({ environment: v.string(), leftOutCount: v.number() }),
  leftOut: described(
    v.record(v.string(), v.string()),
    'Flags that flagd would evaluate in another way than SDKs do, by name, and why.',
  ),
});

export const flagdSurface: Surface = {
  prefix: '/flagd',
  access: sdkAccess('client'),
  errors: SDK_ERRORS,
  routes: underTag('OpenFeature', [
    // flagd tells JSON from YAML by the end of the path.
    readRoute('GET /flags.json', {
      operationId: 'getFlagdDefinitions',
      summary: 'Read the flags that the token covers as definitions for flagd.',
      permission: 'scope',
      query: QUERY_PARAMETERS,
      success: { status: 200, schema: DefinitionsSchema },
      refusals: ['ValidationError', 'PayloadTooLargeError', 'ServiceUnavailableError'],
      read: async (context) => {
        const query = clientQuery(context, true);
        if (isRefusal(query)) return query;
        const document = await flagdDocuments(context.state).get(query, () => requesterOf(query, context));
        if (isRefusal(document)) return document;
        const { revision, encoded } = document;
        return { revision, response: await encoded.response(context.header('accept-encoding')) };
      },
    }),
  ]),
  description: `\`/flagd/flags.json\` is for flagd: definitions of the flags of the projects and the environment that a client token
covers, except those that flagd would evaluate in another way than SDKs do.`,
};

// The documents for flagd that are kept, one for each query that is asked. They are made of what SDKs get, so each lasts as long
// as the document of SDKs for the same query, and its tag is made from the tag of that.

/** A document takes some memory however small it is. */
const BYTES_EACH = 4 * 1024;

/** The version of the document's format: a new one makes flagd fetch the same flags again. */
const RENDERING = 1;

interface FlagdDocument {
  /** The newest event that it can show: a reader waits until that is durable. */
  readonly revision: number;
  readonly encoded: EncodedBody;
}

interface Entry extends FlagdDocument {
  /** The SDKs' document that it was made from. */
  readonly source: EncodedBody;
}

class FlagdDocuments {
  readonly #engine: ServedState;
  readonly #whole: CachePart<string, Entry>;
  readonly #narrowed: CachePart<string, Entry>;
  readonly #making: Making<FlagdDocument>;

  constructor(engine: ServedState) {
    this.#engine = engine;
    this.#making = new Making(cacheOf(engine));
    const options: CachePartOptions<string, Entry> = {
      bytesOf: ({ encoded }, key) => encoded.bytes + key.length * 2 + BYTES_EACH,
      onEvicted: ({ encoded }) => encoded.retire(),
    };
    this.#whole = cacheOf(engine).part(options);
    this.#narrowed = cacheOf(engine).part({ ...options, isMultiplied: true });
  }

  /** The document of the query, no older than the state at the call. The requester waits for it, and is charged if it has to be made. */
  async get(query: ClientQuery, requester: () => Requester): Promise<FlagdDocument | Refusal> {
    const engine = this.#engine;
    const document = await clientDocuments(engine).get(query, () => engine.lastId, requester);
    if (isRefusal(document)) return document;
    const { encoded: source } = document;
    const cached = this.#cacheOf(query).get(query.key);
    if (cached?.source === source) return cached;
    const make = (payer: Requester) => this.#make(query, document, payer);
    return this.#making.run(`${query.key} ${source.tag}`, make, requester());
  }

  #cacheOf({ isNarrowed }: ClientQuery): CachePart<string, Entry> {
    return isNarrowed ? this.#narrowed : this.#whole;
  }

  async #make(query: ClientQuery, document: ClientDocument, payer: Requester): Promise<FlagdDocument> {
    const cache = this.#cacheOf(query);
    const { encoded: source } = document;
    const { flags, builder } = await this.#begin(query, payer);
    const revision = this.#engine.lastId;
    const isOfSource = document.encoded === source && document.isCurrent(revision);
    await inTurns(
      each(flags, (flag) => builder.add(flag)),
      payer,
    );
    const encoded = new EncodedBody({
      ...clientDocuments(this.#engine).workshop,
      tag: `flagd${RENDERING}:${isOfSource ? source.tag : randomUUID()}`,
      body: builder.document(),
      onResized: () => {
        if (cache.peek(query.key) === entry) cache.set(query.key, entry);
      },
    });
    const entry: Entry = { source, revision, encoded };
    // Flags that changed while they were taken: true, but of no moment that anybody can name, so the next reader gets another one.
    if (!isOfSource) return entry;
    cache.get(query.key)?.encoded.retire();
    cache.set(query.key, entry);
    return entry;
  }

  /** Takes flags and segments as they are at this moment; none of these objects ever changes. */
  async #begin(query: ClientQuery, payer: Requester) {
    const { world } = this.#engine;
    const flags = new Map<string, Flag>();
    const { environmentEnabled } = surroundingsOf(world, query);
    const segments = new Map(world.directory.segments);
    const shelves = [...projectsOf(world, query)].flatMap((project) => project.flags.shelved());
    const taking = function* (): Generator<void, void> {
      for (const shelved of shelves) {
        yield* shelved.decode();
        for (const flag of shelved.flags)
          if (flag.archivedAt === null && passes(query, flag)) flags.set(flag.name, flag);
        yield;
      }
    };
    await inTurns(taking(), payer);
    const builder = new DefinitionsBuilder({
      environment: query.environment,
      environmentEnabled,
      flag: (name) => flags.get(name),
      segment: (id) => segments.get(id),
    });
    return { flags: flags.values(), builder };
  }
}

/** Keyed by the engine whose state they show: they go with it. */
const documentsOf = new WeakMap<ServedState, FlagdDocuments>();

function flagdDocuments(engine: ServedState): FlagdDocuments {
  let known = documentsOf.get(engine);
  if (known === undefined) {
    known = new FlagdDocuments(engine);
    documentsOf.set(engine, known);
  }
  return known;
}

// The document of flag definitions that flagd reads, made of flags as they were at one moment.

const VARIANTS = { on: true, off: false } as const;

/** Makes the document flag by flag; what it reads must not change meanwhile, which flags and segments never do. */
export class DefinitionsBuilder {
  readonly #scope: RuleScope;
  readonly #definitions = new Fields();
  readonly #leftOut = new Fields();

  constructor(scope: RuleScope) {
    this.#scope = scope;
  }

  /** Translates one more flag. */
  add(flag: Flag): void {
    const rule = flagRule(flag, this.#scope);
    if (isLeftOut(rule)) this.#leftOut.add(flag.name, rule.leftOut);
    else this.#definitions.add(flag.name, definitionOf(rule));
  }

  document(): Buffer {
    const metadata = { environment: this.#scope.environment, leftOutCount: this.#leftOut.count };
    return Buffer.concat([
      Buffer.from('{"$schema":"https://flagd.dev/schema/v0/flags.json","flags":{'),
      ...this.#definitions.bytes(),
      Buffer.from(`},"metadata":${JSON.stringify(metadata)},"leftOut":{`),
      ...this.#leftOut.bytes(),
      Buffer.from('}}'),
    ]);
  }
}

/** Characters that are made into bytes at once: all of a large document would hold the event loop. */
const TEXT_LENGTH_MAX = 64 * 1024;

/** JSON of the fields of an object, without the braces. Put together as text, since objects take no key such as __proto__. */
class Fields {
  readonly #bytes: Buffer[] = [];
  #text = '';
  count = 0;

  add(name: string, value: unknown): void {
    this.#text += `${this.count === 0 ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
    this.count += 1;
    if (this.#text.length >= TEXT_LENGTH_MAX) this.#flush();
  }

  bytes(): readonly Buffer[] {
    this.#flush();
    return this.#bytes;
  }

  #flush(): void {
    this.#bytes.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

/** Without targeting, flagd says that the value is the same for everybody. */
function definitionOf(rule: Exclude<ReturnType<typeof flagRule>, { leftOut: string }>) {
  const fixed = { state: 'ENABLED', variants: VARIANTS, defaultVariant: rule === true ? 'on' : 'off' };
  return typeof rule === 'boolean' ? fixed : { ...fixed, targeting: { if: [rule, 'on', 'off'] } };
}
