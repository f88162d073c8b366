/** Makes flags in one environment as they are in another: the differences, each with a box, and the chosen ones carried out as one change. */
import { changing, messageOf, path } from '../client.js';
import { changesOf, environmentDifferences } from '../differences.js';
import { counted, number } from '../format.js';
import { asOption } from '../forms/choice.jsx';
import { isSame } from '../forms/conflict.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { Check } from '../forms/inputs.jsx';
import { loadNames, names } from '../names.js';
import { notice } from '../notices.jsx';
import { DifferenceLine } from '../parts/difference-line.jsx';
import { said } from '../said.jsx';

/** @import { Change } from '../client.js' */
/** @import { ProposedChange } from '../proposals.jsx' */
/** @import { FlagEnvironment, Session, Variant } from '../types.d.ts' */

/** Flags of one call, as many as the server takes. */
const FLAGS_MAX = 250;

/** @typedef {{ name: string, enabled: boolean, strategies: readonly any[], variants: readonly Variant[], ids: readonly string[] }} Here `ids`: of the strategies; segments of strategies by name */
/** @typedef {{ name: string, presence: string, environments: readonly Here[] }} Shown */
/** @typedef {{ flag: string, environment: string, field: 'enabled' | 'strategies' | 'variants', before: any, after: any, ids: readonly string[] }} Part `ids`: of the strategies that are there before */
/** @typedef {{ from: string, to: string, left: readonly string[] }} Values `left`: keys of the differences that stay */

/** @param {Session} session @param {string} project @param {readonly string[]} flags @param {readonly string[]} environments */
export async function promote(session, project, flags, environments) {
  const at = path`/projects/${project}/flags-as-code`;
  /** @type {readonly Shown[]} */
  let shown = [];
  try {
    [shown] = await Promise.all([read(session, at, new Set(flags)), loadNames(session)]);
  } catch (error) {
    notice('refused', messageOf(error));
    return;
  }
  /** @param {Values} values */
  const offered = ({ from, to }) => differencesBetween(shown, from, to);
  /** @param {Values} values */
  const chosen = (values) => offered(values).parts.filter((one) => !values.left.includes(keyOf(one, values)));
  /** @param {readonly Part[]} parts @returns {Change} */
  const sending = (parts) => changing('POST', at, { changes: parts.map(({ ids: _, ...change }) => change) });
  const [first = '', second = first] = environments;
  await openEdit(session, {
    title:
      flags.length === 1 ? `Promote ${said(flags[0] ?? '')}` : `Promote ${counted(flags.length, 'flag')}`,
    agree: 'Promote',
    wide: true,
    fields: [
      field('from', 'From', 'choice', { options: environments.map(asOption) }),
      field('to', 'To', 'choice', { options: environments.map(asOption) }),
      field('left', 'Differences', 'own', {
        paths: ['changes'],
        missing: (values) =>
          chosen(values).length > 0 ? [] : [{ path: '/body/changes', message: 'Choose a difference.' }],
        render: ({ values, set }) => <Boxes parts={offered(values).parts} values={values} set={set} />,
      }),
    ],
    values: /** @type {Values} */ ({ from: first, to: second, left: [] }),
    sentence(values) {
      const { from, to } = values;
      const { parts, count } = offered(values);
      if (from === to) return 'Choose two environments.';
      if (parts.length === 0) return `Nothing differs between ${from} and ${to}.`;
      const more =
        count > FLAGS_MAX
          ? ` ${number(count)} flags differ, and these are of the first ${FLAGS_MAX}: promote the others after them.`
          : '';
      return `${counted(chosen(values).length, 'change')} in ${to}, applied together.${more}`;
    },
    change(values) {
      const parts = chosen(values);
      const proposal = { project, environment: values.to, changes: parts.flatMap(proposedOf) };
      return { ...sending(parts), proposal };
    },
    done: (values) =>
      `${counted(chosen(values).length, 'change is', 'changes are')} promoted to ${values.to}.`,
    environment: ({ to }) => to,
    undo: (values) =>
      sending(chosen(values).map(({ before, after, ...one }) => ({ ...one, before: after, after: before }))),
  });
}

/** The flags that are wanted, of all pages. @param {Session} session @param {string} at @param {ReadonlySet<string>} wanted */
async function read({ client }, at, wanted) {
  /** @type {Shown[]} */
  const found = [];
  for (let offset = 0; offset !== undefined && found.length < wanted.size; ) {
    const { flags, nextOffset } = await client.get(`${at}?limit=${FLAGS_MAX}&offset=${offset}`);
    found.push(
      ...flags.filter((/** @type {Shown} */ one) => one.presence === 'active' && wanted.has(one.name)),
    );
    offset = nextOffset;
  }
  return found;
}

