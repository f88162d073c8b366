import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { outgoingRequests } from '../../../../src/addons/integrations/providers/outgoing-requests.ts';
import { parameterIssues } from '../../../../src/addons/integrations/providers/parameters.ts';
import type { OutgoingRequest, Parameters } from '../../../../src/addons/integrations/providers/provider.ts';
import { WEBHOOK } from '../../../../src/addons/integrations/providers/webhook.ts';
import type { LoggedEvent } from '../../../../src/persistence/event-log/logged-event.ts';
import { event, SURROUNDINGS } from './events.ts';

const URL = 'https://hooks.example/flags';
const OLD_SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
const NEW_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

function sent(parameters: Parameters = {}, of: LoggedEvent = event()): OutgoingRequest {
  const requests = outgoingRequests(WEBHOOK, of, { url: URL, ...parameters }, SURROUNDINGS);
  assert(Array.isArray(requests) && requests.length === 1);
  return requests[0];
}

const issues = (parameters: Parameters) =>
  parameterIssues(WEBHOOK, { url: URL, ...parameters }).map(({ message }) => message);

test('a webhook gets the event as the event search shows it, with the headers of CloudEvents', () => {
  assert.deepEqual(sent(), {
    method: 'POST',
    url: URL,
    headers: {
      'content-type': 'application/json',
      'webhook-id': '7',
      'webhook-timestamp': '1772600767',
      'ce-specversion': '1.0',
      'ce-id': '7',
      'ce-type': 'feature-environment-enabled',
      'ce-source': 'https://flags.example',
      'ce-time': '2026-03-04T05:06:00.000Z',
      'ce-environment': 'production',
      'ce-project': 'shop',
      'ce-feature': 'new-checkout',
    },
    body: JSON.stringify(event()),
  });
});

test('a text that no header can carry is percent-encoded as CloudEvents says', () => {
  const { headers } = sent({}, event({ project: 'a b"%€\r\n\ud800' }));
  assert.equal(headers['ce-project'], 'a%20b%22%25%E2%82%AC%0D%0A%EF%BF%BD');
});

test('a receiver verifies a delivery by either secret while two are in use, and by no other', ({ mock }) => {
  mock.timers.enable({ apis: ['Date'], now: SURROUNDINGS.at });
  const { headers, body } = sent({ signingSecrets: `${OLD_SECRET}\n${NEW_SECRET}` });
  for (const secret of [OLD_SECRET, NEW_SECRET]) {
    assert.deepEqual(new Webhook(secret).verify(body, { ...headers }), event());
  }
  assert.throws(() => new Webhook(OTHER_SECRET).verify(body, { ...headers }));
  assert.throws(() => new Webhook(OLD_SECRET).verify(`${body} `, { ...headers }));
});

test('headers of an integration join those of the delivery, and the content type may be another', () => {
  const { headers } = sent({
    contentType: 'text/plain',
    authorization: 'Bearer x',
    customHeaders: '{"X-Team": "checkout"}',
  });
  assert.deepEqual(
    [headers['content-type'], headers['authorization'], headers['x-team']],
    ['text/plain', 'Bearer x', 'checkout'],
  );
});

test('parameters are checked when they are given', () => {
  assert.deepEqual(parameterIssues(WEBHOOK, {}), [
    { path: '/url', message: 'The parameter url is required.' },
  ]);
  for (const url of ['', 'ftp://hooks.example', 'hooks.example', 'file:///etc/passwd', 'javascript:1']) {
    assert.equal(issues({ url }).length, 1, url);
  }
  assert.deepEqual(parameterIssues(WEBHOOK, JSON.parse(`{"url":"${URL}","__proto__":"x"}`)), [
    { path: '/__proto__', message: 'The provider webhook has no such parameter.' },
  ]);
  assert.deepEqual(
    issues({ contentType: 'text/plain', authorization: 'Bearer x', customHeaders: '{"a":"b c"}' }),
    [],
  );
  for (const customHeaders of [
    'x',
    '[]',
    'null',
    '{"a":1}',
    '{"a":"b\\r\\nc: d"}',
    '{"a b":"c"}',
    '{"Host":"x"}',
    '{"Transfer-Encoding":"x"}',
    '{"webhook-id":"x"}',
    '{"CE-Id":"x"}',
    '{"":"x"}',
    '{"a":"é"}',
  ]) {
    assert.equal(issues({ customHeaders }).length, 1, customHeaders);
  }
  for (const authorization of ['a\r\nb: c', 'é', ' x']) assert.equal(issues({ authorization }).length, 1);
  for (const signingSecrets of [
    'x',
    'whsec_AAAA',
    `${OLD_SECRET} ${OLD_SECRET} ${NEW_SECRET}`,
    `${OLD_SECRET},`,
  ]) {
    assert.equal(issues({ signingSecrets }).length, 1, signingSecrets);
  }
  assert.deepEqual(issues({ signingSecrets: `${OLD_SECRET} ${NEW_SECRET}` }), []);
  assert.deepEqual(issues({ authorization: 'x'.repeat(16 * 1024 + 1) }), [
    'The parameter authorization must have at most 16 KiB.',
  ]);
});

test('a template makes the body, and one that fails for an event fails for good', () => {
  const bodyTemplate = '{"text": "{{eventMarkdown}}", "flag": "{{event.featureName}}"}';
  assert.equal(
    sent({ bodyTemplate }).body,
    '{"text": "Ada turned **[new-checkout](https://flags.example/#/projects/shop/flags/new-checkout)** on in production", "flag": "new-checkout"}',
  );
  assert.deepEqual(
    outgoingRequests(
      WEBHOOK,
      event({ tags: Array.from({ length: 100 }, () => ({ type: 'a', value: 'b' })) }),
      {
        url: URL,
        bodyTemplate:
          '{{#event.tags}}{{#event.tags}}{{#event.tags}}{{/event.tags}}{{/event.tags}}{{/event.tags}}',
      },
      SURROUNDINGS,
    ),
    { reason: 'The body template takes more than 100000 steps for this event.', isFinal: true },
  );
  assert.deepEqual(issues({ bodyTemplate: '{{#a}}' }), [
    'The body template cannot be parsed: Unclosed section "a" at 6.',
  ]);
});

test('an event that is larger than a body may be is sent without its data', () => {
  const large = event({ data: { text: 'x'.repeat(256 * 1024) } });
  assert.deepEqual(JSON.parse(sent({}, large).body), { ...event(), truncated: true });
  assert.equal(sent({ bodyTemplate: '{{{event.data}}}{{event.truncated}}' }, large).body, 'true');
});
