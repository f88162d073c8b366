/** Values in state documents. They are checked when a document is read, whichever release wrote it. */
import * as v from 'valibot';
import { isDateTime } from '../flags/constraint.ts';
import { TAG_LENGTH_MAX, TAG_LENGTH_MIN } from '../flags/flag.ts';

const TIME_PHRASE = 'a date and time of ISO 8601';
export const Time = v.pipe(v.string(TIME_PHRASE), v.check(isDateTime, TIME_PHRASE));
const ID_PHRASE = 'a positive integer';
export const Id = v.pipe(v.number(ID_PHRASE), v.safeInteger(ID_PHRASE), v.minValue(1, ID_PHRASE));
export const Text = v.pipe(v.string(), v.minLength(1, 'a text that is not empty'));
export const RoleName = v.pipe(Text, v.description('Of a predefined role, or of one of the document.'));
const DIGEST_PHRASE = 'a SHA-256 digest of 64 hexadecimal digits';
export const Digest = v.pipe(v.string(DIGEST_PHRASE), v.regex(/^[0-9a-f]{64}$/, DIGEST_PHRASE));
const TAG_PHRASE = `a text of ${TAG_LENGTH_MIN} to ${TAG_LENGTH_MAX} characters`;
const TagText = v.pipe(
  v.string(TAG_PHRASE),
  v.minLength(TAG_LENGTH_MIN, TAG_PHRASE),
  v.maxLength(TAG_LENGTH_MAX, TAG_PHRASE),
);

export const TagSchema = v.object({ type: TagText, value: TagText });
