/** The differences of a flag between two moments, and those that an event made, part by part, in words. */
import { audienceOf, conditionOf, segmentName } from './audience.js';
import { marked, quotedIn, said } from './said.jsx';
import { aroundDifference, IDENTITY, kindText, percentOf, shown } from './words.js';

/** @import { ConstraintInput, Flag, FlagEnvironment, LoggedEvent, Strategy, Variant } from './types.d.ts' */

/** @typedef {{ name: string, before: readonly string[], after: readonly string[] }} Difference what only the one and only the other has */
/** @typedef {ReadonlyMap<string, readonly string[]>} Parts texts by what they are about */

/** The whole value: texts that differ anywhere are different. @param {string} text */
const whole = (text) => said(text, Number.POSITIVE_INFINITY);

/** Null stands for a moment at which there was no such flag. @param {Flag | null} before @param {Flag | null} after @returns {readonly Difference[]} */
export const differencesOf = (before, after) =>
  differencesIn(before === null ? NO_PARTS : partsOf(before), after === null ? NO_PARTS : partsOf(after));

/**
 * The differences of a flag between two environments.
 * @param {FlagEnvironment} before
 * @param {FlagEnvironment} after
 * @param {ReadonlyMap<string, readonly Variant[]>} variants by environment; of the past only their number is known
 */
export function environmentDifferences(before, after, variants) {
  /** @param {FlagEnvironment} environment @returns {Parts} */
  const partsIn = ({ name, enabled, strategies, variantCount }) =>
    new Map([
      ['the switch', [enabled ? 'on' : 'off']],
      ['the strategies', strategies.map((one) => strategyText(one))],
      ['the variants', variants.get(name)?.map(variantText) ?? [`${variantCount}`]],
    ]);
  return differencesIn(partsIn(before), partsIn(after));
}

/** @param {Parts} old @param {Parts} now @returns {readonly Difference[]} */
function differencesIn(old, now) {
  const names = [...new Set([...old.keys(), ...now.keys()])];
  return names.flatMap((name) => {
    const [had, has] = [old.get(name) ?? [], now.get(name) ?? []];
    if (JSON.stringify(had) === JSON.stringify(has)) return [];
    const gone = had.filter((text) => !has.includes(text));
    const come = has.filter((text) => !had.includes(text));
    // The same texts in another order.
    if (gone.length + come.length === 0) return [{ name: `${name}, in order`, before: had, after: has }];
    return [{ name, before: gone, after: come }];
  });
}

/** The changes of an event, field by field; nothing where only the order of what it recorded differs. @param {Pick<LoggedEvent, 'data' | 'preData'>} event @returns {readonly Difference[]} */
export function changesOf({ data, preData }) {
  if (data === null || preData === null) return [];
  const [before, after] = [recordParts(preData), recordParts(data)];
  return differencesIn(before, after).map((one) => shortened(one));
}

/** Two long texts are cut so that what they share does not hide what differs. @param {Difference} difference @returns {Difference} */
function shortened({ name, before, after }) {
  const [old, now] = [before, after].map(([text = '', ...more]) => (more.length > 0 ? null : quotedIn(text)));
  if (old == null || now == null) return { name, before, after };
  const cut = aroundDifference(old, now);
  return { name, before: [marked(cut.before)], after: [marked(cut.after)] };
}

/** @param {Record<string, unknown>} record @returns {Parts} */
function recordParts(record) {
  const entries = Object.entries(record).filter(([name]) => !IDENTITY.includes(name));
  return new Map(entries.flatMap(([name, value]) => fieldParts(name, value)));
}

/** The name of a field of a record, where its name does not say it. @type {Readonly<Record<string, string>>} */
const FIELD_NAMES = {
  impressionData: 'impression data',
  legalValues: 'values to choose from',
  defaultStickiness: 'default stickiness',
  sortOrder: 'position',
  usedInProjects: 'used in projects',
};

/** @param {string} name @param {unknown} value @returns {[string, readonly string[]][]} */
function fieldParts(name, value) {
  if (name === 'parameters' && isRecord(value)) return Object.entries(value).flatMap(parameterParts);
  return [[FIELD_NAMES[name] ?? name, listOf(value).map((one) => itemText(name, one))]];
}

