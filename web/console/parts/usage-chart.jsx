/** How often applications evaluated a flag, hour by hour or day by day: what was on and what was off in each environment, and by whom. */
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { path } from '../client.js';
import { counted, date, dateTime, number } from '../format.js';
import { Filter } from '../forms/choice.jsx';
import { useResource } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';
import { showApplication } from './application.jsx';
import { Bars } from './bars.jsx';
import { Button } from './button.jsx';

/** @import { RawFlagUsage } from '../types.d.ts' */

const HOUR_MS = 3_600_000;

/** Spans that can be looked at, in hours. Beyond two days the server adds the hours of a day up. @type {readonly (readonly [string, string])[]} */
const SPANS = [
  ['24', 'Last 24 hours'],
  ['48', 'Last 48 hours'],
  ['168', 'Last 7 days'],
  ['720', 'Last 30 days'],
];

/** From as many hours on there is one bar for each day. */
const BY_DAY_FROM = 72;

/** @typedef {RawFlagUsage['data']} Counts */

/** @param {{ flag: string, environments: readonly string[] }} props */
export function UsageChart({ flag, environments }) {
  const session = useSession();
  const { client } = session;
  const [hours, setHours] = useState('48');
  const [application, setApplication] = useState('');
  /** @returns {Promise<RawFlagUsage>} */
  const load = () => client.get(path`/client-metrics/features/${flag}/raw?hoursBack=${hours}`);
  const { data } = useResource(load, [client, flag, hours]).loaded.value?.value ?? { data: [] };
  const applications = [...new Set(data.map(({ appName }) => appName))].sort();
  const counts = application === '' ? data : data.filter(({ appName }) => appName === application);
  return (
    <section class="card" aria-label="Usage">
      <div class="card-head">
        <h2>Usage</h2>
        <div class="row">
          {applications.length < 2 ? null : (
            <Filter
              label="Application"
              options={[
                ['', 'All applications'],
                ...applications.map((name) => /** @type {const} */ ([name, name])),
              ]}
              value={application}
              change={setApplication}
            />
          )}
          <Filter label="Period" options={SPANS} value={hours} change={setHours} />
        </div>
      </div>
      {counts.length === 0 ? <p class="muted">No application has evaluated it in this time.</p> : null}
      {environments.map((environment) => {
        const here = counts.filter((one) => one.environment === environment);
        return here.length === 0 ? null : (
          <Chart key={environment} environment={environment} counts={here} hours={Number(hours)} />
        );
      })}
      {applications.length === 0 ? null : (
        <p class="muted">
          {'By '}
          {applications.map((name, index) => (
            <Fragment key={name}>
              {index === 0 ? null : ', '}
              <Button looks="quiet" act={() => showApplication(session, name)}>
                <Name text={name} />
              </Button>
            </Fragment>
          ))}
        </p>
      )}
    </section>
  );
}

/** @param {{ environment: string, counts: Counts, hours: number }} props */
function Chart({ environment, counts, hours }) {
  const [yes, no] = [sumOf(counts, 'yes'), sumOf(counts, 'no')];
  const share = yes + no === 0 ? 0 : Math.round((100 * yes) / (yes + no));
  const spans = spansOf(counts, hours);
  const text = `${counted(yes + no, 'evaluation')} in ${environment}, ${number(share)} % on`;
  return (
    <>
      <Bars
        text={text}
        ends={[spans[0]?.at ?? '', 'now']}
        bars={spans.map(({ at, on, off }) => ({
          title: `${at}: on ${number(on)}, off ${number(off)}`,
          parts: [on, off],
        }))}
      />
      <Shares counts={counts} />
    </>
  );
}

/** Every hour or day up to now, those without a report included. @param {Counts} counts @param {number} hours */
function spansOf(counts, hours) {
  const length = hours < BY_DAY_FROM ? HOUR_MS : 24 * HOUR_MS;
  const last = Math.floor(Date.now() / length);
  const count = Math.round((hours * HOUR_MS) / length);
  const spans = Array.from({ length: count }, (_, index) => {
    const start = new Date((last - count + 1 + index) * length).toISOString();
    return { at: length === HOUR_MS ? dateTime(start) : date(start), on: 0, off: 0 };
  });
  for (const { timestamp, yes, no } of counts) {
    const span = spans[count - 1 - (last - Math.floor(Date.parse(timestamp) / length))];
    if (span === undefined) continue;
    span.on += yes;
    span.off += no;
  }
  return spans;
}

/** How often each variant was given. @param {{ counts: Counts }} props */
function Shares({ counts }) {
  /** @type {Map<string, number>} */
  const given = new Map();
  for (const { variants = {} } of counts)
    for (const [name, count] of Object.entries(variants))
      given.set(name, (given.get(name) ?? 0) + Number(count));
  if (given.size === 0) return null;
  const total = sumOfValues([...given.values()]);
  return (
    <ul class="plain stack variant-list" aria-label="Variants served">
      {[...given].map(([name, count]) => (
        <li key={name}>
          <code class="variant-name">
            <Name text={name} />
          </code>
          <span class="muted">{`${number(count)}, ${total === 0 ? 0 : Math.round((100 * count) / total)} %`}</span>
        </li>
      ))}
    </ul>
  );
}

/** @param {readonly number[]} values */
const sumOfValues = (values) => values.reduce((sum, one) => sum + one, 0);

/** @param {Counts} counts @param {'yes' | 'no'} part */
const sumOf = (counts, part) => sumOfValues(counts.map((one) => one[part]));
