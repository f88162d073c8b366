/** How often applications evaluated a flag, hour by hour: bars of what was on and what was off, and the same in words. */
import { path } from '../client.js';
import { counted, dateTime, number } from '../format.js';
import { useResource } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { RawFlagUsage } from '../types.d.ts' */

const HOURS = 48;
const HOUR_MS = 3_600_000;

/** Of the drawing, in its own units. */
const [WIDTH, HEIGHT] = [480, 90];

/** @typedef {{ at: number, yes: number, no: number }} Hour */

/** @param {{ flag: string, environments: readonly string[] }} props */
export function UsageChart({ flag, environments }) {
  const { client } = useSession();
  /** @returns {Promise<RawFlagUsage>} */
  const load = () => client.get(path`/client-metrics/features/${flag}/raw?hoursBack=${HOURS}`);
  const { data } = useResource(load, [client, flag]).loaded.value?.value ?? { data: [] };
  if (data.length === 0) return null;
  const applications = [...new Set(data.map(({ appName }) => appName))];
  return (
    <section class="card" aria-label="Usage">
      <div class="card-head">
        <h2>Usage in the last 48 hours</h2>
      </div>
      {environments.map((environment) => {
        const hours = hoursOf(data.filter((one) => one.environment === environment));
        return hours.every(({ yes, no }) => yes + no === 0) ? null : (
          <Chart key={environment} environment={environment} hours={hours} />
        );
      })}
      <p class="muted">
        {'By '}
        {applications.map((name, index) => (
          <span key={name}>
            {index === 0 ? '' : ', '}
            <Name text={name} />
          </span>
        ))}
      </p>
    </section>
  );
}

/** Every hour up to now, those without a report included. @param {RawFlagUsage['data']} data @returns {readonly Hour[]} */
function hoursOf(data) {
  const last = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: HOURS }, (_, index) => ({
    at: last - (HOURS - 1 - index) * HOUR_MS,
    yes: 0,
    no: 0,
  }));
  for (const { timestamp, yes, no } of data) {
    const hour = hours[HOURS - 1 - Math.round((last - Date.parse(timestamp)) / HOUR_MS)];
    if (hour === undefined) continue;
    hour.yes += yes;
    hour.no += no;
  }
  return hours;
}

/** @param {{ environment: string, hours: readonly Hour[] }} props */
function Chart({ environment, hours }) {
  const most = Math.max(...hours.map(({ yes, no }) => yes + no));
  const [yes, no] = [sumOf(hours, 'yes'), sumOf(hours, 'no')];
  const step = WIDTH / hours.length;
  const text = `${counted(yes + no, 'evaluation')} in ${environment}, ${number(Math.round((100 * yes) / (yes + no)))} % on`;
  return (
    <figure class="chart">
      <figcaption>{text}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={text}>
        {hours.map((hour, index) => {
          const [on, off] = [(HEIGHT * hour.yes) / most, (HEIGHT * hour.no) / most];
          return (
            <g key={hour.at}>
              <title>{`${dateTime(new Date(hour.at).toISOString())}: on ${number(hour.yes)}, off ${number(hour.no)}`}</title>
              <rect class="chart-space" x={index * step} width={step} height={HEIGHT} />
              <rect
                class="chart-off"
                x={index * step + 1}
                y={HEIGHT - on - off}
                width={step - 2}
                height={off}
              />
              <rect class="chart-on" x={index * step + 1} y={HEIGHT - on} width={step - 2} height={on} />
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

/** @param {readonly Hour[]} hours @param {'yes' | 'no'} part */
const sumOf = (hours, part) => hours.reduce((sum, hour) => sum + hour[part], 0);
