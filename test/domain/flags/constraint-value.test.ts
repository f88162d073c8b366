import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isDateTime, isNumberText } from '../../../src/domain/flags/constraint.ts';
import { parseSemanticVersion } from '../../../src/domain/flags/semantic-version.ts';

const isSemanticVersion = (text: string): boolean => parseSemanticVersion(text) !== null;

function all(check: (text: string) => boolean, expected: boolean, texts: readonly string[]): void {
  for (const text of texts) assert.equal(check(text), expected, JSON.stringify(text));
}

test('numbers are decimal, with an optional sign, fraction and exponent', () => {
  all(isNumberText, true, ['0', '-0', '5', '-5', '+5', '3.14', '.5', '5.', '1e3', '1E-3', '-1.5e+10', '007']);
  all(isNumberText, false, ['', ' ', '5 ', ' 5', '.', 'e5', '1e', '0x10', '1_000', '1,5', '--1', '5\n', '٣']);
  all(isNumberText, false, ['NaN', 'Infinity', '-Infinity', '1e999', 'true', '1.2.3', '1n']);
});

test('every finite number as JavaScript writes it is a number', () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => isNumberText(String(n))));
});

test('date-times have a date, a time and a zone, and exist in the calendar', () => {
  all(isDateTime, true, [
    '2024-05-01T09:30:00Z',
    '2024-05-01T09:30:00.123Z',
    '2024-05-01T09:30:00,123456Z',
    '2024-05-01T09:30Z',
    '2024-05-01T09:30:00+02:00',
    '2024-05-01T09:30:00-0530',
    '2024-02-29T00:00:00Z',
    '2000-02-29T23:59:59Z',
    '0000-01-01T00:00:00Z',
  ]);
  all(isDateTime, false, [
    '',
    '2024-05-01',
    '09:30:00Z',
    '2024-05-01T09:30:00',
    '2024-05-01 09:30:00Z',
    '2024-05-01T09:30:00z',
    '2024-05-01T9:30:00Z',
    '2024-05-01T24:00:00Z',
    '2024-05-01T09:60:00Z',
    '2024-05-01T09:30:60Z',
    '2024-05-01T09:30:00.Z',
    '2024-05-01T09:30:00+24:00',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-05-00T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '20240501T093000Z',
    '2024-05-01T09:30:00Z ',
    '1714555800',
  ]);
});

test('every date of the years 0 to 9999, as JavaScript writes it, is a date-time', () => {
  const dates = fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(fc.property(dates, (date) => isDateTime(date.toISOString())));
});

test('versions follow the whole grammar of Semantic Versioning 2.0.0', () => {
  all(isSemanticVersion, true, [
    '0.0.0',
    '1.2.3',
    '10.20.30',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-0.3.7',
    '1.0.0-x-y-z.--',
    '1.0.0--',
    '1.0.0-0a.00b',
    '1.0.0+001',
    '1.0.0-beta+exp.sha.5114f85',
    '1.0.0+21AF26D3----117B344092BD',
    '1.0.0+a-b',
    '99999999999999999999.0.0',
  ]);
  all(isSemanticVersion, false, [
    '',
    '1',
    '1.2',
    '1.2.3.4',
    'v1.2.3',
    '01.2.3',
    '1.02.3',
    '1.2.03',
    '1.2.-3',
    '1.2.x',
    '1.2.3-',
    '1.2.3+',
    '1.2.3-01',
    '1.2.3-a..b',
    '1.2.3-a.',
    '1.2.3-.a',
    '1.2.3-ä',
    '1.2.3+a+b',
    '1.2.3+a..b',
    '1.2.3+a_b',
    ' 1.2.3',
    '1.2.3 ',
    '1.2.3\n',
    '-1.2.3',
    '+1.2.3',
    '1.2.',
    '..',
  ]);
});

test('a text of a mebibyte is judged in every grammar', () => {
  const digits = '1'.repeat(2 ** 20);
  assert.equal(isNumberText(digits), false, 'beyond the range of a double');
  assert.equal(isNumberText(`0.${digits}`), true);
  assert.equal(isNumberText(`${digits}x`), false);
  assert.equal(isDateTime(`2024-05-01T09:30:00.${digits}Z`), true);
  assert.equal(isDateTime(`2024-05-01T09:30:00.${digits}`), false);
  assert.equal(isSemanticVersion(`1.0.0-${digits}`), true);
  assert.equal(isSemanticVersion(`1.0.0-0${digits}`), false);
  assert.equal(isSemanticVersion(`1.0.0-${'a.'.repeat(2 ** 19)}`), false);
  assert.equal(isSemanticVersion('.'.repeat(2 ** 20)), false);
});
