import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  failureOf,
  outgoingRequests,
} from '../../../../src/addons/integrations/providers/outgoing-requests.ts';
import { parameterIssues } from '../../../../src/addons/integrations/providers/parameters.ts';
import type { OutgoingRequest, Parameters } from '../../../../src/addons/integrations/providers/provider.ts';
import { PROVIDERS, providerNamed } from '../../../../src/addons/integrations/providers/table.ts';
import type { LoggedEvent } from '../../../../src/persistence/event-log/logged-event.ts';
import { event, SURROUNDINGS } from './events.ts';

const PAGE = 'https://flags.example/#/projects/shop/flags/new-checkout';
const RECEIVER = 'https://receiver.example/x';

/** Values that each provider accepts. */
const ACCEPTED: Readonly<Record<string, Parameters>> = {
  webhook: { url: RECEIVER },
  'slack-app': { accessToken: 'xoxb-1', defaultChannels: 'releases, ops,releases' },
  slack: { url: RECEIVER, defaultChannel: 'releases' },
  teams: { url: RECEIVER },
  teamsworkflow: { url: RECEIVER },
  datadog: { apiKey: 'key' },
  'new-relic': { url: RECEIVER, licenseKey: 'key' },
  sentry: { url: RECEIVER, signingSecret: 'secret' },
};

function provider(name: string) {
  const found = providerNamed(name);
  assert(found !== null);
  return found;
}

function sent(
  name: string,
  of: Partial<LoggedEvent> = {},
  parameters: Parameters = {},
): readonly OutgoingRequest[] {
  const all = { ...ACCEPTED[name], ...parameters };
  assert.deepEqual(parameterIssues(provider(name), all), []);
  const requests = outgoingRequests(provider(name), event(of), all, SURROUNDINGS);
  assert('length' in requests);
  return requests;
}

function bodies(
  name: string,
  of: Partial<LoggedEvent> = {},
  parameters: Parameters = {},
): Record<string, unknown>[] {
  return sent(name, of, parameters).map(({ body }) => JSON.parse(body));
}

const slackText = `Ada turned *<${PAGE}|new-checkout>* on in production`;
const markdown = `Ada turned **[new-checkout](${PAGE})** on in production`;

test('slack-app posts one message for each channel, those of the flag’s tags among them', () => {
  const tags = [
    { type: 'slack', value: 'checkout' },
    { type: 'simple', value: 'other' },
  ];
  const requests = sent('slack-app', { tags });
  assert.deepEqual(
    requests.map(({ body }) => JSON.parse(body).channel),
    ['checkout', 'releases', 'ops'],
  );
  const [first] = requests;
  assert.equal(first?.url, 'https://slack.com/api/chat.postMessage');
  assert.equal(first?.headers['authorization'], 'Bearer xoxb-1');
  assert.equal(first?.headers['webhook-id'], '7');
  assert.deepEqual(JSON.parse(first?.body ?? ''), {
    channel: 'checkout',
    text: slackText,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: slackText, verbatim: true } },
      {
        type: 'actions',
        elements: [{ type: 'button', url: PAGE, text: { type: 'plain_text', text: 'Open in Flagstaff' } }],
      },
    ],
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
  });
  assert.deepEqual(sent('slack-app', {}, { defaultChannels: '' }), []);
  const many = Array.from({ length: 100 }, (_, index) => ({ type: 'slack', value: `c${index}` }));
  assert.equal(sent('slack-app', { tags: many }).length, 20);
});

test('an error of Slack in a response of status 200 is a failure, final where it is about one channel', () => {
  const failure = (body: string, status = 200) => failureOf(provider('slack-app'), { status, body });
  assert.equal(failure('{"ok":true}'), null);
  assert.deepEqual(failure('{"ok":false,"error":"channel_not_found"}'), {
    reason: 'Slack answered with channel_not_found.',
    isFinal: true,
  });
  assert.deepEqual(failure('{"ok":false,"error":"token_revoked"}'), {
    reason: 'Slack answered with token_revoked.',
    isFinal: false,
  });
  for (const body of ['{"ok":false,"error":"<b>xoxb-1</b>"}', '{"ok":false}', '<html>', 'null', '']) {
    assert.deepEqual(
      failure(body),
      { reason: 'Slack answered with an unknown error.', isFinal: false },
      body,
    );
  }
  assert.deepEqual(failure('{"ok":true}', 429), {
    reason: 'The receiver answered with status 429.',
    isFinal: false,
    pauseMs: 0,
  });
});

