/** All cases of @unleash/client-specification, which every SDK of Unleash has to pass. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { evaluatorOf, inputOf } from '../../support/evaluation/inputs.ts';
import type { SdkDocument, SdkFeature, SdkSegment } from '../../support/evaluation/sdk-document.ts';

interface DeltaEvent {
  readonly type: string;
  readonly features?: readonly SdkFeature[];
  readonly segments?: readonly SdkSegment[];
  readonly feature?: SdkFeature;
  readonly segment?: SdkSegment;
  readonly featureName?: string;
  readonly segmentId?: number;
}

interface Case {
  readonly description: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly toggleName: string;
}

interface Specification {
  readonly name: string;
  readonly state: SdkDocument | { readonly events: readonly DeltaEvent[] };
  readonly tests?: readonly (Case & { readonly expectedResult: boolean })[];
  readonly variantTests?: readonly (Case & { readonly expectedResult: Readonly<Record<string, unknown>> })[];
}

const FOLDER = dirname(
  fileURLToPath(import.meta.resolve('@unleash/client-specification/specifications/index.json')),
);

function read<T>(file: string): T {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as T;
}

/** What a client holds after the events of the delta interface. */
function documentOf(state: Specification['state']): SdkDocument {
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

const specifications = read<string[]>('index.json').map((file) => read<Specification>(file));

/** Where a case leaves something to chance, any number gives the result that it expects. */
const DRAWS = [0, 0.5, 0.999];

for (const { name, state, tests = [], variantTests = [] } of specifications) {
  describe(`client specification ${name}`, () => {
    const evaluator = evaluatorOf(documentOf(state));
    for (const { description, context, toggleName, expectedResult } of tests) {
      it(description, () => {
        for (const random of DRAWS) {
          const input = inputOf(context, { random });
          assert.equal(evaluator.evaluate(toggleName, input).enabled, expectedResult);
          const explained = evaluator.explain(toggleName, input)?.outcome.enabled ?? false;
          assert.equal(explained, expectedResult, 'explained');
        }
      });
    }
    for (const { description, context, toggleName, expectedResult } of variantTests) {
      it(`${description} (variant)`, () => {
        for (const random of DRAWS) {
          const { variant } = evaluator.evaluate(toggleName, inputOf(context, { random })).toggle;
          const { name, enabled, payload, feature_enabled } = variant;
          assert.deepEqual(
            { name, enabled, feature_enabled, ...(payload ? { payload } : {}) },
            expectedResult,
          );
        }
      });
    }
  });
}

it('the client specification has 279 cases, none of which is left out', () => {
  const cases = specifications.flatMap(({ tests = [], variantTests = [] }) => [...tests, ...variantTests]);
  assert.equal(cases.length, 279);
});
