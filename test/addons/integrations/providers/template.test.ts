import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rendered, templateIssue } from '../../../../src/addons/integrations/providers/template.ts';

const EVENT = {
  type: 'feature-created',
  tags: [
    { type: 'slack', value: 'ops' },
    { type: 'simple', value: 'a"b' },
  ],
  data: { name: 'new-checkout' },
};

const body = (template: string, event: object = EVENT, eventMarkdown = 'Ada said "yes"\\no', isJson = true) =>
  rendered(template, { event, eventMarkdown }, isJson);

const reasonFor = (template: string, event: object = EVENT) => {
  const made = body(template, event);
  assert(typeof made === 'object', 'the template fails');
  assert(made.isFinal);
  return made.reason;
};

test('a template has the fields of the event, lists, and sections', () => {
  assert.equal(
    body('{{event.type}} {{event.data.name}}{{event.none}}{{none.such}}'),
    'feature-created new-checkout',
  );
  assert.equal(body('{{#event.tags}}{{type}}={{{value}}},{{/event.tags}}'), 'slack=ops,simple=a"b,');
  assert.equal(
    body('{{^event.none}}none{{/event.none}}{{#event.data}}{{name}}{{/event.data}}'),
    'nonenew-checkout',
  );
  assert.equal(body('{{{event.data}}}'), '{"name":"new-checkout"}');
});

test('two braces escape for HTML and for a string of JSON, three do not', () => {
  const event = { by: `<b>"'\\\n` };
  assert.equal(body('{{event.by}}', event), '&lt;b&gt;&quot;&#39;\\\\\\n');
  assert.equal(body('{{event.by}}', event, '', false), '&lt;b&gt;&quot;&#39;\\\n');
  assert.equal(body('{{{event.by}}}', event), event.by);
});

test('eventJson is a string of JSON, and eventMarkdown fits a string of JSON and stands as it is outside of one', () => {
  const made = body('{"a": "\\"{{eventMarkdown}}", "json": {{{eventJson}}}, "b": "{{{eventMarkdown}}}"}');
  assert(typeof made === 'string');
  assert.deepEqual(JSON.parse(made), {
    a: '"Ada said "yes"\\no',
    json: JSON.stringify(EVENT),
    b: 'Ada said "yes"\\no',
  });
  assert.equal(body('{{eventMarkdown}}: {{eventMarkdown}}'), 'Ada said "yes"\\no: Ada said "yes"\\no');
  assert.equal(body('{{eventMarkdown}}', EVENT, "$& $' $1"), "$& $' $1");
});

test('a name leads to own properties alone, and no function is called', () => {
  const event = JSON.parse(
    '{"list":[1],"text":"abc","parameters":{"length":4294967295},"__proto__":{"x":"own"}}',
  );
  for (const name of [
    'constructor',
    'event.constructor',
    'event.list.join',
    'event.text.length',
    'toString',
    'event.list.length.constructor',
  ]) {
    assert.equal(body(`{{#event.parameters}}[{{{${name}}}}]{{/event.parameters}}`, event), '[]', name);
  }
  assert.equal(
    body('{{#event.parameters}}{{#event.list.fill}}x{{/event.list.fill}}{{/event.parameters}}', event),
    '',
  );
  assert.equal(body('{{event.__proto__.x}}', event), 'own');
  assert.equal(body('{{event.__proto__}}{{__proto__.polluted}}', {}), '');
});

test('a template that multiplies lists, climbs out of many sections or writes too much fails for the event, and for good', () => {
  const list = { list: Array.from({ length: 60 }, () => 'x'), text: 'x'.repeat(1000) };
  const nested = (depth: number, within: string) =>
    `${'{{#event.list}}'.repeat(depth)}${within}${'{{/event.list}}'.repeat(depth)}`;
  const steps = 'The body template takes more than 100000 steps for this event.';
  const output = 'The body template makes more than 256 KiB for this event.';
  assert.equal(reasonFor(nested(5, ''), list), steps);
  assert.equal(reasonFor(nested(500, '{{none}}'), list), steps);
  assert.equal(reasonFor(`{{#event}}${nested(2, `{{${'a.'.repeat(4000)}b}}`)}{{/event}}`, list), steps);
  assert.equal(reasonFor(nested(2, '{{event.text}}'), list), output);
  assert.equal(reasonFor('{{{event}}}'.repeat(1000), list), output);
  assert.equal(reasonFor('{{event.text}}', { text: '€'.repeat(100_000) }), output);
  const marked = body('{{eventMarkdown}}'.repeat(200), EVENT, 'x'.repeat(3000));
  assert.deepEqual(marked, { reason: output, isFinal: true });
});

test('the event becomes JSON once, however often a template names it', () => {
  let count = 0;
  const event = {
    toJSON: () => {
      count += 1;
      return {};
    },
  };
  assert.equal(body('{{#eventJson}}{{/eventJson}}{{^eventJson}}{{/eventJson}}'.repeat(200), event), '');
  assert.equal(count, 1);
});

test('a long text is escaped as it would be in one piece', () => {
  const text = '😀<"\\'.repeat(5_000);
  const escaped = '😀&lt;&quot;\\\\'.repeat(5_000);
  assert.equal(body('{{event.text}}', { text }), escaped);
});

test('a template is checked when it is given', () => {
  assert.equal(templateIssue('{"a": "{{event.type}}", {{#event.tags}}{{{value}}}{{/event.tags}}}'), null);
  assert.equal(templateIssue('{{#a}}'), 'The body template cannot be parsed: Unclosed section "a" at 6.');
  assert.match(templateIssue('{{a') ?? '', /Unclosed tag/);
  assert.match(templateIssue('{{/a}}') ?? '', /Unopened section/);
  assert.match(templateIssue('{{ =<% %>= }}<% a %>') ?? '', /delimiters/);
  assert.match(templateIssue('{{> a}}') ?? '', /partials/);
  assert.match(templateIssue(`{{a${' '.repeat(201)}}}`) ?? '', /more than 200 spaces/);
});
