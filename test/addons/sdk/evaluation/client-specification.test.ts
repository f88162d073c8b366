/**
 * All cases of @unleash/client-specification, asked as applications ask: of the frontend API, of OFREP, and of an
 * unleash-client that reads the flags from the server.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, it } from 'node:test';
import { type Context, InMemStorageProvider, Unleash } from 'unleash-client';
import { addToken } from '../../../support/applications.ts';
import { ENGINES } from '../../../support/installed-engines.ts';
import { describeEngines, type ReceivedResponse, type TestServer } from '../../../support/server.ts';
import { CASE_COUNT, type FlagCase, SPECIFICATIONS, type VariantCase } from './client-specification.ts';
import { type LoadedDocument, loadDocument } from './load-document.ts';
import { ENVIRONMENT } from './sdk-document.ts';

type SentContext = FlagCase['context'];

/** The expectation of a case: whether the flag is on, and the variant as the specification writes it. */
interface Result {
  readonly enabled: boolean;
  readonly variant: VariantCase['expectedResult'];
}

interface Asked {
  ask(flag: string, context: SentContext): Promise<Result> | Result;
  close?(): void;
}

interface AnyVariant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: unknown;
}

const NO_VARIANT: AnyVariant = { name: 'disabled', enabled: false };

function resultOf(enabled: boolean, { name, enabled: isChosen, payload }: AnyVariant): Result {
  const variant = { name, enabled: isChosen, feature_enabled: enabled };
  return { enabled, variant: payload === undefined ? variant : { ...variant, payload } };
}

/**
 * These cases are about contexts without a session or an address. The server makes one up, or takes the caller's, where a
 * context does not say, so here they say that there is none.
 */
const SAID_TO_BE_NONE: ReadonlyMap<string, SentContext> = new Map([
  ['Feature.A4 should be disabled when no user on context', { sessionId: '' }],
  [
    'Feature.remoteAddress.A should not be enabled for missing remoteAddress on context',
    { remoteAddress: '' },
  ],
]);

/** A flag that is off is not in the response, so no more is said of it. */
function resultIn({ status, body }: ReceivedResponse, flag: string): Result {
  assert.equal(status, 200, JSON.stringify(body));
  const toggle = body.toggles.find((one: { name: string }) => one.name === flag);
  return toggle === undefined ? resultOf(false, NO_VARIANT) : resultOf(toggle.enabled, toggle.variant);
}

function queryOf({ properties = {}, ...fields }: SentContext): string {
  const named = Object.entries(properties as object).map(([name, value]) => [`properties[${name}]`, value]);
  // A query string has no null, which a context in a body has for a property that is not known.
  const pairs = [...Object.entries(fields), ...named].filter(([, value]) => value !== null);
  return `?${new URLSearchParams(Object.fromEntries(pairs))}`;
}

async function openFrontend(server: TestServer, method: 'GET' | 'POST'): Promise<Asked> {
  const token = await addToken(server, { type: 'frontend', environment: ENVIRONMENT });
  const call = server.callBelow('/api/frontend');
  const request = (context: SentContext) =>
    method === 'GET'
      ? call('GET', queryOf(context), undefined, { token })
      : call('POST', '', { context }, { token });
  return { ask: async (flag, context) => resultIn(await request(context), flag) };
}

interface OfrepResult {
  readonly key: string;
  readonly value: unknown;
  readonly variant?: string;
  readonly metadata: { readonly enabled: boolean };
}

function ofrepResult({ value, variant, metadata }: OfrepResult): Result {
  if (variant === undefined) return resultOf(metadata.enabled, NO_VARIANT);
  const payload = typeof value === 'boolean' ? undefined : { type: typeof value, value: String(value) };
  return resultOf(metadata.enabled, { name: variant, enabled: true, payload });
}

/** Fields of the context stand beside each other in OpenFeature, and the user is its targeting key. */
const ofrepContext = ({ userId, properties = {}, ...fields }: SentContext) => ({
  ...{ ...(properties as object), ...fields },
  ...(userId === undefined ? {} : { targetingKey: userId }),
});

async function openOfrep(server: TestServer, asksForAll: boolean): Promise<Asked> {
  const token = await addToken(server, { type: 'client', environment: ENVIRONMENT });
  const call = server.callBelow('/ofrep/v1/evaluate/flags');
  const unknown = resultOf(false, NO_VARIANT);
  return {
    async ask(flag, sent) {
      const path = asksForAll ? '' : `/${encodeURIComponent(flag)}`;
      const { status, body } = await call('POST', path, { context: ofrepContext(sent) }, { token });
      if (status === 404) {
        assert.deepEqual([body.key, body.errorCode], [flag, 'FLAG_NOT_FOUND']);
        return unknown;
      }
      assert.equal(status, 200, JSON.stringify(body));
      const found = asksForAll ? body.flags.find(({ key }: OfrepResult) => key === flag) : body;
      return found === undefined ? unknown : ofrepResult(found);
    },
  };
}

