/** Flags as SDKs get them, which is how @unleash/client-specification and unleash-client state them, and as ours. */
import type { SegmentSource } from '../../../../src/addons/sdk/evaluation/segment-test.ts';
import type { Dependency, Flag } from '../../../../src/domain/flags/flag.ts';
import type { Strategy } from '../../../../src/domain/flags/strategy.ts';
import type { Variant } from '../../../../src/domain/flags/variant.ts';

export const ENVIRONMENT = 'development';

export interface SdkStrategy extends Partial<Omit<Strategy, 'name' | 'parameters' | 'constraints'>> {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly constraints?: readonly SdkConstraint[];
}

export interface SdkConstraint {
  readonly contextName: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly value?: string;
  readonly inverted?: boolean;
  readonly caseInsensitive?: boolean;
}

export interface SdkFeature {
  readonly name: string;
  readonly enabled: boolean;
  readonly strategies: readonly SdkStrategy[];
  readonly impressionData?: boolean;
  readonly variants?: readonly Variant[] | null;
  readonly dependencies?: readonly Partial<Dependency>[];
}

export interface SdkSegment {
  readonly id: number;
  readonly name?: string;
  readonly constraints: readonly SdkConstraint[];
}

export interface SdkDocument {
  readonly features: readonly SdkFeature[];
  readonly segments?: readonly SdkSegment[];
}

/** The flag as the state would hold it, with this feature's rules in one environment. */
export function flagOf(feature: SdkFeature): Flag {
  return {
    name: feature.name,
    project: 'default',
    description: null,
    type: 'release',
    stale: false,
    impressionData: feature.impressionData ?? false,
    links: [],
    createdAt: '2024-05-01T12:00:00.000Z',
    archivedAt: null,
    environments: [
      {
        name: ENVIRONMENT,
        enabled: feature.enabled,
        strategies: feature.strategies.map(strategyOf),
        variants: feature.variants ?? [],
      },
    ],
    tags: [],
    dependencies: (feature.dependencies ?? []).map(({ feature = '', enabled = true, variants = [] }) => ({
      feature,
      enabled,
      variants,
    })),
    children: [],
  };
}

export function strategyOf(sent: SdkStrategy, index = 0): Strategy {
  return {
    id: `strategy-${index}`,
    title: null,
    disabled: false,
    segments: [],
    variants: [],
    sortOrder: index,
    ...sent,
    parameters: sent.parameters ?? {},
    // The operators of a document are any text, because SDKs meet newer ones than they know.
    constraints: (sent.constraints ?? []) as Strategy['constraints'],
  };
}

export function segmentsOf({ segments = [] }: SdkDocument): Map<number, SegmentSource> {
  return new Map(
    segments.map(({ id, name = `segment ${id}`, constraints }) => [id, { id, name, constraints }]),
  );
}
