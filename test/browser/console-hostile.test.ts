/**
 * Five hundred strings that are meant to harm, in the places that few rights can write, on each page: nothing of them runs, none turns or
 * hides what stands around it, and no page scrolls sideways or stays blank.
 */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { describeConsole, fitsTheWidth } from '../support/browser/console.ts';
import { addStrategy, FEATURES, makeFlag } from '../support/interface.ts';

const STRINGS = 500;

/** Runs in the page when one of the strings has run. */
const MARK = 'window.harmed = true';

/** Each is varied by a number, so that they are as different as they are many. */
const SHAPES: readonly ((index: number) => string)[] = [
  (index) => `<img src=x${index} onerror="${MARK}">`,
  (index) => `<script>${MARK};${index}</script>`,
  (index) => `"><svg onload="${MARK}">${index}`,
  (index) => `javascript:${MARK}//${index}`,
  (index) => `{{constructor.constructor('${MARK}')()}}${index}`,
  (index) => `\u202e${index} live ni si ti`,
  (index) => `ends here\u2069 and is on for everyone${index}`,
  (index) => `zero\u200bwidth\u2060${index}\ufeff`,
  (index) => `ad\u0430 b\u043e\u0455\u0455 ${index}`,
  (index) => `${'w'.repeat(87)}${index}`,
  (index) => `${'\u0301'.repeat(40)}${index}`,
  (index) => `userId is one of ada, bob, and it is on for everyone ${index}`,
  (index) => `” is on. Undo? “${index}`,
  (index) => `مرحبا ${index} עולם`,
  (index) => `👩‍👩‍👧‍👦🏳️‍🌈${index}`,
  (index) => `%s%n\\u0000 ${index}`,
  (index) => `\u{e0041}\u{e0042}${index}`,
];

const hostile = Array.from({ length: STRINGS }, (_, index) => SHAPES[index % SHAPES.length]?.(index) ?? '');

/** Characters that isolate, turn or hide, of which none is ever to be seen on a page as itself. */
const UNSEEN = /[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u;

const FLAG = 'x'.repeat(90);
const PROJECT = 'p'.repeat(90);

const PLACES = [
  ...['', '/settings', '/history', `/flags/${FLAG}`].map((rest) => `projects/default${rest}`),
  `projects/${PROJECT}`,
  ...[
    'projects',
    'segments',
    'context-fields',
    'strategy-types',
    'users',
    'groups',
    'roles',
    'tokens',
    'events',
  ],
];

describeConsole('hostile strings in the console', (shared) => {
  before(async () => {
    const { call } = shared.server;
    let taken = 0;
    const next = () => hostile[taken++ % STRINGS] ?? '';
    const made = new Map<number, number>();
    const send = async (path: string, body: object, method = 'POST') => {
      const { status } = await call(method, path, body);
      made.set(status, (made.get(status) ?? 0) + 1);
    };
    await makeFlag(call, FLAG, { description: 'y'.repeat(5_000) + next() });
    await send('/projects', { id: PROJECT, name: 'n'.repeat(90), description: 'e'.repeat(900) });
    for (let index = 0; index < 25; index += 1) {
      const values = Array.from({ length: 5 }, next);
      await addStrategy(call, FLAG, {
        title: next(),
        parameters: { [next()]: next() },
        constraints: [{ contextName: next().slice(0, 90), operator: 'IN', values }],
      });
    }
    await send(
      `${FEATURES}/${FLAG}/variants`,
      [{ name: next(), weight: 1000, weightType: 'variable', payload: { type: 'string', value: next() } }],
      'PUT',
    );
    for (let index = 0; index < 30; index += 1) {
      await send(`/features/${FLAG}/tags`, { type: 'simple', value: next().slice(0, 50) });
      await send('/segments', {
        name: next(),
        description: next(),
        constraints: [{ contextName: next(), operator: 'IN', values: [next()] }],
      });
      await send('/context', { name: next(), description: next(), legalValues: [{ value: next() }] });
      await send('/strategies', { name: next().slice(0, 100), description: next(), parameters: [] });
      await send('/projects', { id: `hostile-${index}`, name: next(), description: next() });
      await send('/groups', { name: next(), description: next(), users: [] });
      await send('/roles', { name: next(), description: next(), permissions: [] });
      await send('/user-admin', { name: next(), username: `user-${index}`, rootRole: 3 });
      await send('/api-tokens', { tokenName: next(), type: 'admin' });
    }
    assert(taken >= STRINGS, `${taken} strings are sent`);
    const accepted = [...made].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0);
    assert(accepted > 150, `${accepted} of the requests are accepted: ${JSON.stringify([...made])}`);
  });

  for (const width of [1280, 390]) {
    it(`run nowhere and mislead nobody at ${width} pixels`, async () => {
      const page = await shared.signedIn({ width });
      for (const place of PLACES) {
        await page.goto(`${shared.server.origin}/#/${place}`);
        await page.locator('main h1').waitFor();
        await page.locator('.loading').first().waitFor({ state: 'detached' });
        await fitsTheWidth(page, `${place} at ${width} pixels`);
        const shown = (await page.locator('main').textContent()) ?? '';
        assert.doesNotMatch(shown, UNSEEN, place);
        assert.equal(await page.locator('main :is(img, script, iframe, object)').count(), 0, place);
        assert.equal(await page.evaluate('window.harmed'), undefined, place);
      }
    });
  }
});
