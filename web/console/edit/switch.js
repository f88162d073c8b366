/** The switch of a flag in an environment: what is asked first, and what is sent. */
import { affectedBy } from '../audience.js';
import { flagPath, mayChangeProduction, tryChangeFlag, wordFor } from '../changes.jsx';
import { path } from '../client.js';
import { ask } from '../forms/ask.jsx';
import { later } from '../later.jsx';
import { code } from '../said.jsx';
import { isProduction } from '../session.js';

/** @import { Change } from '../client.js' */
/** @import { Flag, Session } from '../types.d.ts' */
/** @import { At } from './strategy-edits.jsx' */

const { addStrategy, newStrategy } = later;

/** @typedef {{ project: string, flag: string, environment: string }} Switch */
/** @typedef {{ change: Change | readonly Change[], done: string }} Switching */

/**
 * Resolves to what switches the flag; null where that is not to be done.
 * @param {Session} session
 * @param {Switch} of
 * @param {boolean} target
 * @param {boolean} hasStrategies as far as is known
 * @returns {Promise<Switching | null>}
 */
export async function askToSwitch(session, of, target, hasStrategies) {
  const { project, flag: name, environment } = of;
  const position = target ? 'on' : 'off';
  const change = turning(of, position);
  const bare = target && !hasStrategies ? await withoutStrategies(session, of) : null;
  if (bare !== null) return askForFirst(session, bare, change);
  const question = {
    change,
    environment,
    agree: `Switch ${position}`,
    of: { name },
    affected: () =>
      affectedBy(session, { project, name }, environment, ({ hasEnabledStrategies }) => hasEnabledStrategies),
  };
  if (!(await mayChangeProduction(session, question, `It will be ${position}.`))) return null;
  return { change, done: `${name} is ${position} in ${environment}.` };
}

/** @param {Switch} of @param {'on' | 'off'} position @returns {Change} */
const turning = ({ project, flag, environment }, position) => ({
  method: 'POST',
  path: flagPath(project, flag) + path`/environments/${environment}/${position}`,
});

/** Switches a flag on where it has no strategies, for those whom the button names. @param {Session} session @param {At} at @param {string} audience */
export async function switchOnFor(session, at, audience) {
  const { project, name: flag } = at.flag;
  const change = turning({ project, flag, environment: at.environment.name }, 'on');
  const switching = await askForFirst(session, at, change, audience);
  if (switching !== null) await tryChangeFlag(session, { project, flag, ...switching });
}

/** The flag where it has no strategies by now either. @param {Session} session @param {Switch} of @returns {Promise<At | null>} */
async function withoutStrategies({ client }, { project, flag: name, environment }) {
  /** @type {{ body: Flag, etag: string }} */
  const { body: flag, etag } = await client.read(flagPath(project, name));
  const found = flag.environments.find((one) => one.name === environment);
  return found === undefined || found.hasStrategies ? null : { flag, etag, environment: found };
}

/** The server switches nothing on that has no strategy. @param {Session} session @param {At} at @param {Change} switchOn @param {string} [agreed] for whom that is agreed already, unless somebody in production gets it @returns {Promise<Switching | null>} */
async function askForFirst(session, at, switchOn, agreed) {
  const { flag, environment } = at;
  const { change, audience } = await newStrategy(session, at);
  const isProd = isProduction(session, environment.name);
  const who = isProd ? await affectedBy(session, flag, environment.name, () => true) : null;
  const switching = {
    change: [change, switchOn],
    done: `${flag.name} is on in ${environment.name} for ${audience}.`,
  };
  if (!isProd || (audience === agreed && who === null)) return switching;
  const isAgreed = await ask({
    title: `Switch on for ${audience}?`,
    agree: await wordFor(session, [change, switchOn], `Switch on in ${environment.name}`),
    danger: who !== null,
    other: { text: 'Choose who…', act: () => addStrategy(session, at, switchOn) },
    body: `${code(flag.name)} gets its first strategy in ${environment.name}: the default strategy there.${who === null ? '' : ` ${who}`}`,
  });
  return isAgreed ? switching : null;
}
