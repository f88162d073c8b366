/** All cases of @unleash/client-specification, of documents that an edge has from an upstream. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CASE_COUNT, type FlagCase, SPECIFICATIONS } from '../sdk/evaluation/client-specification.ts';
import {
  CLIENT,
  documents,
  FRONTEND,
  type StubUpstream,
  startEdge,
  startStub,
  type TestEdge,
} from './edges.ts';

const NO_VARIANT = { name: 'disabled', enabled: false, feature_enabled: false };

/** Values for contexts that say nothing of them: a server takes the address of the caller, and makes a session up. */
const SAID_TO_BE_NONE = { sessionId: '', remoteAddress: '' };

let caseCount = 0;

for (const { name, document, tests, variantTests } of SPECIFICATIONS) {
  describe(`an edge evaluates as the specification says: ${name}`, () => {
    let upstream: StubUpstream;
    let edge: TestEdge;

    before(async () => {
      upstream = await startStub(documents(() => document));
      edge = await startEdge({ 'upstream-url': upstream.origin, tokens: `${CLIENT},${FRONTEND}` });
    });
    after(async () => {
      await edge.stop();
      await upstream.close();
    });

    async function toggleOf(flag: string, context: FlagCase['context']) {
      const sent = { ...SAID_TO_BE_NONE, ...context };
      const { status, body } = await edge.call('/api/frontend')(
        'POST',
        '/all',
        { context: sent },
        { token: FRONTEND },
      );
      assert.equal(status, 200, JSON.stringify(body));
      return body.toggles.find((one: { name: string }) => one.name === flag);
    }

    for (const { description, context, toggleName, expectedResult } of tests) {
      caseCount += 1;
      it(description, async () => {
        const toggle = await toggleOf(toggleName, context);
        assert.equal(toggle?.enabled ?? false, expectedResult);
      });
    }
    for (const { description, context, toggleName, expectedResult } of variantTests) {
      caseCount += 1;
      it(description, async () => {
        const toggle = await toggleOf(toggleName, context);
        const { featureEnabled: _, ...variant } = toggle?.variant ?? NO_VARIANT;
        assert.deepEqual(variant, expectedResult);
      });
    }
  });
}

it('no case is left out', () => {
  assert.equal(caseCount, CASE_COUNT);
});