test('slack posts to the channels of the flag’s tags, or else to the default channel', () => {
  const message = {
    username: 'Flagstaff',
    icon_emoji: ':triangular_flag_on_post:',
    text: slackText,
    parse: 'none',
    link_names: false,
    attachments: [{ actions: [{ type: 'button', text: 'Open in Flagstaff', url: PAGE }] }],
  };
  assert.deepEqual(bodies('slack'), [{ ...message, channel: '#releases' }]);
  const tags = [
    { type: 'slack', value: '#a' },
    { type: 'slack', value: 'b' },
  ];
  const parameters = { username: 'Flags', emojiIcon: ':x:' };
  assert.deepEqual(
    bodies('slack', { tags }, parameters),
    ['#a', '#b'].map((channel) => ({ ...message, username: 'Flags', icon_emoji: ':x:', channel })),
  );
  const failure = (status: number, body: string) => failureOf(provider('slack'), { status, body });
  assert.equal(failure(200, 'ok'), null);
  assert.equal(failure(404, 'channel_not_found\n')?.isFinal, true);
  assert.deepEqual(failure(404, 'no_service'), {
    reason: 'The receiver answered with status 404.',
    isFinal: false,
    pauseMs: 0,
  });
});

test('teams posts a message card', () => {
  assert.deepEqual(bodies('teams', { createdBy: 'Ada_L' }), [
    {
      '@type': 'MessageCard',
      '@context': 'https://schema.org/extensions',
      themeColor: '0076D7',
      summary: 'Ada_L turned new-checkout on in production',
      sections: [
        {
          activityTitle: markdown.replace('Ada', 'Ada\\_L'),
          activitySubtitle: 'Flagstaff',
          facts: [
            { name: 'User', value: 'Ada\\_L' },
            { name: 'Action', value: 'feature-environment-enabled' },
          ],
        },
      ],
      potentialAction: [
        { '@type': 'OpenUri', name: 'Open in Flagstaff', targets: [{ os: 'default', uri: PAGE }] },
      ],
    },
  ]);
});

test('teamsworkflow posts an adaptive card', () => {
  const [body] = bodies('teamsworkflow');
  assert.deepEqual(body, {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.5',
          body: [
            { type: 'TextBlock', text: markdown, wrap: true },
            {
              type: 'FactSet',
              facts: [
                { title: 'User:', value: 'Ada' },
                { title: 'Action:', value: 'feature-environment-enabled' },
              ],
            },
          ],
          actions: [{ type: 'Action.OpenUrl', title: 'Open in Flagstaff', url: PAGE }],
        },
      },
    ],
  });
});

test('datadog gets a text with the tags of the flag, and no name ends the markup', () => {
  const tags = [{ type: 'datadog', value: 'team' }];
  const [request] = sent('datadog', { tags }, { sourceTypeName: 'flags', customHeaders: '{"X-Team":"a"}' });
  assert.equal(request?.url, 'https://api.datadoghq.com/api/v1/events');
  assert.equal(request?.headers['dd-api-key'], 'key');
  assert.equal(request?.headers['x-team'], 'a');
  assert.deepEqual(JSON.parse(request?.body ?? ''), {
    title: 'Flagstaff: feature-environment-enabled',
    text: `%%%\n${markdown}\n%%%`,
    tags: ['datadog:team', 'environment:production', 'project:shop', 'feature:new-checkout'],
    source_type_name: 'flags',
  });
  const [hostile] = bodies('datadog', { createdBy: '%%% @all %%%%' });
  assert.equal(String(hostile?.['text']).match(/%%%/g)?.length, 2);
  const [long] = bodies(
    'datadog',
    { data: { text: 'x'.repeat(5000) } },
    { url: RECEIVER, bodyTemplate: '{{event.data.text}}' },
  );
  assert.equal(long?.['text'], 'x'.repeat(4000));
});

test('new-relic gets flat attributes, and no field of the data replaces one of its own', () => {
  const data = {
    name: 'new-checkout',
    eventType: 'evil',
    stale: false,
    links: [{ url: 'x' }],
    long: 'x'.repeat(5000),
    none: null,
  };
  const [request] = sent('new-relic', { data, tags: [{ type: 'new-relic', value: 'a' }], environment: null });
  assert.equal(request?.headers['api-key'], 'key');
  assert.deepEqual(JSON.parse(request?.body ?? ''), {
    name: 'new-checkout',
    eventType: 'UnleashServiceEvent',
    stale: 'false',
    links: '[{"url":"x"}]',
    long: 'x'.repeat(4096),
    unleashEventType: 'feature-environment-enabled',
    id: 7,
    featureName: 'new-checkout',
    project: 'shop',
    createdBy: 'Ada',
    createdByUserId: 3,
    createdAt: Date.parse('2026-03-04T05:06:00.000Z'),
    tags: 'new-relic:a',
    message: 'Ada turned new-checkout on in no environment',
  });
  const [templated] = sent('new-relic', {}, { bodyTemplate: '{"eventType": "a", "b": "{{event.type}}"}' });
  assert.equal(templated?.body, '{"eventType": "a", "b": "feature-environment-enabled"}');
});

