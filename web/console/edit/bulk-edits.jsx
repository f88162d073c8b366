/** The edits of many flags of a project at once, as one change. */
import { flagPath, make, takeBack } from '../changes.jsx';
import { changing, messageOf, path } from '../client.js';
import { capitalized, counted } from '../format.js';
import { asOption } from '../forms/choice.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { notice } from '../notices.jsx';
import { said } from '../said.jsx';
import { projectField, TAG_FIELDS } from './flag-edits.jsx';

/** @import { Change } from '../client.js' */
/** @import { FlagSummary, Session } from '../types.d.ts' */

/** @param {readonly FlagSummary[]} flags */
const namesOf = (flags) => flags.map(({ name }) => name);

/** @param {Session} session @param {string} project @param {readonly FlagSummary[]} flags @param {boolean} stale */
export function markMany(session, project, flags, stale) {
  const at = path`/projects/${project}/stale`;
  const features = namesOf(flags);
  const changed = namesOf(flags.filter((flag) => flag.stale !== stale));
  return changeMany(session, {
    change: changing('POST', at, { features, stale }),
    undo: changed.length === 0 ? [] : changing('POST', at, { features: changed, stale: !stale }),
    done: `${counted(features.length, 'flag is', 'flags are')} ${stale ? 'stale' : 'no longer stale'}.`,
  });
}

/** @typedef {{ environment: string, position: string }} Switched */

/** @param {Session} session @param {string} project @param {readonly FlagSummary[]} flags @param {readonly string[]} environments */
export function switchMany(session, project, flags, environments) {
  /** The flags that can be switched: the server switches nothing on that has no strategy. @param {Switched} to */
  const switchable = ({ environment, position }) =>
    flags.filter((flag) => position === 'off' || stateIn(flag, environment)?.hasStrategies === true);
  /** @param {readonly FlagSummary[]} some @param {string} environment @param {string} position @returns {Change} */
  const change = (some, environment, position) =>
    changing('POST', path`/projects/${project}/bulk_features/environments/${environment}/${position}`, {
      features: namesOf(some),
    });
  return openEdit(session, {
    title: `Switch ${counted(flags.length, 'flag')}`,
    agree: 'Switch',
    fields: [
      field('environment', 'Environment', 'choice', {
        options: environments.map((name) => asOption(name)),
        paths: ['features'],
        missing: (values) =>
          switchable(values).length > 0
            ? []
            : [{ path: '/body/features', message: `No strategies in ${values.environment}: add one first.` }],
      }),
      field('position', 'Position', 'choice', { options: [asOption('on'), asOption('off')] }),
    ],
    values: { environment: environments[0] ?? '', position: 'on' },
    sentence(values) {
      const switched = switchable(values);
      const others = flags.filter((flag) => !switched.includes(flag));
      const { environment, position } = values;
      return [
        switched.length === 0
          ? ''
          : `${capitalized(position)} in ${environment}: ${namesOf(switched).join(', ')}.`,
        others.length === 0
          ? ''
          : `Not switched, because they have no strategies there: ${namesOf(others).join(', ')}.`,
      ]
        .join(' ')
        .trim();
    },
    change: (values) => change(switchable(values), values.environment, values.position),
    done: (values) =>
      `${counted(switchable(values).length, 'flag is', 'flags are')} ${values.position} in ${values.environment}.`,
    environment: ({ environment }) => environment,
    undo(values) {
      const { environment, position } = values;
      const isOn = position === 'on';
      const changed = switchable(values).filter(
        (flag) => (stateIn(flag, environment)?.enabled === true) !== isOn,
      );
      return changed.length === 0 ? null : change(changed, environment, isOn ? 'off' : 'on');
    },
  });
}

/** @param {FlagSummary} flag @param {string} environment */
const stateIn = ({ environments }, environment) => environments.find(({ name }) => name === environment);

