/**
 * Holds a decision to what flags may take as they are served (served-size.ts): one flag, and all flags in a document that some
 * client token reads. It looks at the decided events, so every way to make a flag larger is held. Only growth is refused.
 *
 * A token for several projects is held to no more than each of them: to add them up for thousands of tokens would hold each
 * change up. Where they are too many together, the document says so before it is built (client-documents.ts).
 */
import { environmentOf, type Flag } from '../flags/flag.ts';
import type { Strategy } from '../flags/strategy.ts';
import type { Variant } from '../flags/variant.ts';
import { jsonGrowth, jsonSize } from '../json/json.ts';
import type { Segment } from '../kinds/segment.ts';
import { eventRow } from '../state/event-types.ts';
import type { DomainEvent, FlagEvent } from '../state/events.ts';
import type { FlagRecord } from '../state/flag-record.ts';
import { type Refusal, refuse } from '../state/refusal.ts';
import { servedSizes } from '../state/served-bytes.ts';
import {
  documentTooLarge,
  FLAG_BYTES_MAX,
  metadataBytes,
  metadataGrowth,
  SDK_DOCUMENT_BYTES_MAX,
  segmentBytes,
  strategiesGrowth,
} from '../state/served-size.ts';
import type { World } from '../state/world.ts';

/** `events` are decided and not yet applied. */
export function refuseBeyondServed(
  world: World,
  events: readonly DomainEvent[],
  clockMs: number,
): Refusal | null {
  // Most changes are switches, and need no further look.
  if (!events.some(({ type }) => eventRow(type).grows?.includes('documents'))) return null;
  const growth = new ServedGrowth(world);
  for (const event of events) growth.look(event);
  return growth.refusal(clockMs);
}

/** The bytes by which the documents of a project grow. */
interface Growth {
  /** The same in the document of each environment. */
  metadata: number;
  readonly environments: Map<string, number>;
}

/** The bytes by which a flag grows. */
interface FlagGrowth extends Growth {
  readonly project: string;
  /** Its record; undefined for a flag that is made. */
  readonly record: FlagRecord | undefined;
  /** The flag with all environments, as the admin interface gives it. */
  whole: number;
}

class ServedGrowth {
  readonly #world: World;
  readonly #flags = new Map<string, FlagGrowth>();
  readonly #projects = new Map<string, Growth>();

  constructor(world: World) {
    this.#world = world;
  }

  look(event: DomainEvent): void {
    if (event.type === 'segment-updated') this.#segment(event.data, event.preData);
    else if (event.featureName !== null) this.#flagEvent(event as FlagEvent);
  }

