/** A flag in its environments, production first: where it is on and for whom, what differs from production, and what can be done to its strategies. */
import { useState } from 'preact/hooks';
import { amountOf, audienceOfAll } from '../audience.js';
import { environmentDifferences } from '../differences.js';
import { switchOnFor } from '../edit/switch.js';
import { counted, number } from '../format.js';
import { later } from '../later.jsx';
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

/** @import { ComponentChildren } from 'preact' */
/** @import { Difference } from '../differences.js' */
/** @import { At } from '../edit/strategy-edits.jsx' */
/** @import { ChangeRequest, FlagEnvironment, FlagUsage, Strategy, Variant } from '../types.d.ts' */
/** @import { FlagProps } from './flag-cards.jsx' */

const { copyStrategies, addStrategy, editStrategy, moveUp, removeStrategy, turnStrategy } = later;

/** Environments that stand side by side; of more, one is shown whole, and all are in reach above it. */
const SIDE_BY_SIDE_MAX = 2;

/** Strategies that are shown from the start. */
const STRATEGIES_OPEN_MAX = 4;

/**
 * @typedef {object} Shown
 * @property {FlagEnvironment} of
 * @property {boolean} isProd
 * @property {readonly Difference[]} differences from production
 * @property {string} measure the environment that it is compared with; empty where there is none
 * @property {FlagUsage['lastHourUsage'][number] | null} usage
 * @property {readonly ChangeRequest[]} requests
 */

/** @param {FlagProps & { usage: FlagUsage | null, variants: ReadonlyMap<string, readonly Variant[]>, requests: readonly ChangeRequest[] }} props */
export function Environments({ usage, variants, requests, ...props }) {
  const session = useSession();
  const [chosen, setChosen] = useState('');
  const { environments } = props.flag;
  /** @param {FlagEnvironment} of */
  const isProd = ({ name }) => isProduction(session, name);
  // The sort is stable: among themselves they stand in the order of the project.
  const ordered = [...environments].sort((one, other) => Number(isProd(other)) - Number(isProd(one)));
  const measure = environments.find(isProd);
  /** @type {readonly Shown[]} */
  const all = ordered.map((of) => ({
    of,
    isProd: isProd(of),
    // Where nothing is set up yet there is nothing to compare.
    differences:
      measure === undefined || measure === of || !of.hasStrategies
        ? []
        : environmentDifferences(measure, of, variants),
    measure: measure === undefined || measure === of ? '' : measure.name,
    usage: usage?.lastHourUsage.find(({ environment }) => environment === of.name) ?? null,
    requests: requests.filter(({ environment }) => environment === of.name),
  }));
  if (all.length <= SIDE_BY_SIDE_MAX) {
    return (
      <div class="environments">
        {all.map((one) => (
          <section key={one.of.name} class={looksOf(one)} aria-label={one.of.name}>
            <EnvironmentHead {...props} shown={one} name={<h2>{one.of.name}</h2>} />
            <EnvironmentBody {...props} shown={one} />
          </section>
        ))}
      </div>
    );
  }
  const open = all.find(({ of }) => of.name === chosen) ?? all[0];
  return (
    <>
      <ul class="plain environments environments-many" aria-label={`${all.length} environments`}>
        {all.map((one) => (
          <li key={one.of.name} class={`${looksOf(one)}${one === open ? ' card-open' : ''}`}>
            <EnvironmentHead
              {...props}
              shown={one}
              isShort
              name={
                <Button
                  looks="environment-name"
                  aria-pressed={one === open}
                  title={one.of.name}
                  act={() => setChosen(one.of.name)}
                >
                  {one.of.name}
                </Button>
              }
            />
            <p class="row hint environment-note">
              <State shown={one} />
              <span>{amountOf(one.of)}</span>
              {one.differences.length === 0 ? null : <span>{`≠ ${one.measure}`}</span>}
              {one.requests.length === 0 ? null : <span>{counted(one.requests.length, 'request')}</span>}
            </p>
          </li>
        ))}
      </ul>
      {open === undefined ? null : (
        <section key={open.of.name} class={looksOf(open)} aria-label={open.of.name}>
          <h2>{`In ${open.of.name}`}</h2>
          <EnvironmentBody {...props} shown={open} />
        </section>
      )}
    </>
  );
}

/** @param {Shown} shown */
const looksOf = ({ isProd, of }) =>
  `card${isProd ? ' card-production' : ''}${isProd && of.enabled ? ' card-live' : ''}`;

