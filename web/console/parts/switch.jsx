/** The switch of a flag in an environment. It moves at once, and back again when the server refuses. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { tryChangeFlag } from '../changes.jsx';
import { askToSwitch } from '../edit/switch.js';
import { useSession } from '../session.js';
import { useOnce } from './button.jsx';

/**
 * @typedef {object} SwitchProps
 * @property {string} project
 * @property {string} flag
 * @property {string} environment
 * @property {{ readonly enabled: boolean, readonly hasStrategies: boolean } | undefined} state as the server said last; undefined where the flag has none yet
 * @property {boolean} [isArchived]
 */

/** @param {SwitchProps} props */
export function FlagSwitch({ project, flag, environment, state, isArchived = false }) {
  const session = useSession();
  const [wanted, setWanted] = useState(/** @type {boolean | null} */ (null));
  const [isBusy, once] = useOnce();
  const stateBefore = useRef(state);
  // What the server says after the change counts, whatever was wished.
  useEffect(() => {
    if (!isBusy && state !== stateBefore.current) setWanted(null);
  }, [state, isBusy]);
  const isOn = wanted ?? state?.enabled === true;
  const may = session.may('flags', project);

  async function turn() {
    const of = { project, flag, environment };
    const switching = await askToSwitch(session, of, !isOn, state?.hasStrategies === true);
    if (switching === null) return;
    stateBefore.current = state;
    setWanted(!isOn);
    if (!(await tryChangeFlag(session, { project, flag, ...switching }))) setWanted(null);
  }

  return (
    <button
      type="button"
      class="switch"
      role="switch"
      aria-checked={isOn}
      aria-label={`${flag} in ${environment}`}
      aria-busy={isBusy ? 'true' : undefined}
      disabled={!may || isArchived}
      title={reasonOf(project, may, isArchived)}
      onClick={() => void once(turn)}
    />
  );
}

/** @param {string} project @param {boolean} may @param {boolean} isArchived */
function reasonOf(project, may, isArchived) {
  if (!may) return `Ask an owner of ${project}, or an Admin, for a role that may switch its flags`;
  return isArchived ? 'It cannot be switched here' : undefined;
}