test('sentry gets changes of flags, signed with its own secret, and nothing else', () => {
  const [request] = sent('sentry');
  const body = {
    data: [
      {
        action: 'updated',
        change_id: 7,
        created_at: '2026-03-04T05:06:00.000Z',
        created_by: { id: 'Ada', type: 'name' },
        flag: 'new-checkout',
      },
    ],
    meta: { version: 1 },
  };
  assert.equal(request?.body, JSON.stringify(body));
  assert.equal(
    request?.headers['x-sentry-signature'],
    createHmac('sha256', 'secret').update(JSON.stringify(body)).digest('hex'),
  );
  const change = (of: Partial<LoggedEvent>) =>
    bodies('sentry', of).map(({ data }) => (data as Record<string, unknown>[])[0])[0];
  assert.equal(change({ type: 'feature-created' })?.['action'], 'created');
  assert.equal(change({ type: 'feature-archived' })?.['action'], 'deleted');
  assert.deepEqual(change({ createdBy: 'ada@mail.example' })?.['created_by'], {
    id: 'ada@mail.example',
    type: 'email',
  });
  assert.deepEqual(change({ createdBy: ' ' })?.['created_by'], { id: '3', type: 'id' });
  assert.deepEqual(change({ createdBy: 'x'.repeat(300) })?.['created_by'], {
    id: 'x'.repeat(100),
    type: 'name',
  });
  assert.deepEqual(sent('sentry', { type: 'segment-created', featureName: null }), []);
  assert.ok(provider('sentry').events.every((type) => type.startsWith('feature-')));
});

test('the parameters of each provider, and which of them are secrets, stay as clients know them', () => {
  const rows = PROVIDERS.map(({ name, parameters }) => [
    name,
    parameters
      .map((one) => `${one.name}${one.required ? '!' : ''}${one.sensitive ? ' secret' : ''}`)
      .join(', '),
  ]);
  assert.deepEqual(rows, [
    [
      'webhook',
      'url! secret, contentType, authorization secret, customHeaders secret, bodyTemplate, signingSecrets secret',
    ],
    ['slack-app', 'accessToken! secret, defaultChannels'],
    ['slack', 'url! secret, username, emojiIcon, defaultChannel!, customHeaders secret'],
    ['teams', 'url! secret, customHeaders secret'],
    ['teamsworkflow', 'url! secret, customHeaders secret'],
    ['datadog', 'url, apiKey! secret, sourceTypeName, customHeaders secret, bodyTemplate'],
    ['new-relic', 'url!, licenseKey! secret, customHeaders secret, bodyTemplate'],
    ['sentry', 'url!, signingSecret! secret'],
  ]);
});

test('no secret is in a body, and every provider bears an event without names, or with a lone surrogate and a megabyte of data', () => {
  const odd = {
    createdBy: '\ud800',
    data: { text: '\ud800'.repeat(500_000), name: null },
    preData: { name: '\udc00' },
  };
  for (const { name, parameters } of PROVIDERS) {
    const secrets = parameters.filter(
      (one) => one.sensitive && ['text', 'url'].includes(one.type) && one.name !== 'signingSecrets',
    );
    const hidden = Object.fromEntries(
      secrets.map((one) => [
        one.name,
        one.type === 'url' ? `${RECEIVER}/hidden-${one.name}` : `hidden-${one.name}`,
      ]),
    );
    const nothing = { environment: null, project: null, featureName: null };
    for (const scope of [{}, nothing, odd, { ...nothing, ...odd }]) {
      for (const { body } of sent(name, scope, hidden)) {
        assert.doesNotMatch(body, /hidden-/);
        assert.ok(Buffer.byteLength(body) <= 256 * 1024);
      }
    }
  }
});

test('a provider is a file of at most 120 lines', () => {
  const folder = fileURLToPath(new URL('../../../../src/addons/integrations/providers/', import.meta.url));
  const files = readdirSync(folder).map((file) => ({ file, text: readFileSync(`${folder}${file}`, 'utf8') }));
  const providers = files.filter(({ text }) => /: Provider = \{/.test(text));
  assert.equal(providers.length, PROVIDERS.length);
  for (const { file, text } of providers) assert.ok(text.split('\n').length <= 121, file);
});
