/** Bytes of flags as SDKs get them: counted with each change, bounded for a flag and for a document, and by growth alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { surroundingsOf } from '../../../../src/addons/sdk/client-document.ts';
import { queryOfScope } from '../../../../src/addons/sdk/client-query.ts';
import { clientFlagJson, clientFlagView, segmentJson } from '../../../../src/addons/sdk/flag-view.ts';
import { FLAG_BYTES_MAX } from '../../../../src/domain/growth/refuse-growth.ts';
import { isRefusal } from '../../../../src/domain/state/refusal.ts';
import { SDK_DOCUMENT_BYTES_MAX, ServedBytes } from '../../../../src/domain/state/served-bytes.ts';
import type { World } from '../../../../src/domain/state/world.ts';
import { commandRuns, commandsOn } from '../../../support/random-commands.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../../support/test-world.ts';

const SEED = Number(process.env.SEED ?? Math.trunc(Math.random() * 2 ** 31));

const OF = { project: 'default', flag: 'f' } as const;
const IN = { ...OF, environment: 'development' } as const;

const create = (name: string, description = '') =>
  ({ type: 'create-flag', project: 'default', name, metadata: { description } }) as const;

const strategy = (fields: object = {}) => ({
  ...DEFAULT_STRATEGY,
  ...fields,
});

const add = (fields: object) => ({ type: 'add-strategy', ...IN, strategy: strategy(fields) }) as const;

const variant = (value: string) => ({
  ...{ name: 'v', weight: 1000, weightType: 'variable', stickiness: 'default', overrides: [] },
  payload: { type: 'string', value },
});

const segment = (name: string, values: readonly string[]) => ({
  ...{ name, description: null, project: null },
  constraints: [{ contextName: 'userId', operator: 'IN', caseInsensitive: false, inverted: false, values }],
});

const token = (projects: readonly string[]) =>
  ({
    type: 'create-api-token',
    token: {
      type: 'client',
      ...{ tokenName: 'app', digest: 'd'.repeat(64) },
      ...{ projects, environment: 'development', expiresAt: null },
    },
  }) as const;

const refusalOf = (state: TestWorld, command: Parameters<TestWorld['decide']>[0]): string => {
  const decision = state.decide(command);
  return isRefusal(decision) ? `${decision.name}: ${decision.message}` : 'accepted';
};

/** Bytes that SDKs get in the environment, but for what is around the flags. */
function bytesServed(world: World, environment: string, inlineSegments: boolean): number {
  const around = surroundingsOf(world, queryOfScope({ projects: '*', environment }, inlineSegments));
  let bytes = 0;
  const used = new Set<number>();
  for (const { flags } of world.projects.values()) {
    for (const { flag } of flags.values()) {
      if (flag.archivedAt !== null) continue;
      bytes += Buffer.byteLength(clientFlagJson(flag, around)) + 1;
      for (const one of inlineSegments ? [] : clientFlagView(flag, around).strategies)
        for (const id of 'segments' in one ? (one.segments ?? []) : []) used.add(id);
    }
  }
  for (const id of used) bytes += Buffer.byteLength(segmentJson(world.directory.segments.get(id)!)) + 1;
  return bytes;
}

describe('the bytes of flags as SDKs get them', () => {
  it('are counted with each change as they would be counted anew, and never fewer than SDKs get', () => {
    const property = fc.property(commandRuns(20, 120), (run) => {
      const state = new TestWorld();
      for (const command of commandsOn(state, run)) state.run(command);
      const { world } = state;
      let anew = new ServedBytes();
      for (const { flags } of world.projects.values())
        for (const { flag } of flags.values()) anew = anew.replaced(null, flag);
      for (const { name } of world.directory.environments) {
        const { segments } = world.directory;
        const counted = world.served.documentBytes(segments, name, '*');
        assert.equal(counted, anew.documentBytes(segments, name, '*'));
        const projects = [...world.projects.keys()];
        assert.equal(counted, world.served.documentBytes(segments, name, projects), 'all projects are all');
        for (const inlined of [true, false]) assert(counted >= bytesServed(world, name, inlined));
      }
    });
    fc.assert(property, { seed: SEED, numRuns: 100 });
  });

  for (const [name, text] of Object.entries({
    'control characters': '\u0001'.repeat(5_000),
    quotes: '"'.repeat(15_000),
    'characters of three bytes': '€'.repeat(10_000),
  })) {
    it(`count ${name} as JSON writes them, in every part of a flag`, () => {
      const state = new TestWorld().given({
        type: 'create-record',
        kind: 'segments',
        fields: segment('s', [text]),
      } as never);
      state.given(
        create('f', text.slice(0, 1_000)),
        add({ segments: [1], parameters: { [text]: [text, 1] } }),
      );
      state.given({ type: 'set-variants', ...IN, variants: [variant(text.slice(0, 2_000))] } as never);
      const { world } = state;
      const counted = world.served.documentBytes(world.directory.segments, 'development', ['default']);
      for (const inlined of [true, false]) {
        const served = bytesServed(world, 'development', inlined);
        assert(counted >= served, `${counted} bytes are counted, and ${served} are served`);
      }
      assert(counted < bytesServed(world, 'development', true) + 1_000);
    });
  }
});