async function openUnleashClient(server: TestServer): Promise<Asked> {
  const client = new Unleash({
    url: `${server.origin}/api/`,
    appName: 'test',
    disableMetrics: true,
    skipInstanceCountWarning: true,
    storageProvider: new InMemStorageProvider(), // Not a file that all tests share.
    customHeaders: { Authorization: await addToken(server, { type: 'client', environment: ENVIRONMENT }) },
    experimentalMode: { type: 'polling', format: 'full' },
  });
  await once(client, 'synchronized');
  return {
    ask(flag, sent) {
      // Typed for a Date, but it takes what one can be made of.
      const context = sent as Context;
      return resultOf(client.isEnabled(flag, context), client.getVariant(flag, context));
    },
    close: () => client.destroy(),
  };
}

const UNLEASH_CLIENT = 'unleash-client';

const SURFACES: Readonly<Record<string, (server: TestServer) => Promise<Asked>>> = {
  'GET /api/frontend': (server) => openFrontend(server, 'GET'),
  'POST /api/frontend': (server) => openFrontend(server, 'POST'),
  'POST /ofrep/v1/evaluate/flags/:key': (server) => openOfrep(server, false),
  'POST /ofrep/v1/evaluate/flags': (server) => openOfrep(server, true),
  [UNLEASH_CLIENT]: openUnleashClient,
};

/** Refusals of what the specification has and the admin interface does not take. */
const REFUSALS: readonly RegExp[] = [
  /has no strategies in the environment/,
  /do not add up to 1000/,
  /must be a list of at least one string/,
  /The field operator must be one of/,
  /The field stickiness is required/,
  /must be a semantic version/,
  /must be a regular expression in the syntax of RE2/,
  /must hold IP addresses and ranges/,
  /There is no segment/,
  /There is no flag/,
  /so it cannot (?:be|have) a parent/,
  /has characters other than/,
];

const counts = new Map(Object.keys(SURFACES).map((surface) => [surface, 0]));
const loaded: LoadedDocument[] = [];

for (const { name, document, tests, variantTests } of SPECIFICATIONS) {
  describeEngines(`client specification ${name}`, (server) => {
    const opened = new Map<string, Asked>();
    before(async () => {
      loaded.push(await loadDocument(server(), document));
      for (const [surface, open] of Object.entries(SURFACES)) opened.set(surface, await open(server()));
    });
    after(() => {
      for (const asked of opened.values()) asked.close?.();
    });
    const everywhere = async (
      { toggleName, context, description }: FlagCase | VariantCase,
      check: (result: Result, surface: string) => void,
    ): Promise<void> => {
      for (const [surface, asked] of opened) {
        const none = surface === UNLEASH_CLIENT ? {} : SAID_TO_BE_NONE.get(description);
        check(await asked.ask(toggleName, { ...context, ...none }), surface);
        counts.set(surface, (counts.get(surface) ?? 0) + 1);
      }
    };
    for (const one of tests) {
      it(one.description, () =>
        everywhere(one, ({ enabled }, surface) => assert.equal(enabled, one.expectedResult, surface)),
      );
    }
    for (const one of variantTests) {
      it(`${one.description} (variant)`, () =>
        everywhere(one, ({ variant }, surface) => assert.deepEqual(variant, one.expectedResult, surface)));
    }
  });
}

it(`each of the ${CASE_COUNT} cases was asked of every surface, over each engine`, (test) => {
  for (const [surface, count] of counts) {
    test.diagnostic(`${surface}: ${count / ENGINES.length} cases over each of ${ENGINES.length} engines`);
    assert.equal(count, CASE_COUNT * ENGINES.length, surface);
  }
});

it('158 of their flags, segments and dependencies came by the admin interface, and 28 that it refuses did not', (test) => {
  const counts = new Map<string, number>();
  for (const line of loaded.flatMap(({ recorded }) => recorded)) {
    const reason = REFUSALS.find((pattern) => pattern.test(line));
    assert(reason !== undefined, `this was refused for another reason: ${line}`);
    counts.set(reason.source, (counts.get(reason.source) ?? 0) + 1 / ENGINES.length);
  }
  for (const [reason, count] of counts) test.diagnostic(`refused ${count} times: ${reason}`);
  const accepted = loaded.reduce((sum, one) => sum + one.accepted, 0) / ENGINES.length;
  const recorded = [...counts.values()].reduce((sum, count) => sum + count, 0);
  assert.deepEqual({ accepted, recorded }, { accepted: 158, recorded: 28 });
});
