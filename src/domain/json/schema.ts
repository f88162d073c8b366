/** Parts that schemas of requests and responses share. */
import * as v from 'valibot';
import { ISSUES_MAX, shown } from './issues.ts';
import { isJsonObject } from './json.ts';

export const Integer = v.pipe(v.number(), v.integer());
export const Count = v.pipe(Integer, v.minValue(0));
export const Percent = v.pipe(Integer, v.minValue(0), v.maxValue(100));
export const Timestamp = v.pipe(v.string(), v.isoTimestamp(), v.description('ISO 8601, UTC.'));
export const Version = v.pipe(v.literal(1), v.description('Of the format.'));
export const NullableTimestamp = v.nullable(Timestamp);

/** An object under a title of its own, by which the description names it. */
export function titled<const Fields extends v.ObjectEntries>(title: string, fields: Fields) {
  return v.pipe(v.object(fields), v.title(title));
}

/** The schema with a sentence that says what its value means. */
export function described<const Schema extends v.GenericSchema>(schema: Schema, text: string) {
  return v.pipe(schema, v.description(text));
}

/** A text of at most so many characters. `orWhat` says what else would be right. */
export const textUpTo = (lengthMax: number, orWhat = '') => {
  const phrase = `a text of at most ${lengthMax} characters${orWhat}`;
  return v.pipe(v.string(phrase), v.maxLength(lengthMax, phrase));
};

/** A text that is not empty. `what`: such as `a name`. */
export const filledText = (what: string, lengthMax: number) => {
  const phrase = `${what} of 1 to ${lengthMax} characters`;
  return v.pipe(v.string(phrase), v.minLength(1, phrase), v.maxLength(lengthMax, phrase));
};

/** A text in which `issueOf` finds no fault. */
export const faultlessText = (issueOf: (text: string) => string | null, phrase?: string) =>
  v.pipe(
    v.string(phrase),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? issueOf(dataset.value) : null;
      if (message !== null) addIssue({ message });
    }),
  );

/** Characters of names and descriptions in lists; no screen shows more. */
export const TEXT_LENGTH_MAX = 255;

/** The Unicode category Cc in plain ranges: the description repeats the pattern, and Python has no `\P`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses.
const NO_CONTROL_CHARACTERS = /^[^\u0000-\u001f\u007f-\u009f]*$/u;

/** One line of text. Control characters would break the lists and logs that show it. */
export function lineOfText(what: string, lengthMin: number, lengthMax: number) {
  const phrase = `${what} of ${lengthMin} to ${lengthMax} characters, without control characters`;
  return v.pipe(
    v.string(phrase),
    v.minLength(lengthMin, phrase),
    v.maxLength(lengthMax, phrase),
    v.regex(NO_CONTROL_CHARACTERS, phrase),
  );
}

const ID_PHRASE = 'an id, which is a positive integer';

/** The id of a user, a group or a role. */
export const IdSchema = v.pipe(v.number(ID_PHRASE), v.safeInteger(ID_PHRASE), v.minValue(1, ID_PHRASE));

/** A list of at most so many items. `what`: the items in the plural. */
export const listUpTo = <const Item extends v.GenericSchema>(countMax: number, what: string, item: Item) => {
  const phrase = `a list of at most ${countMax} ${what}`;
  return v.pipe(list(item, phrase), v.maxLength(countMax, phrase));
};

/**
 * The schema of a list that clients send. Unlike `v.array` it stops at ISSUES_MAX issues: valibot makes an object for each,
 * and 1 MiB of wrong items would hold the event loop for seconds, only for all but the first few to be thrown away.
 * `phrase` says what would be right, such as "a list of strings"; see issues.ts.
 */
export function list<const Item extends v.GenericSchema>(
  item: Item,
  phrase: string,
): v.ArraySchema<Item, string> {
  const schema = v.array(item, phrase);
  return {
    ...schema,
    '~run': (dataset, config) =>
      Array.isArray(dataset.value)
        ? checkItems(item, dataset.value, config)
        : schema['~run'](dataset, config),
  };
}

/** An object without required fields: to valibot, a list is such an object too. */
export function noList<const Schema extends v.GenericSchema>(schema: Schema, phrase: string): Schema {
  const object = v.custom<object>(isJsonObject, phrase);
  return {
    ...schema,
    '~run': (dataset, config) => {
      const run = isJsonObject(dataset.value) ? schema : object;
      return run['~run'](dataset, config);
    },
  };
}

/**
 * The rule that no two items have the same `key`. The issue is at the second of them. `what`: the items in the plural, as
 * a sentence begins with them.
 */
export function differentBy<Item extends object, const Key extends keyof Item & string>(
  key: Key,
  what: string,
): v.RawCheckAction<Item[]> {
  return v.rawCheck<Item[]>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const seen = new Set<unknown>();
    for (const [index, item] of dataset.value.entries()) {
      const value = item[key];
      if (seen.has(value)) {
        const message = `${what} must have a different ${key} each; there is more than one ${shown(value)}.`;
        return addIssue({ message, path: pathTo(dataset.value, index, key) });
      }
      seen.add(value);
    }
  });
}

function pathTo(input: readonly object[], index: number, key: string): [v.IssuePathItem, v.IssuePathItem] {
  const item = input[index] as Record<string, unknown>;
  return [
    { type: 'array', origin: 'value', input: input as unknown[], key: index, value: item },
    { type: 'object', origin: 'value', input: item, key, value: item[key] },
  ];
}

type Outcome<Item extends v.GenericSchema> = v.OutputDataset<
  v.InferOutput<Item>[],
  v.ArrayIssue | v.InferIssue<Item>
>;

function checkItems<Item extends v.GenericSchema>(
  item: Item,
  input: readonly unknown[],
  config: v.Config<v.BaseIssue<unknown>>,
): Outcome<Item> {
  const output: unknown[] = [];
  const issues: v.BaseIssue<unknown>[] = [];
  for (let key = 0; key < input.length; key += 1) {
    const value = input[key];
    const checked = item['~run']({ value }, config);
    output.push(checked.value);
    if (checked.issues === undefined) continue;
    const pathItem: v.ArrayPathItem = {
      type: 'array',
      origin: 'value',
      input: input as unknown[],
      key,
      value,
    };
    for (const issue of checked.issues) {
      issues.push({ ...issue, path: [pathItem, ...(issue.path ?? [])] } as v.BaseIssue<unknown>);
    }
    if (issues.length >= ISSUES_MAX || (issues.length > 0 && config.abortEarly)) break;
  }
  return (
    issues.length === 0 ? { typed: true, value: output } : { typed: false, value: output, issues }
  ) as Outcome<Item>;
}
