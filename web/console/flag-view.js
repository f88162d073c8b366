/** One flag: where it is on and for whom, its variants, and its history with the way back. */

import { ask } from './ask.js';
import { messageOf, path } from './client.js';
import { h, show } from './dom.js';
import { eventItem } from './event-item.js';
import { date, dateTime } from './format.js';
import { loader } from './loading.js';
import { moment } from './moment.js';
import { notice } from './notices.js';
import { hrefOf } from './place.js';
import { rollBack } from './rollback.js';
import { strategyItem } from './strategy.js';
import { flagSwitch } from './switch.js';
import { variantBar } from './variants.js';

/** @import { EventPage, Flag, FlagEnvironment, LoggedEvent, Session, View } from './types.d.ts' */

/** Events of the history that are listed; the whole of it is in the events view. */
const HISTORY_MAX = 30;

/** @param {Session} session @param {string} project @param {string} name @returns {View} */
export function flagView(session, project, name) {
  const element = h('div', null);
  const at = path`/projects/${project}/features/${name}`;

  /** @returns {Promise<[Flag, EventPage]>} */
  const load = () =>
    Promise.all([
      session.client.get(at),
      session.client.post('/events/search', { feature: name, project, limit: HISTORY_MAX }),
    ]);
  const refresh = loader(element, load, ([flag, { events }]) => {
    show(
      element,
      flagHead(flag),
      h(
        'div',
        { class: 'columns' },
        h(
          'div',
          null,
          ...flag.environments.map((environment) => environmentCard(flag, environment)),
          rest(flag),
        ),
        historyOf(flag, events),
      ),
    );
  });

  /** @param {Flag} flag */
  function flagHead({ archived, archivedAt, description, type, stale, createdAt, tags }) {
    return h(
      'div',
      { class: 'view-head' },
      h('p', { class: 'crumb' }, h('a', { href: hrefOf({ view: 'flags', project }) }, project)),
      h(
        'div',
        { class: 'title-row' },
        h('h1', { class: 'flag-name' }, h('code', null, name)),
        archived ? reviveButton() : archiveButton(),
      ),
      description ? h('p', { class: 'lead' }, description) : null,
      h(
        'p',
        { class: 'facts' },
        h('span', null, type),
        h('span', { title: dateTime(createdAt) }, `created ${date(createdAt)}`),
        stale ? h('span', { class: 'badge badge-warn' }, 'stale') : null,
        archivedAt === null ? null : h('span', { class: 'badge' }, moment(archivedAt, 'archived ')),
        ...tags.map((tag) => h('span', { class: 'badge' }, `${tag.type}: ${tag.value}`)),
      ),
    );
  }

  /** @param {Flag} flag @param {FlagEnvironment} environment */
  function environmentCard({ archived }, { name: environment, enabled, strategies }) {
    const none = enabled ? 'No strategies.' : 'No strategies: it needs one before it can be switched on.';
    return h(
      'section',
      { class: 'card', 'aria-label': environment, 'data-environment': environment },
      h(
        'div',
        { class: 'card-head' },
        h('h2', null, environment),
        h('span', { class: 'muted state' }, enabled ? 'on' : 'off'),
        flagSwitch(session, { project, flag: name, environment, enabled, archived }, report),
      ),
      strategies.length === 0
        ? h('p', { class: 'muted' }, none)
        : h('ul', { class: 'plain strategies' }, ...strategies.map(strategyItem)),
    );
  }

  /** @param {Flag} flag */
  function rest({ variants, dependencies, children }) {
    /** @param {string} other */
    const link = (other) =>
      h('a', { href: hrefOf({ view: 'flag', project, flag: other }) }, h('code', null, other));
    return h(
      'div',
      null,
      variants === null || variants.length === 0
        ? null
        : h('section', { class: 'card' }, h('h2', null, 'Variants'), variantBar(variants)),
      dependencies.length === 0
        ? null
        : h(
            'section',
            { class: 'card' },
            h('h2', null, 'Depends on'),
            ...dependencies.map(({ feature, enabled, variants: names }) =>
              h(
                'p',
                null,
                link(feature),
                enabled ? ' being on' : ' being off',
                names.length === 0 ? '' : ` with ${names.join(' or ')}`,
              ),
            ),
          ),
      children.length === 0
        ? null
        : h(
            'section',
            { class: 'card' },
            h('h2', null, 'On it depend'),
            ...children.map((child) => h('p', null, link(child))),
          ),
    );
  }

  /** @param {Flag} flag @param {readonly LoggedEvent[]} events */
  function historyOf({ archived }, events) {
    const may = session.mayWrite(project) && !archived;
    const items = events.map((event, index) =>
      // The newest event is what the flag is already; before it was created there is nothing to go back to.
      eventItem(event, { aboutFlag: true, action: may && index > 0 ? rollbackButton(event) : null }),
    );
    return h(
      'section',
      { class: 'history', 'aria-labelledby': 'history' },
      h('h2', { id: 'history' }, 'History'),
      h('ol', { class: 'plain events' }, ...items),
    );
  }

  /** @param {LoggedEvent} event */
  function rollbackButton(event) {
    return h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'data-key': `rollback ${event.id}`,
        'aria-label': `Roll back to event ${event.id}`,
        onclick: () => void report(rollBack(session, at, event)),
      },
      'Roll back to here',
    );
  }

  function archiveButton() {
    const disabled = !session.mayWrite(project);
    return h(
      'button',
      { type: 'button', class: 'button', 'data-key': 'archive', disabled, onclick: archive },
      'Archive…',
    );
  }

  async function archive() {
    const question = { title: 'Archive this flag?', agree: 'Archive', danger: true };
    const agreed = await ask(
      question,
      h(
        'p',
        null,
        h('code', null, name),
        ' leaves the lists. Applications that still ask for it get it switched off.',
      ),
      h('p', null, 'It keeps its history, and can be revived from the archive.'),
    );
    if (agreed) await report(session.client.remove(at), `${name} is archived.`);
  }

  function reviveButton() {
    const disabled = !session.mayWrite(project);
    const revive = () => void report(session.client.post(path`/archive/revive/${name}`), `${name} is back.`);
    return h(
      'button',
      { type: 'button', class: 'button', 'data-key': 'archive', disabled, onclick: revive },
      'Revive',
    );
  }

  /** @param {Promise<unknown>} change @param {string} [done] */
  async function report(change, done) {
    try {
      await change;
      if (done !== undefined) notice('done', done);
      void session.feed.look();
    } catch (error) {
      notice('refused', messageOf(error));
    }
    await refresh();
  }

  void refresh();
  return {
    title: name,
    element,
    onEvents(events) {
      if (events.some((event) => event.featureName === name || event.featureName === null)) void refresh();
    },
  };
}
