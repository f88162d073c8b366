/** A flag in one environment: a summary, what differs there from production, and the strategies with what can be done to them. */
import { audienceOfAll } from '../audience.js';
import { environmentDifferences } from '../differences.js';
import { copyStrategies } from '../edit/copy-strategies.jsx';
import { addStrategy, editStrategy, moveUp, removeStrategy, turnStrategy } from '../edit/strategy-edits.jsx';
import { counted, number } from '../format.js';
import { Sentence, visible } from '../said.jsx';
import { isProduction, useSession } from '../session.js';
import { kindOf } from '../words.js';
import { Button } from './button.jsx';
import { DifferenceLine } from './difference-line.jsx';
import { Icon } from './icon.jsx';
import { MoreMenu } from './more-menu.jsx';
import { RequestLink, RequestState } from './request-state.jsx';
import { StrategyItem } from './strategy.jsx';
import { FlagSwitch } from './switch.jsx';
import { TimeAgo } from './time-ago.jsx';

/** @import { Difference } from '../differences.js' */
/** @import { At } from '../edit/strategy-edits.jsx' */
/** @import { ChangeRequest, FlagEnvironment, FlagUsage, Strategy, Variant } from '../types.d.ts' */
/** @import { FlagProps } from './flag-cards.jsx' */

/** Strategies that are shown from the start: those of production, and the others where all are no more than this. */
const STRATEGIES_OPEN_MAX = 6;

/** @param {FlagProps & { usage: FlagUsage | null, variants: ReadonlyMap<string, readonly Variant[]>, requests: readonly ChangeRequest[] }} props */
export function EnvironmentCards({ usage, variants, requests, ...props }) {
  const session = useSession();
  const { environments } = props.flag;
  /** @param {FlagEnvironment} of */
  const isProd = ({ name }) => isProduction(session, name);
  // The sort is stable: among themselves they stand in the order of the project.
  const ordered = [...environments].sort((one, other) => Number(isProd(other)) - Number(isProd(one)));
  const measure = environments.find(isProd);
  const count = environments.reduce((sum, { strategies }) => sum + strategies.length, 0);
  return ordered.map((of) => (
    <EnvironmentCard
      key={of.name}
      {...props}
      of={of}
      isProd={isProd(of)}
      differences={
        measure === undefined || measure === of ? null : environmentDifferences(measure, of, variants)
      }
      measure={measure?.name ?? ''}
      usage={usage?.lastHourUsage.find(({ environment }) => environment === of.name) ?? null}
      requests={requests.filter(({ environment }) => environment === of.name)}
      isOpen={(isProd(of) ? of.strategies.length : count) <= STRATEGIES_OPEN_MAX}
    />
  ));
}

/**
 * @param {FlagProps & { of: FlagEnvironment, isProd: boolean, differences: readonly Difference[] | null, measure: string, usage: FlagUsage['lastHourUsage'][number] | null, requests: readonly ChangeRequest[], isOpen: boolean, }} props
 */
function EnvironmentCard({ flag, etag, of, may, isProd, differences, measure, usage, requests, isOpen }) {
  const { project, name, archived } = flag;
  const { name: environment, enabled, strategies } = of;
  const at = { flag, etag, environment: of };
  return (
    <section class={`card${isProd ? ' card-production' : ''}`} aria-label={environment}>
      <div class="card-head">
        <h2>
          {environment}
          {isProd ? <span class="badge badge-production">production</span> : null}
        </h2>
        <span class="muted state" aria-hidden="true">
          {enabled ? 'on' : 'off'}
        </span>
        <FlagSwitch
          project={project}
          flag={name}
          environment={environment}
          state={of}
          isArchived={archived || !may}
        />
      </div>
      <p class="environment-summary">
        <Sentence>{summaryOf(of)}</Sentence>
      </p>
      {requests.map((one) => (
        <p key={one.id} class="row facts">
          <RequestState of={one} />
          <RequestLink of={one} />
        </p>
      ))}
      <div class="row facts environment-facts">
        <Usage usage={usage} lastSeenAt={of.lastSeenAt} />
        {differences === null ? null : <Differences of={of} differences={differences} measure={measure} />}
      </div>
      {strategies.length === 0 ? null : (
        <details class="environment-strategies" open={isOpen}>
          <summary>{counted(strategies.length, 'strategy', 'strategies')}</summary>
          <ul class="plain strategies">
            {strategies.map((one, index) => (
              <StrategyItem
                key={one.id}
                of={one}
                actions={may ? <StrategyActions at={at} strategy={one} index={index} /> : null}
              />
            ))}
          </ul>
        </details>
      )}
      {may ? <CardActions at={at} /> : null}
    </section>
  );
}