  refusal(clockMs: number): Refusal | null {
    for (const [name, growth] of this.#flags) {
      const refusal = this.#flagRefusal(name, growth);
      if (refusal !== null) return refusal;
    }
    for (const [project, growth] of this.#projects) {
      const refusal = this.#documentRefusal(project, growth, clockMs);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  #flagRefusal(name: string, growth: FlagGrowth): Refusal | null {
    const { record } = growth;
    const flag = record?.flag;
    // Nearly all flags are so far from their bound that they need not be measured.
    const bytesAtMost = record?.jsonBytesMax ?? 0;
    if (growth.whole > 0 && bytesAtMost + growth.whole > FLAG_BYTES_MAX) {
      const bytes = growth.whole + (flag === undefined ? 0 : this.#wholeBytes(flag));
      if (bytes > FLAG_BYTES_MAX) return flagTooLarge(`The flag "${name}"`, bytes);
    }
    for (const [environment, own] of growth.environments) {
      const grown = own + growth.metadata;
      const inlined = flag === undefined ? 0 : this.#inlinedIn(flag, environment);
      if (grown <= 0 || bytesAtMost + inlined + grown <= FLAG_BYTES_MAX) continue;
      const bytes = grown + inlined + (flag === undefined ? 0 : this.#bytesIn(flag, environment));
      const what = `The flag "${name}", as applications get it in the environment "${environment}" with its segments,`;
      if (bytes > FLAG_BYTES_MAX) return flagTooLarge(what, bytes);
    }
    return null;
  }

  #documentRefusal(project: string, growth: Growth, clockMs: number): Refusal | null {
    const { served, directory } = this.#world;
    const { segments } = directory;
    const environments =
      growth.metadata > 0 ? directory.environments.map(({ name }) => name) : growth.environments.keys();
    for (const environment of environments) {
      const bytes = growth.metadata + (growth.environments.get(environment) ?? 0);
      if (bytes <= 0 || served.documentBytes(segments, environment, '*') + bytes <= SDK_DOCUMENT_BYTES_MAX)
        continue;
      for (const projects of documentsWith(this.#world, { project, environment, clockMs })) {
        const after = served.documentBytes(segments, environment, projects) + bytes;
        if (after > SDK_DOCUMENT_BYTES_MAX)
          return refuse('PayloadTooLargeError', `With this change ${documentTooLarge(after, environment)}`);
      }
    }
    return null;
  }

  #flagEvent(event: FlagEvent): void {
    switch (event.type) {
      case 'feature-created':
        return this.#created(event);
      case 'feature-metadata-updated': {
        const { data, preData } = event;
        this.#growMetadata(event, metadataGrowth(preData, data));
        this.#flagGrowth(event).whole += jsonGrowth(preData.links, data.links);
        return;
      }
      case 'feature-strategy-add':
        return this.#growIn(event, event.environment, { come: [event.data] });
      case 'feature-strategy-remove':
        return this.#growIn(event, event.environment, { gone: [event.preData] });
      case 'feature-strategy-update':
        return this.#growIn(event, event.environment, { come: [event.data], gone: [event.preData] });
      case 'feature-variants-updated':
        return this.#variants(event, this.#environmentsOf(event.project), event.data.variants);
      case 'feature-environment-variants-updated':
        return this.#variants(event, [event.environment], event.data.variants);
      case 'feature-dependency-added': {
        this.#growMetadata(event, jsonSize(event.data));
        const parent = { project: event.project, featureName: event.data.feature };
        this.#flagGrowth(parent).whole += jsonSize(event.featureName);
        return;
      }
      case 'feature-revived':
        return this.#arrives(event.project, this.#flag(event));
      case 'feature-project-change':
        return this.#arrives(event.project, event.hidden?.flag);
      default:
    }
  }

  #created(event: Extract<FlagEvent, { type: 'feature-created' }>): void {
    // It has no record, and to look up what is not there is dear among many flags.
    this.#flags.set(event.featureName, growthOf(event.project, undefined));
    this.#growMetadata(event, metadataBytes(event.data));
    this.#flagGrowth(event).whole += jsonSize(event.data.links);
    for (const { name, variants } of event.hidden?.environments ?? [])
      this.#growIn(event, name, { bytes: jsonSize(variants) });
  }

  #variants(event: FlagEvent, environments: readonly string[], variants: readonly Variant[]): void {
    const flag = this.#flag(event);
    const bytes = jsonSize(variants);
    for (const name of environments) {
      const before = flag === undefined ? 0 : jsonSize(environmentOf(flag, name).variants);
      this.#growIn(event, name, { bytes: bytes - before });
    }
  }

  /** The documents of the project have one flag more. */
  #arrives(project: string, flag: Flag | undefined): void {
    if (flag === undefined) return;
    const growth = this.#projectGrowth(project);
    growth.metadata += metadataBytes(flag);
    const sizes = servedSizes(flag.environments);
    for (const [at, { name, strategies }] of flag.environments.entries())
      add(growth.environments, name, sizes[at]! + this.#inlinedBytes(strategies));
  }

  #segment(data: Segment, preData: Segment): void {
    const bytes = segmentBytes(data) - segmentBytes(preData);
    if (bytes <= 0) return;
    const { projects, served } = this.#world;
    for (const project of projects.keys()) {
      for (const [environment, count] of served.segmentUses(project, data.id))
        add(this.#projectGrowth(project).environments, environment, count * bytes);
    }
  }

  #growIn(event: FlagEvent, environment: string, { bytes = 0, come = [], gone = [] }: Exchange): void {
    const own = bytes + strategiesGrowth(gone, come);
    const inlined = this.#inlinedBytes(come) - this.#inlinedBytes(gone);
    const flag = this.#flagGrowth(event);
    flag.whole += own;
    add(flag.environments, environment, own + inlined);
    add(this.#projectGrowth(event.project).environments, environment, own + inlined);
  }