/** The differences of as many flags as one call takes, and how many flags differ. @param {readonly Shown[]} flags @param {string} from @param {string} to */
function differencesBetween(flags, from, to) {
  const byFlag = flags
    .map(({ name: flag, environments }) => {
      const [here, there] = [from, to].map((name) => environments.find((one) => one.name === name));
      if (here === undefined || there === undefined) return [];
      return /** @type {const} */ (['strategies', 'variants', 'enabled']).flatMap((field) => {
        const [before, after] = [there[field], here[field]];
        return isSame(before, after) ? [] : [{ flag, environment: to, field, before, after, ids: there.ids }];
      });
    })
    .filter((parts) => parts.length > 0);
  return { parts: byFlag.slice(0, FLAGS_MAX).flat(), count: byFlag.length };
}

/** @param {Part} part @param {Values} values */
const keyOf = ({ flag, field }, { from, to }) => `${from} ${to} ${field} ${flag}`;

/** @param {{ parts: readonly Part[], values: Values, set: (changed: Partial<Values>) => void }} props */
function Boxes({ parts, values, set }) {
  const keys = parts.map((one) => keyOf(one, values));
  const isAll = !keys.some((key) => values.left.includes(key));
  return (
    <div class="stack differences">
      {parts.length < 2 ? null : (
        <Check text="All" checked={isAll} change={() => set({ left: isAll ? keys : [] })} />
      )}
      {parts.map((part) => {
        const key = keyOf(part, values);
        const others = values.left.filter((one) => one !== key);
        return (
          <Check
            key={key}
            text={<DifferenceLine of={inWords(part)} />}
            checked={!values.left.includes(key)}
            change={(isOn) => set({ left: isOn ? others : [...others, key] })}
          />
        );
      })}
    </div>
  );
}

/** @param {Part} part */
function inWords({ flag, field, before, after }) {
  const [old, now] = [before, after].map((value) => environmentOf(flag, { [field]: value }));
  const variants = new Map([
    ['before', /** @type {readonly Variant[]} */ (field === 'variants' ? before : [])],
    ['after', /** @type {readonly Variant[]} */ (field === 'variants' ? after : [])],
  ]);
  const [difference] = environmentDifferences(
    { .../** @type {FlagEnvironment} */ (old), name: 'before' },
    { .../** @type {FlagEnvironment} */ (now), name: 'after' },
    variants,
  );
  // Sentences leave out what seldom matters, such as the group of a rollout.
  const found = difference ?? changesOf({ preData: { [field]: before }, data: { [field]: after } })[0];
  const { name, ...texts } = found ?? { name: field, before: [], after: [] };
  return { ...texts, name: `${said(flag)} · ${name.replace(/^the /, '')}` };
}

/** The changes of a request that stand for it: strategies are changed in their places. @param {Part} part @returns {readonly ProposedChange[]} */
function proposedOf({ flag: feature, field, before, after, ids }) {
  if (field === 'enabled') return [{ feature, action: 'updateEnabled', payload: { enabled: after } }];
  if (field === 'variants') return [{ feature, action: 'patchVariant', payload: { variants: after } }];
  /** @type {readonly ProposedChange[]} */
  const changed = withSegmentIds(after).flatMap((one, index) => {
    if (isSame(after[index], before[index])) return [];
    return index < ids.length
      ? [{ feature, action: 'updateStrategy', payload: { ...one, id: ids[index] } }]
      : [{ feature, action: 'addStrategy', payload: { ...one, sortOrder: index } }];
  });
  const gone = ids.slice(after.length).map((id) => ({ feature, action: 'deleteStrategy', payload: { id } }));
  return [...changed, ...gone];
}

/** @param {readonly any[]} strategies @returns {readonly any[]} */
function withSegmentIds(strategies) {
  const ids = new Map([...names.value.segments].map(([id, name]) => [name, id]));
  return strategies.map((one) => ({
    ...one,
    segments: one.segments.map((/** @type {string} */ name) => ids.get(name) ?? 0),
  }));
}

/** The environment of a flag that has only this. @param {string} flag @param {Partial<Here>} has */
const environmentOf = (flag, { enabled = false, strategies = [] }) => ({
  enabled,
  variantCount: 0,
  strategies: withSegmentIds(strategies).map((one) => ({ ...one, featureName: flag })),
});
