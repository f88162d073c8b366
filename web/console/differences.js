/** In what a flag differs between two moments, part by part, in words. */
import { audienceOf } from './audience.js';
import { kindOf, shown } from './words.js';

/** @import { Flag, FlagEnvironment, Strategy, Variant } from './types.d.ts' */

/** @typedef {{ name: string, before: readonly string[], after: readonly string[] }} Difference what only the one and only the other has */
/** @typedef {ReadonlyMap<number, string>} SegmentNames */

/** Null stands for a moment at which there was no such flag. @param {Flag | null} before @param {Flag | null} after @param {SegmentNames} segmentNames @returns {readonly Difference[]} */
export function differencesOf(before, after, segmentNames) {
  const [old, now] = [before, after].map((flag) => (flag === null ? NO_PARTS : partsOf(flag, segmentNames)));
  const names = [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])];
  return names.flatMap((name) => {
    const [had, has] = [old?.get(name) ?? [], now?.get(name) ?? []];
    if (JSON.stringify(had) === JSON.stringify(has)) return [];
    const gone = had.filter((text) => !has.includes(text));
    const come = has.filter((text) => !had.includes(text));
    // The same texts in another order.
    if (gone.length + come.length === 0) return [{ name: `${name}, in order`, before: had, after: has }];
    return [{ name, before: gone, after: come }];
  });
}

/** @type {ReadonlyMap<string, readonly string[]>} */
const NO_PARTS = new Map();

/** @param {Flag} flag @param {SegmentNames} segmentNames @returns {ReadonlyMap<string, readonly string[]>} */
function partsOf(flag, segmentNames) {
  const { description, type, stale, impressionData, archived, tags, dependencies, links } = flag;
  return new Map([
    ['the flag', [archived ? 'archived' : 'there']],
    ['description', description ? [description] : []],
    ['type', [type]],
    ['stale', [stale ? 'yes' : 'no']],
    ['impression data', [impressionData ? 'yes' : 'no']],
    ['tags', tags.map((tag) => `${tag.type}: ${tag.value}`)],
    ['links', links.map(({ url }) => url)],
    ['dependencies', dependencies.map(dependencyText)],
    ...flag.environments.flatMap((one) => environmentParts(one, segmentNames)),
    ['variants', (flag.variants ?? []).map(variantText)],
  ]);
}

/** @param {FlagEnvironment} environment @param {SegmentNames} segmentNames @returns {[string, readonly string[]][]} */
function environmentParts({ name, enabled, strategies }, segmentNames) {
  return [
    [name, [enabled ? 'on' : 'off']],
    [`strategies in ${name}`, strategies.map((one) => strategyText(one, segmentNames))],
  ];
}

/** @param {Flag['dependencies'][number]} dependency */
const dependencyText = ({ feature, enabled, variants }) =>
  `${feature} ${enabled ? 'on' : 'off'}${variants.length === 0 ? '' : ` with ${variants.join(' or ')}`}`;

/** @param {Variant} variant */
export const variantText = ({ name, weight, weightType, stickiness, payload, overrides }) =>
  [
    `${name} ${weight / 10} %`,
    weightType === 'fix' ? 'fixed' : '',
    stickiness === 'default' ? '' : `by ${stickiness}`,
    payload === undefined ? '' : `with ${shown(payload.value)}`,
    ...overrides.map(({ contextName, values }) => `always for ${contextName} ${values.join(', ')}`),
  ]
    .filter(Boolean)
    .join(', ');

/** All that decides, so that strategies which differ have different texts. @param {Strategy} strategy @param {SegmentNames} segmentNames */
function strategyText(strategy, segmentNames) {
  const { name, title, disabled, parameters, variants } = strategy;
  const { rollout: _, ...others } = parameters ?? {};
  const settings = Object.entries(others)
    .filter(([, value]) => value !== '' && value !== 'default' && value !== strategy.featureName)
    .map(([key, value]) => `${key} ${shown(value)}`);
  return [
    `${title || kindOf(name)}: ${audienceOf(strategy, segmentNames, Number.POSITIVE_INFINITY)}`,
    ...settings,
    ...variants.map(variantText),
    disabled === true ? 'disabled' : '',
  ]
    .filter(Boolean)
    .join(', ');
}