  #growMetadata(event: FlagEvent, bytes: number): void {
    const flag = this.#flagGrowth(event);
    flag.whole += bytes;
    flag.metadata += bytes;
    this.#projectGrowth(event.project).metadata += bytes;
  }

  #flagGrowth({ project, featureName }: NamesFlag): FlagGrowth {
    let growth = this.#flags.get(featureName);
    if (growth === undefined) {
      growth = growthOf(project, this.#world.projects.get(project)?.flags.get(featureName));
      this.#flags.set(featureName, growth);
    }
    return growth;
  }

  #projectGrowth(project: string): Growth {
    let growth = this.#projects.get(project);
    if (growth === undefined) {
      growth = { metadata: 0, environments: new Map() };
      this.#projects.set(project, growth);
    }
    return growth;
  }

  #flag({ project, featureName }: NamesFlag): Flag | undefined {
    return this.#world.projects.get(project)?.flags.get(featureName)?.flag;
  }

  #environmentsOf(project: string): readonly string[] {
    return this.#world.projects.get(project)?.settings.environments ?? [];
  }

  #wholeBytes(flag: Flag): number {
    const sizes = servedSizes(flag.environments);
    return metadataBytes(flag) + jsonSize(flag.links) + jsonSize(flag.children) + sum(sizes, (size) => size);
  }

  /** Without segments. */
  #bytesIn(flag: Flag, environment: string): number {
    const at = flag.environments.findIndex(({ name }) => name === environment);
    const own = at === -1 ? 0 : servedSizes(flag.environments)[at]!;
    return metadataBytes(flag) + own;
  }

  #inlinedIn(flag: Flag, environment: string): number {
    return this.#inlinedBytes(environmentOf(flag, environment).strategies);
  }

  #inlinedBytes(strategies: readonly Strategy[]): number {
    const { segments } = this.#world.directory;
    return sum(strategies, (strategy) =>
      sum(strategy.segments, (id) => {
        const segment = segments.get(id);
        return segment === undefined ? 0 : segmentBytes(segment);
      }),
    );
  }
}

interface NamesFlag {
  readonly project: string;
  readonly featureName: string;
}

/** Strategies that a change adds to a flag in an environment and removes from it, and the bytes of the rest. */
interface Exchange {
  readonly bytes?: number;
  readonly come?: readonly Strategy[];
  readonly gone?: readonly Strategy[];
}

interface Place {
  readonly project: string;
  readonly environment: string;
  readonly clockMs: number;
}

/** The scopes of client tokens that read the project in the environment, as far as they are held to a bound (see above). */
function documentsWith(
  { directory }: World,
  { project, environment, clockMs }: Place,
): Set<readonly string[] | '*'> {
  const own = [project];
  const scopes = new Set<readonly string[] | '*'>();
  for (const token of directory.apiTokens.values()) {
    if (token.type !== 'client' || token.environment !== environment) continue;
    if (token.expiresAt !== null && Date.parse(token.expiresAt) <= clockMs) continue;
    if (token.projects.includes('*')) scopes.add('*');
    else if (token.projects.includes(project)) scopes.add(own);
    if (scopes.size === 2) break;
  }
  return scopes;
}

const growthOf = (project: string, record: FlagRecord | undefined): FlagGrowth => ({
  project,
  record,
  whole: 0,
  metadata: 0,
  environments: new Map(),
});

function add(bytes: Map<string, number>, environment: string, more: number): void {
  bytes.set(environment, (bytes.get(environment) ?? 0) + more);
}

function sum<T>(items: readonly T[], sizeOf: (item: T) => number): number {
  let bytes = 0;
  for (const item of items) bytes += sizeOf(item);
  return bytes;
}

function flagTooLarge(what: string, bytes: number): Refusal {
  return refuse(
    'PayloadTooLargeError',
    `${what} would take ${kibibytes(bytes)} KiB as JSON; a flag may take ${kibibytes(FLAG_BYTES_MAX)} KiB. Make its payloads, parameters and lists of values shorter, or keep them elsewhere and name them here.`,
  );
}

const kibibytes = (bytes: number): number => Math.ceil(bytes / 1024);