/** @param {Session} session @param {string} project @param {readonly FlagSummary[]} flags */
export function tagMany(session, project, flags) {
  const at = path`/projects/${project}/tags`;
  const features = namesOf(flags);
  /** @param {{ type: string, value: string }} tag */
  const withoutTag = ({ type, value }) =>
    namesOf(flags.filter(({ tags }) => !tags.some((one) => one.type === type && one.value === value)));
  return openEdit(session, {
    title: `Tag ${counted(features.length, 'flag')}`,
    agree: 'Add tag',
    fields: TAG_FIELDS,
    values: { type: 'simple', value: '' },
    sentence: ({ type, value }) =>
      `${namesOf(flags).join(', ')} ${flags.length === 1 ? 'has' : 'have'} the tag ${said(type || '…')}: ${said(value || '…')}.`,
    change: (tag) => changing('PUT', at, { features, tags: { addedTags: [tag], removedTags: [] } }),
    done: ({ value }) => `${counted(features.length, 'flag is', 'flags are')} tagged ${said(value)}.`,
    undo(tag) {
      const tagged = withoutTag(tag);
      if (tagged.length === 0) return null;
      const tags = { addedTags: [], removedTags: [tag] };
      return changing('PUT', at, { features: tagged, tags });
    },
  });
}

/** Favorites are the caller's own, so that each is a change by itself. @param {Session} session @param {string} project @param {readonly FlagSummary[]} flags */
export function favoriteMany(session, project, flags) {
  const paths = namesOf(flags.filter(({ favorite }) => !favorite)).map(
    (name) => `${flagPath(project, name)}/favorites`,
  );
  return changeMany(session, {
    change: paths.map((at) => changing('POST', at)),
    undo: paths.map((at) => changing('DELETE', at)),
    done: `${counted(flags.length, 'flag is a favorite', 'flags are favorites')} of yours.`,
  });
}

/** @param {Session} session @param {string} project @param {readonly string[]} features */
export function moveMany(session, project, features) {
  const count = counted(features.length, 'flag');
  const others = session.projects.value.filter(({ id }) => id !== project);
  const waiting = [...features];
  /** @param {string} name @param {string} from @param {string} to @returns {Change} */
  const move = (name, from, to) =>
    changing('POST', `${flagPath(from, name)}/changeProject`, { newProjectId: to });
  return openEdit(session, {
    title: `Move ${count} to another project`,
    agree: 'Move',
    fields: [projectField(others)],
    values: { newProjectId: others[0]?.id ?? '' },
    sentence: ({ newProjectId }) =>
      `From ${project} to ${newProjectId}, one after another, with strategies and history: ${features.join(', ')}. Tokens of ${project} alone lose access to the moved flags.`,
    change: ({ newProjectId }) => move(features[0] ?? '', project, newProjectId),
    send: async (_, { newProjectId }, client) => {
      // Where one is refused, those before it have gone.
      for (; waiting[0] !== undefined; waiting.shift())
        await client.change(move(waiting[0], project, newProjectId));
    },
    done: ({ newProjectId }) => `${counted(features.length, 'flag is', 'flags are')} in ${newProjectId}.`,
    undo: ({ newProjectId }) => features.map((name) => move(name, newProjectId, project)),
  });
}

/** @param {Session} session @param {{ change: Change | readonly Change[], undo: Change | readonly Change[], done: string }} of several are made one after another, until one is refused; `undo`: empty where all was so before */
export async function changeMany(session, { change, undo, done }) {
  let made = 0;
  try {
    const onMade = () => {
      made += 1;
    };
    if ((await make(session, change, { onMade })) === null) return false;
    const canBeUndone = [undo].flat().length > 0;
    notice('done', done, canBeUndone ? () => takeBack(session, undo) : null);
    void session.feed.look();
    return true;
  } catch (error) {
    notice('refused', messageOf(error) + (made === 0 ? '' : ` The ${made} before it are changed.`));
    return false;
  }
}