/** @param {FlagEnvironment} of */
function summaryOf({ enabled, strategies }) {
  if (strategies.length === 0) return 'No strategies yet: the switch adds the first one.';
  return `${enabled ? 'On for' : 'Off. Would apply to'} ${audienceOfAll(strategies)}.`;
}

/** @param {{ usage: FlagUsage['lastHourUsage'][number] | null, lastSeenAt: string | null }} props */
function Usage({ usage, lastSeenAt }) {
  const count = usage === null ? 0 : usage.yes + usage.no;
  return (
    <>
      {usage === null || count === 0 ? null : (
        <span>{`${counted(count, 'evaluation')} in the last hour, ${number(Math.round((100 * usage.yes) / count))} % on`}</span>
      )}
      {lastSeenAt === null ? <span>never used here</span> : <TimeAgo iso={lastSeenAt} prefix="last used " />}
    </>
  );
}

/** @param {{ of: FlagEnvironment, differences: readonly Difference[], measure: string }} props */
function Differences({ of, differences, measure }) {
  // Where nothing is set up yet there is nothing to compare.
  if (differences.length === 0) return of.hasStrategies ? <span>{`the same as ${measure}`}</span> : null;
  return (
    <details class="environment-differences">
      <summary class="badge badge-warn">
        {`differs from ${measure} in ${differences.map(({ name }) => name).join(' and ')}`}
      </summary>
      <p class="muted">{`${measure} → ${of.name}:`}</p>
      {differences.map((one) => (
        <DifferenceLine key={one.name} of={one} />
      ))}
    </details>
  );
}

/** @param {{ at: At }} props */
function CardActions({ at }) {
  const session = useSession();
  const { name } = at.environment;
  const others = at.flag.environments.filter((one) => one.name !== name && one.strategies.length > 0);
  /** @param {string} text @param {string} label @param {() => Promise<void>} act */
  const button = (text, label, act) => (
    <Button aria-label={label} act={() => act()}>
      <Icon name={text.startsWith('Add') ? 'add' : 'copy'} />
      {text}
    </Button>
  );
  return (
    <div class="row strategy-add">
      {button('Add strategy…', `Add strategy in ${name}`, () => addStrategy(session, at))}
      {others.length === 0
        ? null
        : button('Copy strategies…', `Copy strategies… to ${name}`, () => copyStrategies(session, at))}
    </div>
  );
}

/** @param {{ at: At, strategy: Strategy, index: number }} props */
function StrategyActions({ at, strategy, index }) {
  const session = useSession();
  const name = `${visible(strategy.title || kindOf(strategy.name))} in ${at.environment.name}`;
  const isDisabled = strategy.disabled === true;
  return (
    <span class="strategy-actions">
      <Button
        looks="button button-small"
        aria-label={`Edit ${name}`}
        act={() => editStrategy(session, at, strategy)}
      >
        Edit
      </Button>
      <MoreMenu
        label={`More for ${name}`}
        of={name}
        items={[
          index === 0 ? null : ['Move up', 'up', () => moveUp(session, at, index)],
          [
            isDisabled ? 'Enable' : 'Disable',
            isDisabled ? 'check' : 'close',
            () => turnStrategy(session, at, strategy),
          ],
          ['Remove', 'remove', () => removeStrategy(session, at, strategy), true],
        ]}
      />
    </span>
  );
}
