/** Evaluates random flags for random contexts by this project's evaluator and by unleash-client, and compares. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { type Context, Unleash, type UnleashConfig } from 'unleash-client';
import type { Evaluator } from '../../../../src/addons/sdk/evaluation/evaluator.ts';
import type { EvaluationInput } from '../../../../src/addons/sdk/evaluation/run.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { allOutcomes, evaluatorOf, inputOf } from './inputs.ts';
import { anyContext, anyDocument, HOST_NAME, type RandomContext } from './random-flags.ts';
import type { SdkDocument, SdkFeature, SdkSegment } from './sdk-document.ts';

const CONTEXTS_PER_DOCUMENT = 4;

export interface OracleCounts {
  readonly compared: number;
  readonly on: number;
  readonly withVariant: number;
  /** Decided by chance, so that there is nothing to compare. */
  readonly drawn: number;
}

export interface OracleOptions {
  readonly seed: number;
  readonly comparisons: number;
  /** Another one than this project's, to see that it is found out. */
  readonly evaluatorFor?: (document: SdkDocument) => Evaluator;
}

/** Throws where the two differ, with the flag and the context. */
export async function compareWithUnleashClient({
  seed,
  comparisons,
  evaluatorFor = evaluatorOf,
}: OracleOptions): Promise<OracleCounts> {
  const random = seededRandom(seed);
  const client = await UnleashOracle.start();
  const counts = { compared: 0, on: 0, withVariant: 0, drawn: 0 };
  try {
    while (counts.compared < comparisons) {
      const document = anyDocument(random);
      const evaluator = evaluatorFor(document);
      client.load(document);
      for (let count = 0; count < CONTEXTS_PER_DOCUMENT; count += 1) {
        const context = anyContext(random);
        assertListsAgree(evaluator, document, context);
        for (const feature of document.features) {
          const ours = evaluate(evaluator, feature.name, context);
          if (ours === null) {
            counts.drawn += 1;
            continue;
          }
          assertEqualResults(ours, client.evaluate(feature.name, context), { seed, feature, context });
          counts.compared += 1;
          counts.on += Number(ours.enabled);
          counts.withVariant += Number(ours.variant.enabled);
        }
      }
    }
  } finally {
    client.stop();
  }
  return counts;
}

interface Result {
  readonly enabled: boolean;
  readonly variant: { readonly name: string; readonly enabled: boolean; readonly payload?: unknown };
}

/** Lists of all flags are evaluated in a way of their own, and yet give the very outcomes that each flag has by itself. */
function assertListsAgree(evaluator: Evaluator, { features }: SdkDocument, context: RandomContext): void {
  const input: EvaluationInput = { ...inputOf(context, { hostName: HOST_NAME }), random: () => 0.5 };
  const all = allOutcomes(evaluator.walk(input, false));
  assert.equal(all.length, features.length);
  for (const outcome of all) {
    const details = JSON.stringify({ context, feature: features.find(({ name }) => name === outcome.name) });
    assert.equal(outcome, evaluator.evaluate(outcome.name, input), `${outcome.name} in a list: ${details}`);
  }
  assert.deepEqual(
    allOutcomes(evaluator.walk(input, true)),
    all.filter(({ enabled }) => enabled),
  );
}

/** Null when chance had a part in it. */
function evaluate(evaluator: Evaluator, name: string, context: RandomContext): Result | null {
  let isDrawn = false;
  const random = (): number => {
    isDrawn = true;
    return 0.5;
  };
  const input: EvaluationInput = { ...inputOf(context, { hostName: HOST_NAME }), random };
  const { enabled, toggle } = evaluator.evaluate(name, input);
  return isDrawn ? null : { enabled, variant: variantOf(toggle.variant) };
}

function variantOf({ name, enabled, payload }: Result['variant']): Result['variant'] {
  return { name, enabled, ...(payload === undefined ? {} : { payload }) };
}

function assertEqualResults(
  ours: Result,
  theirs: Result,
  where: { readonly seed: number; readonly feature: SdkFeature; readonly context: RandomContext },
): void {
  if (isDeepStrictEqual(ours, theirs)) return;
  const details = JSON.stringify({ ours, theirs, ...where }, null, 1);
  assert.fail(`${where.feature.name} is evaluated differently: ${details}`);
}

/** An unleash-client that is given its flags instead of asking a server for them. */
class UnleashOracle {
  readonly #repository = new GivenRepository();
  readonly #client: Unleash;

  private constructor() {
    this.#client = new Unleash({
      appName: 'oracle',
      url: 'http://127.0.0.1:9/none',
      disableMetrics: true,
      disableAutoStart: true,
      skipInstanceCountWarning: true,
      repository: this.#repository as unknown as NonNullable<UnleashConfig['repository']>,
    });
  }

  static async start(): Promise<UnleashOracle> {
    const oracle = new UnleashOracle();
    const ready = once(oracle.#client, 'ready');
    await oracle.#client.start();
    await ready;
    return oracle;
  }

  /** Loads the document as the server sends it: without disabled strategies, and off where these are all there are. */
  load({ features, segments = [] }: SdkDocument): void {
    const sent = features.map((feature) => {
      const strategies = feature.strategies.filter(({ disabled }) => !disabled);
      const isOn = strategies.length > 0 || feature.strategies.length === 0;
      return { ...feature, enabled: feature.enabled && isOn, strategies };
    });
    this.#repository.features = new Map(sent.map((feature) => [feature.name, feature]));
    this.#repository.segments = new Map(segments.map((segment) => [segment.id, segment]));
  }

  evaluate(name: string, sent: RandomContext): Result {
    // Typed for a Date, but it takes what one can be made of.
    const context = sent as Context;
    return {
      enabled: this.#client.isEnabled(name, context),
      variant: variantOf(this.#client.getVariant(name, context)),
    };
  }

  stop(): void {
    this.#client.destroy();
  }
}

class GivenRepository extends EventEmitter {
  features: ReadonlyMap<string, SdkFeature> = new Map();
  segments: ReadonlyMap<number, SdkSegment> = new Map();

  getToggle(name: string): SdkFeature | undefined {
    return this.features.get(name);
  }

  getSegment(id: number): SdkSegment | undefined {
    return this.segments.get(id);
  }

  async start(): Promise<void> {
    this.emit('ready');
  }

  stop(): void {
    this.removeAllListeners();
  }
}
