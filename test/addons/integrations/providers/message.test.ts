import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Dialect,
  MARKDOWN,
  PLAIN,
  SLACK,
} from '../../../../src/addons/integrations/providers/dialect.ts';
import { messageOf } from '../../../../src/addons/integrations/providers/message.ts';
import { EVENT_TYPES } from '../../../../src/domain/state/event-types.ts';
import type { LoggedEvent } from '../../../../src/persistence/event-log/logged-event.ts';
import { event, SURROUNDINGS } from './events.ts';

const text = (of: Partial<LoggedEvent>, dialect: Dialect = PLAIN, share: number | null = null) =>
  messageOf(event(of), { ...SURROUNDINGS, share }, dialect).text;

test('an event is told as one plain sentence', () => {
  const strategy = (rollout: string) => ({ name: 'flexibleRollout', parameters: { rollout } });
  const told = (type: string, of: Partial<LoggedEvent> = {}) => text({ type, ...of });
  assert.equal(text({}, PLAIN, 50), 'Ada turned new-checkout on for 50 % in production');
  assert.equal(told('feature-environment-disabled'), 'Ada turned new-checkout off in production');
  assert.equal(
    told('feature-strategy-update', { preData: strategy('10'), data: strategy('50') }),
    'Ada changed a strategy of new-checkout from 10 % to 50 % in production',
  );
  assert.equal(
    told('feature-strategy-add', { data: strategy('25') }),
    'Ada added a strategy to new-checkout for 25 % in production',
  );
  assert.equal(
    told('feature-project-change', { data: { oldProject: 'shop', newProject: 'till' } }),
    'Ada moved new-checkout from the project shop to till',
  );
  assert.equal(
    told('feature-untagged', { preData: { type: 'slack', value: 'ops' } }),
    'Ada removed the tag slack:ops from new-checkout',
  );
  const none = { environment: null, project: null, featureName: null };
  assert.equal(
    told('segment-created', { ...none, data: { id: 4, name: 'Norway' } }),
    'Ada created the segment Norway',
  );
  const data = { id: 2, provider: 'slack-app', description: 'Ops' };
  assert.equal(told('addon-config-updated', { ...none, data }), 'Ada updated an integration with slack-app');
  assert.equal(told('environment-deleted', { ...none, environment: 'qa' }), 'Ada deleted the environment qa');
  assert.equal(
    told('features-exported', { data: { features: ['a', 'b'] } }),
    'Ada exported 2 flags from production',
  );
  assert.equal(
    told('feature-potentially-stale-on'),
    'new-checkout may be stale: it is older than flags of its type should become; its owner is not known',
  );
});

test('each type of event has a sentence with nothing left to fill in, and one that an add-on brings has its own words', () => {
  for (const type of EVENT_TYPES) {
    assert.match(text({ type }), /^(?:Ada [a-z]|The |A |new-checkout )[^{}]+[^{} ]$/, type);
    assert.doesNotMatch(text({ type }), / caused /, type);
  }
  assert.equal(
    text({ type: 'safeguard-triggered', data: { name: 'errors' } }),
    'Ada caused safeguard triggered: errors',
  );
  assert.equal(text({ type: 'constructor', data: { name: 'errors' } }), 'Ada caused constructor: errors');
});

test('a flag is a link to its page, unless nobody knows the address of the server or the flag is gone', () => {
  assert.deepEqual(messageOf(event(), SURROUNDINGS, SLACK), {
    text: 'Ada turned *<https://flags.example/#/projects/shop/flags/new-checkout|new-checkout>* on in production',
    href: 'https://flags.example/#/projects/shop/flags/new-checkout',
  });
  assert.equal(
    text({ featureName: "a(b)*'~!", type: 'feature-archived' }, MARKDOWN),
    "Ada archived **[a(b)\\*'\\~!](https://flags.example/#/projects/shop/flags/a%28b%29%2A%27%7E%21)**",
  );
  assert.equal(
    text({ type: 'feature-deleted' }, MARKDOWN),
    'Ada deleted **new-checkout** in the project [shop](https://flags.example/#/projects/shop)',
  );
  assert.deepEqual(messageOf(event(), { ...SURROUNDINGS, publicUrl: null }, SLACK), {
    text: 'Ada turned *new-checkout* on in production',
    href: null,
  });
});

test('no name becomes a mention, a link, a line of its own or other markup', () => {
  const hostile = [
    '<!channel>',
    '<@U123>',
    '<https://evil.example|click>',
    '@channel',
    '@here all',
    'x @everyone',
    '@ada@evil.example',
    'https://evil.example',
    'HTTP://evil.example',
    'www.evil.example',
    'mailto:a@evil.example',
    '[click](https://evil.example)',
    '![x](https://evil.example/x.png)',
    '<at>Ada</at>',
    '`code`',
    '**bold**',
    'a\n> quote',
    'a\r\n# Title',
    '\u202eevil',
    '\u2028x',
    '%%% \n',
    '<https://evil.example>',
    '&lt;!channel&gt;',
    '\ud800',
    '{flag}',
    '{{event}}',
    '$&',
    '__proto__',
  ];
  for (const name of hostile) {
    const of = { type: 'segment-created', createdBy: name, data: { name } };
    const slack = text(of, SLACK);
    assert.doesNotMatch(slack, /[<>\r\n\u2028\u202e]|(?<!\w)@\w|:\/\/|www\.|mailto:/i, slack);
    const markdown = text(of, MARKDOWN);
    assert.doesNotMatch(
      markdown,
      /(?<!\\)[<>`*[\]#]|[\r\n\u2028\u202e]|(?<!\w)@\w|:\/\/|www\.|mailto:/i,
      markdown,
    );
  }
  assert.equal(
    text({ createdBy: 'ada@mail.example' }),
    'ada@mail.example turned new-checkout on in production',
  );
  assert.equal(text({ type: 'role-created', data: { name: '{project}' } }), 'Ada created the role {project}');
});

test('a message is short, however long the names are', () => {
  const long = 'x'.repeat(100_000);
  assert.equal(
    text({ type: 'segment-created', createdBy: long, data: { name: long } }).length,
    'created the segment '.length + 2 * 101 + 1,
  );
});
