/**
 * Lists of very many evaluated flags: made in slices, each of one moment, whatever changes meanwhile; and evaluators that are brought
 * up to date step by step show what one made anew shows.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { Cache } from '../../../../src/actors/cache.ts';
import { setTurnMs } from '../../../../src/actors/turn.ts';
import { Evaluator } from '../../../../src/addons/sdk/evaluation/evaluator.ts';
import { onOutcome } from '../../../../src/addons/sdk/evaluation/outcome.ts';
import { renderingsOf } from '../../../../src/addons/sdk/evaluation/renderings.ts';
import { ScopeEvaluator } from '../../../../src/addons/sdk/evaluation/scope-evaluator.ts';
import { scopeEvaluators } from '../../../../src/addons/sdk/evaluation/scope-evaluators.ts';
import { OutcomeLists } from '../../../../src/addons/sdk/outcome-lists.ts';
import { switched } from '../../../../src/domain/decide/switch-commands.ts';
import { bytesOf } from '../../../../src/http/transport/response.ts';
import { addToken } from '../../../support/applications.ts';
import { commandRuns, commandsOn } from '../../../support/random-commands.ts';
import { describeInterface } from '../../../support/server.ts';
import { TestWorld } from '../../../support/test-world.ts';
import { allOutcomes, inputOf } from './inputs.ts';

const FLAGS = 3_000;
const name = (number: number): string => `flag-${String(number).padStart(5, '0')}`;

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the evaluator of a scope', () => {
  it('shows after every change what one made anew shows, and what it showed before stays as it was', () => {
    fc.assert(
      fc.property(commandRuns(20, 120), fc.integer({ min: 1, max: 5 }), (run, every) => {
        const made = new TestWorld();
        const scope = { projects: '*', environment: 'development' } as const;
        const scoped = new ScopeEvaluator(made, scope);
        const shownBy = (evaluator: Evaluator) =>
          allOutcomes(evaluator.walk(inputOf({ userId: '7' }, { random: 0.5 }), false)).map((outcome) => [
            outcome.name,
            outcome.enabled,
            outcome.reason,
            outcome.variant,
          ]);
        let at = 0;
        for (const command of commandsOn(made, run)) {
          made.run(command);
          at += 1;
          if (at % every > 0) continue;
          const earlier = scoped.shown.evaluator;
          const before = shownBy(earlier);
          const next = scoped.next(at);
          while (next.steps.next().done !== true);
          scoped.adopt(next);
          const { directory, projects } = made.world;
          const anew = new Evaluator({
            environment: 'development',
            environmentEnabled: directory.environments.some(
              (one) => one.name === 'development' && one.enabled,
            ),
            flags: [...projects.values()].flatMap(({ flags }) => [...flags.values()].map(({ flag }) => flag)),
            segments: directory.segments,
          });
          const { evaluator } = scoped.shown;
          assert.deepEqual(shownBy(evaluator), shownBy(anew));
          assert.equal(evaluator.size, anew.size);
          assert.deepEqual(shownBy(earlier), before);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('a list of outcomes', () => {
  it('is the same, with the same tag, in however many pieces it is put together', () => {
    const flags = new TestWorld();
    for (let at = 0; at < FLAGS; at += 1)
      flags.given({ type: 'create-flag', project: 'default', name: name(at), metadata: {} });
    const evaluator = new Evaluator({
      environment: 'development',
      environmentEnabled: true,
      flags: [...flags.world.projects.get('default')!.flags.values()].map(({ flag }) => flag),
      segments: new Map(),
    });
    const outcomes = allOutcomes(evaluator.walk(inputOf({}), false));
    const lists = new OutcomeLists({ field: 'toggles', form: 'toggle', view: ({ toggle }) => toggle });
    const cache = new Cache(2 ** 30);
    const renderings = renderingsOf(cache);
    const whole = lists.begin(renderings);
    let at = 0;
    let steps = 0;
    for (; at < outcomes.length; steps += 1) at = whole.add(outcomes, at);
    assert.ok(steps > 1, 'what is not there yet is made in several steps');
    const parts = lists.begin(renderings);
    for (const outcome of outcomes) parts.add([outcome], 0);
    const [one, other] = [whole.end(), parts.end()];
    const text = Buffer.from(bytesOf(one.body)).toString();
    assert.equal(Buffer.from(bytesOf(other.body)).toString(), text);
    assert.equal(one.etag, other.etag);
    assert.deepEqual(JSON.parse(text), { toggles: outcomes.map(({ toggle }) => toggle) });
    assert(cache.bytes > text.length, 'the cache counts what stays beside the outcomes');
  });

  it('keeps no more bytes beside outcomes than the cache has room for', () => {
    const payload = { type: 'string', value: '\u0001'.repeat(10_000) } as const;
    const flags = new TestWorld().given({
      type: 'create-flag',
      project: 'default',
      name: name(0),
      metadata: {},
    });
    const { flag } = flags.world.projects.get('default')!.flags.get(name(0))!;
    const variant = {
      name: 'v',
      weight: 1_000,
      weightType: 'variable',
      stickiness: 'default',
      payload,
      overrides: [],
    } as const;
    const outcomes = Array.from({ length: 100 }, (_, at) =>
      onOutcome({ ...flag, name: name(at) }, 'SPLIT', variant),
    );
    const cache = new Cache(2 ** 20);
    let evicted = 0;
    const renderings = renderingsOf(cache, () => {
      evicted += 1;
    });
    const lists = new OutcomeLists({ field: 'toggles', form: 'toggle', view: ({ toggle }) => toggle });
    const list = lists.begin(renderings);
    for (let at = 0; at < outcomes.length; ) at = list.add(outcomes, at);
    const left = outcomes.filter(({ rendered }) => rendered.toggle !== null);
    const bytes = left.reduce((sum, { rendered }) => sum + rendered.toggle!.bytes.byteLength, 0);
    assert(left.length > 0, 'the newest stay');
    assert(bytes <= 2 ** 20, `${bytes} bytes`);
    assert.equal(evicted + left.length, outcomes.length);
    const text = Buffer.from(bytesOf(list.end().body)).toString();
    assert.equal(JSON.parse(text).toggles.length, outcomes.length, 'the list itself is whole');
  });
});

describeInterface('a list of thousands of flags', (server) => {
  let token = '';
  const engine = () => server().server.store.engine;
  const lists = () => scopeEvaluators(engine()).longLists;
  /** Some of them are switched by one command. */
  const change = (numbers: readonly number[], enabled: boolean) => {
    const { flags } = engine().world.projects.get('default')!;
    const events = numbers.map((number) => switched(flags.get(name(number))!.flag, 'development', enabled));
    return engine().record({ name: 'test', userId: -1 }, events);
  };
  const isUnderWay = async (asked: Promise<unknown>): Promise<void> => {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    asked.then(end, end);
    while (lists().runningCount === 0 && !isOver) await nextRound();
    assert.equal(lists().runningCount, 1);
  };

  before(async () => {
    const made = new TestWorld();
    const seeds = made.frames.length;
    for (let at = 0; at < FLAGS; at += 1)
      made.given({ type: 'create-flag', project: 'default', name: name(at), metadata: {} });
    const events = made.frames.slice(seeds).flat();
    for (let at = 0; at < FLAGS; at += 1_000)
      await engine().record({ name: 'test', userId: -1 }, events.slice(at, at + 1_000));
    for (let at = 0; at < FLAGS; at += 1_000)
      await change(
        [...Array(1_000).keys()].map((number) => at + number),
        true,
      );
    token = await addToken(server(), { type: 'frontend', environment: 'development', projects: ['*'] });
    setTurnMs(0);
  });
  after(() => setTurnMs());

  it('shows one moment, although its flags are switched while it is made', async () => {
    const call = server().callBelow('/api/frontend');
    for (const isOn of [false, true, false]) {
      const asked = call('GET', `?userId=${isOn}`, undefined, { token });
      await isUnderWay(asked);
      // The first and the last flag of the list are changed by one command.
      await change([0, FLAGS - 1], isOn);
      const { body } = await asked;
      const names = new Set(body.toggles.map((one: { name: string }) => one.name));
      assert.equal(names.size, isOn ? FLAGS - 2 : FLAGS, 'as they were when it was begun');
      const { body: later } = await call('GET', `?userId=${isOn}`, undefined, { token });
      assert.equal(later.toggles.length, isOn ? FLAGS : FLAGS - 2);
    }
  });

  it('is not made on for a client that has gone', async () => {
    // A context that comes a second time is cached, once its list is done.
    await server().callBelow('/api/frontend')('GET', '?userId=gone', undefined, { token });
    const cache = scopeEvaluators(engine()).lists;
    const cachedBefore = cache.size;
    const given = new AbortController();
    const asked = fetch(`${server().origin}/api/frontend?userId=gone`, {
      headers: { authorization: token },
      signal: given.signal,
    }).catch(() => null);
    await isUnderWay(asked);
    given.abort();
    await asked;
    while (lists().runningCount > 0) await nextRound();
    assert.equal(lists().runningCount, 0);
    assert.equal(cache.size, cachedBefore, 'it was made to the end');
  });
});