/** Says on or off in words, and of production that it is that, whatever its name. @param {{ shown: Shown }} props */
const State = ({ shown: { of, isProd } }) =>
  isProd ? (
    <span class={`badge badge-${of.enabled ? 'live' : 'production'}`}>
      {of.enabled ? 'On in production' : 'Off in production'}
    </span>
  ) : (
    <span class="muted" aria-hidden="true">
      {of.enabled ? 'on' : 'off'}
    </span>
  );

/** @param {FlagProps & { shown: Shown, name: ComponentChildren, isShort?: boolean }} props `isShort`: the state stands elsewhere */
const EnvironmentHead = ({ flag, may, shown, name, isShort = false }) => (
  <div class="line card-head">
    {name}
    {isShort ? null : <State shown={shown} />}
    <FlagSwitch
      project={flag.project}
      flag={flag.name}
      environment={shown.of.name}
      state={shown.of}
      isArchived={flag.archived || !may}
    />
  </div>
);

/** @param {FlagProps & { shown: Shown }} props */
function EnvironmentBody({ flag, etag, may, shown: { of, differences, measure, usage, requests } }) {
  const { strategies } = of;
  const at = { flag, etag, environment: of };
  return (
    <>
      {strategies.length === 0 ? (
        <p class="muted">{may ? 'Nobody gets it here yet.' : 'No strategies.'}</p>
      ) : (
        <Strategies of={of} at={may ? at : null} />
      )}
      {may ? <CardActions at={at} /> : null}
      {requests.map((one) => (
        <p key={one.id} class="row facts">
          <RequestState of={one} />
          <RequestLink of={one} />
        </p>
      ))}
      <div class="row facts">
        <Usage usage={usage} lastSeenAt={of.lastSeenAt} />
        {measure === '' ? null : <Differences of={of} differences={differences} measure={measure} />}
      </div>
    </>
  );
}

/** Many are one sentence until they are asked for. @param {{ of: FlagEnvironment, at: At | null }} props `at`: null where nothing may be done to them */
function Strategies({ of, at }) {
  const { strategies } = of;
  const list = (
    <ul class="plain strategies">
      {strategies.map((one, index) => (
        <StrategyItem
          key={one.id}
          of={one}
          actions={at === null ? null : <StrategyActions at={at} strategy={one} index={index} />}
        />
      ))}
    </ul>
  );
  if (strategies.length <= STRATEGIES_OPEN_MAX) {
    return (
      <>
        <p class="muted">{leadOf(of)}</p>
        {list}
      </>
    );
  }
  return (
    <details class="above">
      <summary>
        <span class="when-folded">
          <Sentence>{summaryOf(of)}</Sentence>
        </span>
        <span class="when-open">{leadOf(of)}</span>
      </summary>
      {list}
    </details>
  );
}

/** @param {FlagEnvironment} of */
const summaryOf = ({ enabled, strategies }) =>
  `${enabled ? 'On for' : 'Off. Would apply to'} ${audienceOfAll(strategies)}.`;

/** The begin of the sentence that the strategies below it end. @param {FlagEnvironment} of */
const leadOf = ({ enabled, strategies: { length } }) =>
  `${enabled ? 'On for' : 'Off. Would apply to'}${length === 1 ? '' : ` users in any of ${length} strategies`}:`;

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
  if (differences.length === 0) return of.hasStrategies ? <span>{`the same as ${measure}`}</span> : null;
  return (
    <details>
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
  const { flag, environment } = at;
  const { name } = environment;
  const isBare = environment.strategies.length === 0;
  const others = flag.environments.filter((one) => one.name !== name && one.strategies.length > 0);
  /** @param {string} text @param {string} label @param {() => unknown} act @param {string} [icon] */
  const button = (text, label, act, icon) => (
    <Button
      aria-label={label}
      looks={`button button-small${icon === undefined ? ' button-main' : ''}`}
      act={act}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {text}
    </Button>
  );
  return (
    <div class="row above">
      {isBare && !environment.enabled
        ? button('On for everyone', `On for everyone in ${name}`, () => switchOnFor(session, at, 'everyone'))
        : null}
      {isBare
        ? button('Choose who…', `Choose who… in ${name}`, () => addStrategy(session, at), 'people')
        : button('Add strategy…', `Add strategy in ${name}`, () => addStrategy(session, at), 'add')}
      {others.length === 0
        ? null
        : button(
            'Copy strategies…',
            `Copy strategies… to ${name}`,
            () => copyStrategies(session, at),
            'copy',
          )}
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