/** @param {[string, unknown]} parameter @returns {[string, readonly string[]][]} */
function parameterParts([name, value]) {
  if (name === 'rollout') return [[name, [`${percentOf(value)} % of users`]]];
  if (value === '' || value === null) return [];
  return [[PARAMETER_NAMES[name] ?? whole(name), [whole(shown(value))]]];
}

/** @type {Readonly<Record<string, string>>} */
const PARAMETER_NAMES = { stickiness: 'stickiness', groupId: 'group' };

/** @param {unknown} value @returns {readonly unknown[]} */
const listOf = (value) =>
  Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value];

/** One of the values of a field. @param {string} name @param {unknown} value */
function itemText(name, value) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return name === 'segments' ? segmentName(value) : String(value);
  if (name === 'constraints' && isRecord(value)) {
    return conditionOf(
      /** @type {ConstraintInput} */ (/** @type {unknown} */ (value)),
      Number.POSITIVE_INFINITY,
    );
  }
  if (name === 'variants' && isRecord(value))
    return variantText(/** @type {Variant} */ (/** @type {unknown} */ (value)));
  if (name === 'links' && isRecord(value)) return whole(String(value['title'] ?? value['url']));
  return whole(typeof value === 'string' ? value : JSON.stringify(sorted(value)));
}

/** The same value with the fields of its objects in the order of the alphabet. @param {unknown} value @returns {unknown} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @type {Parts} */
const NO_PARTS = new Map();

/** @param {Flag} flag @returns {Parts} */
function partsOf(flag) {
  const { description, type, stale, impressionData, archived, tags, dependencies, links } = flag;
  return new Map([
    ['the flag', [archived ? 'archived' : 'there']],
    ['description', description ? [whole(description)] : []],
    ['type', [type]],
    ['stale', [stale ? 'yes' : 'no']],
    ['impression data', [impressionData ? 'yes' : 'no']],
    ['tags', tags.map((tag) => `${tag.type}: ${whole(tag.value)}`)],
    ['links', links.map(({ url }) => whole(url))],
    ['dependencies', dependencies.map(dependencyText)],
    ...flag.environments.flatMap((one) => environmentParts(one)),
    ['variants', (flag.variants ?? []).map(variantText)],
  ]);
}

/** @param {FlagEnvironment} environment @returns {[string, readonly string[]][]} */
function environmentParts({ name, enabled, strategies }) {
  return [
    [name, [enabled ? 'on' : 'off']],
    [`strategies in ${name}`, strategies.map((one) => strategyText(one))],
  ];
}

/** @param {Flag['dependencies'][number]} dependency */
const dependencyText = ({ feature, enabled, variants }) =>
  `${feature} ${enabled ? 'on' : 'off'}${variants.length === 0 ? '' : ` with ${variants.map(whole).join(' or ')}`}`;

/** @param {Variant} variant */
export const variantText = ({ name, weight, weightType, stickiness, payload, overrides }) =>
  [
    `${whole(name)} ${weight / 10} %`,
    weightType === 'fix' ? 'fixed' : '',
    stickiness === undefined || stickiness === 'default' ? '' : `by ${whole(stickiness)}`,
    payload === undefined ? '' : `with ${whole(shown(payload.value))}`,
    ...(overrides ?? []).map(
      ({ contextName, values }) =>
        `always for ${whole(contextName)} ${values.map((one) => whole(one)).join(', ')}`,
    ),
  ]
    .filter(Boolean)
    .join(', ');

/** All that decides, so that strategies which differ have different texts. @param {Strategy} strategy */
function strategyText(strategy) {
  const { name, title, disabled, parameters, variants } = strategy;
  const { rollout: _, ...others } = parameters ?? {};
  const settings = Object.entries(others)
    .filter(([, value]) => value !== '' && value !== 'default' && value !== strategy.featureName)
    .map(([key, value]) => `${whole(key)} ${whole(shown(value))}`);
  return [
    `${title ? whole(title) : kindText(name)}: ${audienceOf(strategy, Number.POSITIVE_INFINITY)}`,
    ...settings,
    ...variants.map(variantText),
    disabled === true ? 'disabled' : '',
  ]
    .filter(Boolean)
    .join(', ');
}
