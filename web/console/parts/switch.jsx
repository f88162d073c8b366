/** The switch of a flag in an environment. It moves at once, and back again when the server refuses. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { affectedBy } from '../audience.js';
import { isProduction, mayChangeProduction, tryChangeFlag } from '../changes.jsx';
import { path } from '../client.js';
import { useSession } from '../session.js';

/** @import { Session } from '../types.d.ts' */

/**
 * @typedef {object} SwitchProps
 * @property {string} project
 * @property {string} flag
 * @property {string} environment
 * @property {{ readonly enabled: boolean } | undefined} state as the server said last; undefined where the flag has none yet
 * @property {boolean} [isArchived]
 */

/** @param {SwitchProps} props */
export function FlagSwitch({ project, flag, environment, state, isArchived = false }) {
  const session = useSession();
  const [wanted, setWanted] = useState(/** @type {boolean | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const stateBefore = useRef(state);
  // What the server says after the change counts, whatever was wished.
  useEffect(() => {
    if (!isBusy && state !== stateBefore.current) setWanted(null);
  }, [state, isBusy]);
  const isOn = wanted ?? state?.enabled === true;
  const may = session.may('flags', project) && !isArchived;

  async function turn() {
    if (isBusy) return;
    setBusy(true);
    try {
      const of = { project, flag, environment };
      if (!(await mayTurn(session, of, !isOn))) return;
      stateBefore.current = state;
      setWanted(!isOn);
      if (!(await send(session, of, !isOn))) setWanted(null);
    } finally {
      setBusy(false);
    }
  }

  return (
    <button
      type="button"
      class="switch"
      role="switch"
      aria-checked={isOn}
      aria-label={`${flag} in ${environment}`}
      aria-busy={isBusy ? 'true' : undefined}
      disabled={!may}
      title={reasonOf(may, isArchived)}
      onClick={() => void turn()}
    />
  );
}

/** @param {boolean} may @param {boolean} isArchived */
function reasonOf(may, isArchived) {
  if (may) return undefined;
  return isArchived ? 'It cannot be switched here' : 'You cannot switch flags here';
}

/** @param {Session} session @param {{ project: string, flag: string, environment: string }} of @param {boolean} target */
async function mayTurn(session, { project, flag, environment }, target) {
  if (!isProduction(session, environment)) return true;
  const agree = target ? 'Switch on' : 'Switch off';
  return mayChangeProduction(
    session,
    {
      environment,
      agree,
      of: { name: flag },
      affected: () => affectedBy(session, { project, name: flag }, environment),
    },
    `It will be ${target ? 'on' : 'off'}.`,
  );
}

/** @param {Session} session @param {{ project: string, flag: string, environment: string }} of @param {boolean} target */
function send(session, { project, flag, environment }, target) {
  const position = target ? 'on' : 'off';
  const at = path`/projects/${project}/features/${flag}/environments/${environment}`;
  return tryChangeFlag(session, {
    project,
    flag,
    change: { method: 'POST', path: `${at}/${position}` },
    done: `${flag} is ${position} in ${environment}.`,
  });
}
