/** Why a flag is on or off for somebody: the server explains it for a context that is typed in. */
import { useId, useState } from 'preact/hooks';
import { flagPath } from '../changes.jsx';
import { messageOf } from '../client.js';
import { asOption, Filter } from '../forms/choice.jsx';
import { useDraft } from '../forms/drafts.js';
import { TextArea } from '../forms/inputs.jsx';
import { Sentence, said } from '../said.jsx';
import { useSession } from '../session.js';
import { comparisonOf, kindText } from '../words.js';

/** @import { Explanation, Flag } from '../types.d.ts' */

/** @typedef {Explanation['strategies']['data'][number]} StrategyResult */

/** @param {{ flag: Flag }} props */
export function WhyCard({ flag }) {
  const { client, me } = useSession();
  const names = flag.environments.map(({ name }) => name);
  const first = { environment: names[0] ?? '', context: 'userId: ada' };
  const [{ environment, context }, set] = useDraft(`${me.user.id} why`, first);
  const [answer, setAnswer] = useState(/** @type {Explanation | string | null} */ (null));
  const id = useId();
  /** @param {Event} event */
  async function ask(event) {
    event.preventDefault();
    const body = { environment, context: contextOf(context) };
    setAnswer(await client.post(`${flagPath(flag.project, flag.name)}/explain`, body).catch(messageOf));
  }
  return (
    <section class="card" aria-label="Test with a user">
      <details>
        <summary>
          <h2>Test with a user</h2>
        </summary>
        <form class="stack above" onSubmit={ask}>
          <label for={id}>Context of the user, one field per line</label>
          <TextArea id={id} rows={2} value={context} change={(text) => set({ context: text })} />
          <div class="row">
            <Filter
              label="Environment to test"
              options={names.map(asOption)}
              value={environment}
              change={(chosen) => set({ environment: chosen })}
            />
            <button class="button">Why?</button>
          </div>
        </form>
        <div role="status">
          {answer === null ? null : typeof answer === 'string' ? (
            <p class="problem">{answer}</p>
          ) : (
            <Answer of={answer} />
          )}
        </div>
      </details>
    </section>
  );
}

/** Lines such as `userId: ada`. Other fields than the predefined ones may stand beside them. @param {string} text */
export function contextOf(text) {
  /** @type {Record<string, string>} */
  const context = {};
  for (const line of text.split('\n')) {
    const [, name, value] = /^\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) context[name] = value;
  }
  return context;
}

/** @param {{ of: Explanation }} props */
function Answer({ of }) {
  const { isEnabled, environment, variant, strategies, decidedBy, contextValues } = of;
  return (
    <>
      <p class="strong">
        {`${isEnabled ? 'On' : 'Off'} in ${environment}`}
        <Sentence>{isEnabled && variant.enabled ? `, with the variant ${said(variant.name)}` : ''}</Sentence>
        {`: ${reasonOf(decidedBy)}`}
      </p>
      <ul class="plain">
        {strategies.data.map((one) => (
          <StrategyAnswer key={one.id} of={one} contextValues={contextValues} />
        ))}
      </ul>
    </>
  );
}

/** @type {Readonly<Partial<Record<Explanation['decidedBy']['kind'], string>>>} */
const REASONS = {
  strategy: 'a strategy selects this user.',
  'no-strategy-matched': 'no strategy selects this user.',
  'flag-disabled': 'the flag is switched off there.',
  'environment-disabled': 'the environment is off.',
  'no-strategies': 'it has no strategies there.',
  'all-strategies-disabled': 'every strategy is disabled.',
};

/** @param {Explanation['decidedBy']} decidedBy */
const reasonOf = ({ kind, feature = '' }) =>
  REASONS[kind] ?? `the flag ${feature} that it depends on is not in the required state.`;

/** @param {{ of: StrategyResult, contextValues: Explanation['contextValues'] }} props */
function StrategyAnswer({ of: { name, title, result, constraints, segments, rollout }, contextValues }) {
  const verdict = result.enabled === true ? '✓' : result.enabled === false ? '✗' : '?';
  const word =
    result.enabled === true
      ? 'selects them'
      : result.enabled === false
        ? 'does not select them'
        : 'is not evaluated';
  return (
    <li>
      <p>
        <span aria-hidden="true">{`${verdict} `}</span>
        <Sentence>{`${title ? said(title) : kindText(name)} ${word}`}</Sentence>
      </p>
      <ul>
        {constraints.map((one, index) => (
          <li key={`constraint ${index}`}>
            <Sentence>{constraintText(one, contextValues[one.contextName])}</Sentence>
          </li>
        ))}
        {segments.map((one) => (
          <li key={`segment ${one.id}`}>
            <Sentence>{`${one.result ? '✓' : '✗'} in the segment ${said(one.name)}`}</Sentence>
          </li>
        ))}
        {rollout === null ? null : (
          <li key="rollout">
            <Sentence>{`${rollout.result ? '✓' : '✗'} among the first ${rollout.percentage} of 100: ${rollout.bucket === 0 ? `the context has no ${said(rollout.stickiness)}` : `number ${rollout.bucket}`}`}</Sentence>
          </li>
        )}
      </ul>
    </li>
  );
}

/** @param {StrategyResult['constraints'][number]} constraint @param {string | null | undefined} contextValue */
function constraintText(constraint, contextValue) {
  const { contextName, value, values, result } = constraint;
  const operator = /** @type {import('../operators.js').Operator} */ (constraint.operator);
  const compared = (value === undefined ? values : [value]).map((one) => said(one)).join(', ');
  const had = contextValue == null ? 'it is not in the context' : `it is ${said(contextValue)}`;
  return `${result ? '✓' : '✗'} ${said(contextName)} ${comparisonOf({ ...constraint, operator })} ${compared}: ${had}`;
}
