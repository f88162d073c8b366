/** The strategies that use something, each with the way to its flag. */
import { openPanel } from '../forms/panel.jsx';
import { FlagLink } from '../parts/links.jsx';
import { Empty } from '../parts/states.jsx';
import { useRead, whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
import { kindOf } from '../words.js';

/** @import { StrategyUse } from '../types.d.ts' */

/** @param {string} at @param {string} title */
export const showUses = (at, title) => openPanel(title, <Uses at={at} />);

/** @param {{ at: string }} props */
function Uses({ at }) {
  return whenLoaded(useRead(at), (/** @type {{ strategies: readonly StrategyUse[] }} */ { strategies }) =>
    strategies.length === 0 ? (
      <Empty title="No strategy uses it">It can be deleted without affecting users.</Empty>
    ) : (
      <ul class="plain lines">
        {strategies.map(({ id, projectId, featureName, environment, strategyName }) => (
          <li key={id}>
            <FlagLink project={projectId} name={featureName} />
            <span class="muted">
              {` in ${environment}: `}
              <Name text={kindOf(strategyName)} />
            </span>
          </li>
        ))}
      </ul>
    ),
  );
}