describe('a flag', () => {
  it('is refused what would make it larger than it may be with its escapes, and told what can be done', () => {
    const state = new TestWorld().given(create('f'));
    const parameters = { text: '\u0001'.repeat(10_500) };
    state.given(add({ parameters }), add({ parameters: { text: '\u0001'.repeat(10_000) } }));
    const refused = refusalOf(state, add({ parameters }));
    assert.match(
      refused,
      /^PayloadTooLargeError: The flag "f" would take 1\d\d KiB as JSON; a flag may take 128 KiB\. Make/,
    );
    assert.equal(
      refusalOf(state, { type: 'clone-flag', ...OF, name: 'g', replaceGroupId: false }),
      'accepted',
    );
  });

  it('counts the segments of its strategies in an environment as often as they are inlined there', () => {
    const values = Array.from({ length: 100 }, (_, at) => `${'v'.repeat(95)}${at}`);
    const state = new TestWorld().given({
      type: 'create-record',
      kind: 'segments',
      fields: segment('s', values),
    } as never);
    state.given(create('f'));
    for (let count = 0; count < 12; count += 1) state.given(add({ segments: [1] }));
    assert.match(
      refusalOf(state, add({ segments: [1] })),
      /The flag "f" with its segments would take 1\d\d KiB as JSON/,
    );
    state.given({ ...add({ segments: [1] }), environment: 'production' });
  });

  it('that is larger already can be switched, made smaller, archived and revived', () => {
    const state = new TestWorld().given(create('f'), add({}));
    const { flag } = state.world.projects.get('default')!.flags.get('f')!;
    const data = {
      ...flag.environments[0]!.strategies[0]!,
      featureName: 'f',
      title: 'x'.repeat(FLAG_BYTES_MAX),
    };
    const about = { project: 'default', featureName: 'f', environment: 'development' } as const;
    const preData = { ...data, title: null };
    state.record([{ type: 'feature-strategy-update', ...about, data, preData }]);
    assert.match(refusalOf(state, add({})), /PayloadTooLargeError/);
    const on = { type: 'switch-environment', ...IN, enabled: true } as const;
    state.given(on, { type: 'archive-flag', ...OF }, {
      ...{ type: 'revive-flags', project: 'default', flags: ['f'] },
    } as never);
    const smaller = strategy({ title: 'x'.repeat(900) });
    state.given({ type: 'replace-strategy', ...IN, strategyId: data.id, strategy: smaller });
  });
});

describe('a document that an application reads', () => {
  const description = '\u0001'.repeat(9_900);
  /** Almost as many flags as one may have. */
  function nearlyFull(): TestWorld {
    const state = new TestWorld();
    for (let index = 0; ; index += 1) {
      const bytes = state.world.served.documentBytes(new Map(), 'development', ['default']);
      if (bytes > SDK_DOCUMENT_BYTES_MAX - 59_000) return state;
      state.given(create(`f${index}`, description));
    }
  }

  it('is refused more flags than it may have, in words that say what can be done', () => {
    const state = nearlyFull();
    const full = create('full', description);
    assert.equal(refusalOf(state, full), 'accepted', 'nobody reads it');
    state.given(token(['default']));
    const refused = refusalOf(state, full);
    assert.match(
      refused,
      /^PayloadTooLargeError: With this change the flags that applications get in the environment "development" would take 32\.\d MiB/,
    );
    assert.match(
      refused,
      /Archive flags that are not used, make others smaller, or give applications tokens for fewer projects\.$/,
    );
    state.given({ type: 'archive-flag', project: 'default', flag: 'f0' });
    assert.equal(refusalOf(state, full), 'accepted');
    state.given(full);
    assert.match(
      refusalOf(state, { type: 'revive-flags', project: 'default', flags: ['f0'] } as never),
      /PayloadTooLargeError/,
    );
  });

  it('counts what a segment grows by as often as flags refer to it', () => {
    const values = Array.from({ length: 600 }, (_, at) => `${'v'.repeat(96)}${at}`);
    const archive = { type: 'archive-flag', project: 'default', flag: 'f0' } as const;
    const state = nearlyFull().given(archive, {
      type: 'create-record',
      kind: 'segments',
      fields: segment('s', []),
    } as never);
    state.given({ ...create('f') }, add({ segments: [1] }), add({ segments: [1] }), add({ segments: [1] }));
    state.given(token(['*']));
    const larger = { type: 'update-record', kind: 'segments', id: 1, fields: segment('s', values) } as never;
    assert.match(refusalOf(state, larger), /^PayloadTooLargeError/);
    const smaller = {
      type: 'update-record',
      kind: 'segments',
      id: 1,
      fields: segment('s', values.slice(0, 100)),
    } as never;
    assert.equal(refusalOf(state, smaller), 'accepted');
  });

  it('that is larger already can be changed by what makes it no larger', () => {
    const state = nearlyFull().given(token(['*']));
    state.record([
      { type: 'feature-metadata-updated', ...aboutF0, ...describedF0(state, '\u0001'.repeat(20_000)) },
    ]);
    assert.match(refusalOf(state, create('one more')), /^PayloadTooLargeError/);
    state.given({ type: 'mark-flags-stale', project: 'default', flags: ['f0'], stale: true });
    state.given({ type: 'update-flag', project: 'default', flag: 'f0', metadata: { description: 'x' } });
  });
});

const aboutF0 = { project: 'default', featureName: 'f0', environment: null } as const;

function describedF0({ world }: TestWorld, description: string) {
  const { flag } = world.projects.get('default')!.flags.get('f0')!;
  const preData = { ...flag, lastSeenAt: null, variants: null, archived: false };
  return { preData, data: { ...preData, description } };
}
