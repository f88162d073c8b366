/** The switch of a flag in an environment. It moves at once, and back again when the server refuses. */
import { path } from './client.js';
import { h } from './dom.js';

/** @import { Session } from './types.d.ts' */

/**
 * @param {Session} session
 * @param {{ project: string, flag: string, environment: string, enabled: boolean, archived?: boolean }} of
 * @param {(done: Promise<void>) => void} report told of the change as soon as it is begun
 */
export function flagSwitch(session, { project, flag, environment, enabled, archived = false }, report) {
  const may = session.mayWrite(project) && !archived;
  const element = h('button', {
    type: 'button',
    class: 'switch',
    role: 'switch',
    'aria-checked': String(enabled),
    'aria-label': `${flag} in ${environment}`,
    'data-key': `switch ${flag} ${environment}`,
    disabled: !may,
    title: may
      ? null
      : archived
        ? 'Archived flags cannot be switched'
        : 'Your token may not switch flags here',
    onclick: () => {
      if (element.getAttribute('aria-busy') !== 'true') report(turn());
    },
  });

  async function turn() {
    const target = element.getAttribute('aria-checked') !== 'true';
    element.setAttribute('aria-checked', String(target));
    element.setAttribute('aria-busy', 'true');
    try {
      const position = target ? 'on' : 'off';
      await session.client.post(
        `${path`/projects/${project}/features/${flag}/environments/${environment}`}/${position}`,
      );
    } catch (error) {
      element.setAttribute('aria-checked', String(!target));
      throw error;
    } finally {
      element.removeAttribute('aria-busy');
    }
  }
  return element;
}
