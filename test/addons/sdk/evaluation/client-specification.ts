/** The cases of @unleash/client-specification, which every SDK of Unleash has to pass. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SdkDocument, SdkFeature, SdkSegment } from './sdk-document.ts';

interface DeltaEvent {
  readonly type: string;
  readonly features?: readonly SdkFeature[];
  readonly segments?: readonly SdkSegment[];
  readonly feature?: SdkFeature;
  readonly segment?: SdkSegment;
  readonly featureName?: string;
  readonly segmentId?: number;
}

interface Case<Expected> {
  readonly description: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly toggleName: string;
  readonly expectedResult: Expected;
}

export type FlagCase = Case<boolean>;
export type VariantCase = Case<Readonly<Record<string, unknown>>>;

export interface Specification {
  readonly name: string;
  /** The document that the client holds. */
  readonly document: SdkDocument;
  readonly tests: readonly FlagCase[];
  readonly variantTests: readonly VariantCase[];
}

interface SpecificationFile {
  readonly name: string;
  readonly state: SdkDocument | { readonly events: readonly DeltaEvent[] };
  readonly tests?: readonly FlagCase[];
  readonly variantTests?: readonly VariantCase[];
}

const FOLDER = dirname(
  fileURLToPath(import.meta.resolve('@unleash/client-specification/specifications/index.json')),
);

function read<T>(file: string): T {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as T;
}

/** The document that a client holds after the events of the delta interface. */
function documentOf(state: SpecificationFile['state']): SdkDocument {
  if (!('events' in state)) return state;
  const features = new Map<string, SdkFeature>();
  const segments = new Map<number, SdkSegment>();
  for (const event of state.events) {
    for (const one of [...(event.features ?? []), ...(event.feature ? [event.feature] : [])])
      features.set(one.name, one);
    for (const one of [...(event.segments ?? []), ...(event.segment ? [event.segment] : [])])
      segments.set(one.id, one);
    if (event.featureName !== undefined) features.delete(event.featureName);
    if (event.segmentId !== undefined) segments.delete(event.segmentId);
  }
  return { features: [...features.values()], segments: [...segments.values()] };
}

export const SPECIFICATIONS: readonly Specification[] = read<string[]>('index.json').map((file) => {
  const { name, state, tests = [], variantTests = [] } = read<SpecificationFile>(file);
  return { name, document: documentOf(state), tests, variantTests };
});

/** Cases in the release of the specification that package.json names. */
export const CASE_COUNT = 279;
