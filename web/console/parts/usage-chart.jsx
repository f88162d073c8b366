/** How often applications evaluated a flag, the flags of a project or all flags, as curves by the minute, the hour or the day, with what was changed meanwhile. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { messageOf, path } from '../client.js';
import { counted, number } from '../format.js';
import { asOption, Filter } from '../forms/choice.jsx';
import { useResource } from '../resource.jsx';
import { useSession } from '../session.js';
import { deedOf, NOTICED } from '../words.js';
import { Plot, STEPS, sumOf } from './plot.jsx';

/** @import { Environment, FoundEvents, LoggedEvent, RawFlagUsage, UsageSums } from '../types.d.ts' */
/** @import { Mark } from './plot.jsx' */

/** Spans that can be looked at, in hours. Beyond two days the server adds the hours of a day up. @type {readonly (readonly [string, string])[]} */
const SPANS = [
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['48', 'Last 48 hours'],
  ['168', 'Last 7 days'],
  ['720', 'Last 30 days'],
  ['2160', 'Last 90 days'],
];

/** Hours up to which a step is an hour. */
const BY_HOUR_MAX = 48;

/** Changes of several flags that are marked, the newest. */
const MARKS_MAX = 200;

/** @typedef {UsageSums['data'][number] & Partial<RawFlagUsage['data'][number]>} Count */

/** Ways to tell counts apart: by each the parts of a count, with their names. @type {Readonly<Record<string, readonly [text: string, parts: (count: Count) => readonly (readonly [string, number])[]]>>} */
const WAYS = {
  outcome: [
    'On and off',
    ({ yes, no }) => [
      ['on', yes],
      ['off', no],
    ],
  ],
  variant: ['By variant', ({ variants = {} }) => Object.entries(variants)],
  environment: ['By environment', ({ environment, yes, no }) => [[environment, yes + no]]],
  application: [
    'By application',
    ({ appName, yes, no }) => (appName === undefined ? [] : [[appName, yes + no]]),
  ],
};

/** @param {{ flag: string, environments: readonly Pick<Environment, 'name' | 'type'>[], events: readonly LoggedEvent[] }} props */
export function UsageChart({ flag, environments, events }) {
  // What is on in production is what most look for.
  const first = environments.find(({ type }) => type === 'production')?.name ?? '';
  const marks = useMemo(() => events.map((event) => markOf(event, '')), [events]);
  return (
    <section class="card" aria-label="Usage">
      <Usage
        at={path`/client-metrics/features/${flag}/raw?`}
        of={path`feature=${flag}`}
        first={first}
        marks={marks}
        none="No application has evaluated it in this time."
      />
    </section>
  );
}

/** The use of all flags of a project; without one of all that one sees. @param {{ project?: string }} props */
export function FlagsUsage({ project = '' }) {
  const session = useSession();
  const of = path`project=${project}`;
  const changes = useResource(
    /** @returns {Promise<FoundEvents>} */
    () => {
      const asked = new URLSearchParams({ type: `IS_ANY_OF:${NOTICED}`, limit: String(MARKS_MAX) });
      if (project !== '') asked.set('project', `IS:${project}`);
      return session.client.get(`/search/events?${asked}`);
    },
    [session, project],
    ({ type }) => NOTICED.includes(type),
  );
  const found = changes.loaded.value?.value.events;
  const marks = useMemo(() => found?.map((event) => markOf(event, `${event.featureName ?? ''}: `)), [found]);
  return (
    <section class="part" aria-label="Usage">
      <Usage
        at={`/client-metrics/usage?${of}&`}
        of={of}
        marks={marks}
        none="No application has evaluated flags in this time."
      />
    </section>
  );
}

/** @param {LoggedEvent | FoundEvents['events'][number]} event @param {string} flag */
const markOf = (event, flag) => ({
  at: Date.parse(event.createdAt),
  text: `${flag}${deedOf(event)} by ${event.createdBy}`,
  environment: event.environment,
});

