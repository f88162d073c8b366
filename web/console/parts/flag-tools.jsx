/** The tools above the list of flags: which of them are listed, in which order, and how the list looks. */
import { useMemo } from 'preact/hooks';
import { isNarrowed, listOf, queryOf, SEEN, stagesOf, tagsOf } from '../flag-filter.js';
import { COLUMNS, sortsOf } from '../flag-order.js';
import { counted, number } from '../format.js';
import { asOption, asOptions, Filter } from '../forms/choice.jsx';
import { Check, Checks, SearchBox } from '../forms/inputs.jsx';
import { hrefOf } from '../place.js';
import { useSession } from '../session.js';
import { FLAG_TYPES, STAGES } from '../words.js';
import { Button } from './button.jsx';
import { Popover } from './popover.jsx';

/** @import { FlagFilter } from '../flag-filter.js' */
/** @import { FlagSummary } from '../types.d.ts' */

/** @typedef {{ id: number, name: string }} Creator */

/**
 * @param {object} props
 * @param {string} props.project
 * @param {FlagFilter} props.filter
 * @param {(changed: Partial<FlagFilter>) => void} props.setFilter
 * @param {readonly string[]} props.environments
 * @param {readonly Creator[]} props.owners
 * @param {() => void} props.askOwners once their names are needed
 * @param {readonly FlagSummary[]} props.flags
 * @param {number} props.shown
 * @param {boolean} props.isBusy whether the list does not follow the filter yet
 */
export function FlagTools(props) {
  const { filter, setFilter, environments, flags, shown, isBusy } = props;
  const session = useSession();
  /** @type {[string, string][]} */
  const states = environments.flatMap((name) => [
    [`on ${name}`, `On in ${name}`],
    [`off ${name}`, `Off in ${name}`],
  ]);
  return (
    <>
      <Stages {...props} />
      <div class="row tools">
        <SearchBox
          label="Filter flags by name, description, type or tag"
          placeholder="Filter by name, description or tag"
          value={filter.text}
          change={(text) => setFilter({ text })}
        />
        {choice('Type', filter.type, [['', 'Any type'], ...FLAG_TYPES], (type) => setFilter({ type }))}
        {choice('State', filter.state, [['', 'On or off'], ['stale', 'Stale'], ...states], (state) =>
          setFilter({ state }),
        )}
        {session.isUser ? (
          <Button
            aria-pressed={filter.mine !== ''}
            act={() => setFilter({ mine: filter.mine === '' ? 'favorites' : '' })}
          >
            Favorites
          </Button>
        ) : null}
        <More {...props} />
        <Look filter={filter} setFilter={setFilter} environments={environments} />
        <p class="muted" role="status" aria-busy={isBusy}>
          {isNarrowed(filter) ? `${number(shown)} of ${counted(flags.length, 'flag')}` : ''}
        </p>
      </div>
    </>
  );
}

/** How many flags are in each stage of their life, whatever else narrows the list. @param {Pick<Parameters<typeof FlagTools>[0], 'project' | 'filter' | 'flags'>} props */
function Stages({ project, filter, flags }) {
  const counts = useMemo(() => stagesOf(flags), [flags]);
  const { archived, ...stages } = STAGES;
  return (
    <nav class="row tabs" aria-label="Stages">
      {[['', 'all'], ...Object.entries(stages)].map(([stage = '', word]) => (
        <a
          key={stage}
          class="tab"
          href={hrefOf({ view: 'flags', project, query: queryOf({ ...filter, stage }) })}
          aria-current={filter.stage === stage ? 'true' : undefined}
        >
          {word} <span class="number">{number(stage === '' ? flags.length : (counts.get(stage) ?? 0))}</span>
        </a>
      ))}
      <a class="tab" href={hrefOf({ view: 'archive', project })}>
        {archived}
      </a>
    </nav>
  );
}

/**
 * The filters that are seldom needed. The word that opens them says how many of them leave flags out.
 * @param {Parameters<typeof FlagTools>[0]} props
 */
function More({ filter, setFilter, owners, askOwners, flags }) {
  const tags = useMemo(() => tagsOf(flags), [flags]);
  const count = [filter.seen, filter.owner, filter.tag].filter(Boolean).length;
  return (
    <Popover title={count === 0 ? 'More filters' : `More filters: ${count}`} onOpen={askOwners}>
      {choice('Use', filter.seen, SEEN, (seen) => setFilter({ seen }))}
      {choice('Owner', filter.owner, [['', 'Any owner'], ...asOptions(owners)], (owner) =>
        setFilter({ owner }),
      )}
      {choice('Tag', filter.tag, [['', 'Any tag'], ...tags.map(asOption)], (tag) => setFilter({ tag }))}
    </Popover>
  );
}

/** The choice of columns, and of the height of rows. @param {{ filter: FlagFilter, setFilter: (changed: Partial<FlagFilter>) => void, environments: readonly string[] }} props */
function Look({ filter, setFilter, environments }) {
  const session = useSession();
  const hidden = listOf(filter.hide);
  /** @param {string} text @param {boolean} checked @param {(checked: boolean) => void} change */
  const check = (text, checked, change) => <Check key={text} {...{ text, checked, change }} />;
  return (
    <Popover title="View">
      {choice('Order', filter.sort, sortsOf(environments), (sort) => setFilter({ sort }))}
      {check('Dense rows', filter.rows === 'dense', (isDense) => setFilter({ rows: isDense ? 'dense' : '' }))}
      {session.isUser
        ? check('Favorites first', filter.first === '', (isFirst) =>
            setFilter({ first: isFirst ? '' : 'none' }),
          )
        : null}
      <fieldset class="stack">
        <legend>Columns</legend>
        <Checks
          options={COLUMNS}
          chosen={[...listOf(filter.show)]}
          change={(keys) => setFilter({ show: keys.join(',') })}
        />
        {environments.length < 2 ? null : (
          <Checks
            options={environments.map(asOption)}
            chosen={environments.filter((name) => !hidden.has(name))}
            change={(shown) =>
              setFilter({ hide: environments.filter((name) => !shown.includes(name)).join(',') })
            }
          />
        )}
      </fieldset>
    </Popover>
  );
}

/** @param {string} label @param {string} value @param {readonly (readonly [string, string])[]} options @param {(value: string) => void} change */
function choice(label, value, options, change) {
  return <Filter label={label} options={options} value={value} change={change} />;
}
