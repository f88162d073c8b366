import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMAIL_LENGTH_MAX, isEmail } from '../../../src/domain/access/email.ts';

test('addresses as providers issue them are accepted', () => {
  const good = [
    'ada@example.com',
    'ada.lovelace+flags@mail.example.co.uk',
    "o'brien@example.com",
    'a@b.io',
    '1@2.3d',
    'user_name-x@sub-domain.example.org',
    'jürgen@müller.de',
    '用户@例子.中国',
    'x@xn--fsqu00a.xn--0zwm56d',
  ];
  for (const address of good) assert.ok(isEmail(address), address);
});

test('slips of the keyboard are refused', () => {
  const bad = [
    '',
    '@',
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'ada@example.',
    'ada@.com',
    'ada@example..com',
    'ada..b@example.com',
    '.ada@example.com',
    'ada.@example.com',
    'ada@exa mple.com',
    'ad a@example.com',
    ' ada@example.com',
    'ada@example.com ',
    'ada@example.com\n',
    'ada@exam_ple.com',
    'ada@-example.com',
    'ada@example-.com',
    'ada@@example.com',
    'a@b@example.com',
    'ada,b@example.com',
    '<ada@example.com>',
    '"ada"@example.com',
    'ada@example.com\u0000',
    'ada\u200b@example.com',
  ];
  for (const address of bad) assert.equal(isEmail(address), false, JSON.stringify(address));
});

test('the longest address is accepted, and one character more is not', () => {
  const label = 'd'.repeat(61);
  const longest = `${'l'.repeat(64)}@${label}.${label}.${label}.abc`;
  assert.equal(longest.length, EMAIL_LENGTH_MAX);
  assert.ok(isEmail(longest));
  assert.equal(isEmail(`${longest}d`), false);
});

test('neither part may be longer than mail servers take', () => {
  assert.ok(isEmail(`${'l'.repeat(64)}@example.com`));
  assert.equal(isEmail(`${'l'.repeat(65)}@example.com`), false);
  assert.ok(isEmail(`a@${'d'.repeat(63)}.com`));
  assert.equal(isEmail(`a@${'d'.repeat(64)}.com`), false);
});