/** @param {{ at: string, of: string, none: string, first?: string, marks?: readonly (Mark & { environment: string | null })[] | undefined }} props `of`: the flags whose minutes are summed */
function Usage({ at, of, none, first = '', marks = [] }) {
  const { client } = useSession();
  const [hours, setHours] = useState('48');
  const [environment, setEnvironment] = useState(first);
  const [wanted, setWay] = useState('outcome');
  /** @returns {Promise<{ hours: number, data: readonly Count[] }>} */
  const load = async () => {
    const { data } = await client.get(
      hours === '1' ? `/client-metrics/usage?${of}&step=minute` : `${at}hoursBack=${hours}`,
    );
    return { hours: Number(hours), data };
  };
  // Another period is loaded while the one before it stays in sight.
  const shown = useRef(/** @type {Awaited<ReturnType<typeof load>> | undefined} */ (undefined));
  const usage = useResource(load, [client, at, hours]);
  shown.current = usage.loaded.value?.value ?? shown.current;
  useEffect(() => {
    if (hours !== '1') return;
    const timer = setInterval(() => {
      if (!document.hidden) void usage.refresh();
    }, STEPS.minute.ms);
    return () => clearInterval(timer);
  }, [usage]);
  const loaded = shown.current;
  const data = loaded?.data ?? NOTHING;
  const names = distinct(data.map((count) => count.environment));
  const here = names.includes(environment) ? environment : '';
  const ways = Object.entries(WAYS)
    .filter(
      ([, [, parts]]) => distinct(data.flatMap((count) => parts(count).map(([name]) => name))).length > 1,
    )
    .map(([way, [text]]) => /** @type {const} */ ([way, text]));
  const way = ways.some(([key]) => key === wanted) ? wanted : 'outcome';
  const counts = data.filter((count) => here === '' || count.environment === here);
  const picture = useMemo(() => pictureOf(counts, loaded?.hours ?? BY_HOUR_MAX, way), [loaded, here, way]);
  const [yes, no] = [sumOf(counts.map((count) => count.yes)), sumOf(counts.map((count) => count.no))];
  const text = `${counted(yes + no, 'evaluation')} in ${here === '' ? 'all environments' : here}, ${number(Math.round((100 * yes) / Math.max(1, yes + no)))} % on`;
  return (
    <>
      <div class="row">
        <h2>Usage</h2>
        <div class="row usage-filters">
          {ways.length < 2 ? null : <Filter label="Curves" options={ways} value={way} change={setWay} />}
          {names.length < 2 ? null : (
            <Filter
              label="Environment"
              options={[['', 'All environments'], ...names.map(asOption)]}
              value={here}
              change={setEnvironment}
            />
          )}
          <Filter label="Period" options={SPANS} value={hours} change={setHours} />
        </div>
      </div>
      <p class="muted" role="status">
        {usage.error.value !== null
          ? messageOf(usage.error.value)
          : loaded?.hours !== Number(hours)
            ? 'Loading…'
            : counts.length === 0
              ? none
              : text}
      </p>
      {counts.length === 0 ? null : (
        <Plot
          {...picture}
          label={text}
          marks={marks.filter(
            (mark) => here === '' || mark.environment === null || mark.environment === here,
          )}
        />
      )}
    </>
  );
}

/** @type {readonly Count[]} */
const NOTHING = [];

/** Every minute, hour or day up to now, those without a report included. @param {readonly Count[]} counts @param {number} hours @param {string} way */
function pictureOf(counts, hours, way) {
  /** @type {keyof typeof STEPS} */
  const step = hours === 1 ? 'minute' : hours <= BY_HOUR_MAX ? 'hour' : 'day';
  const { ms } = STEPS[step];
  const length = Math.round((hours * STEPS.hour.ms) / ms);
  const first = Math.floor(Date.now() / ms) - length + 1;
  /** @type {Map<string, number[]>} */
  const series = new Map();
  for (const count of counts) {
    const index = Math.floor(Date.parse(count.timestamp) / ms) - first;
    for (const [name, value] of WAYS[way]?.[1](count) ?? []) {
      const values = series.get(name) ?? Array.from({ length }, () => 0);
      series.set(name, values);
      if (index >= 0) values[index] = (values[index] ?? 0) + value;
    }
  }
  return {
    step,
    times: Array.from({ length }, (_, index) => (first + index) * ms),
    series: [...series].map(([name, values]) => ({ name, values })),
  };
}

/** @param {readonly string[]} names */
const distinct = (names) => [...new Set(names)].sort();
