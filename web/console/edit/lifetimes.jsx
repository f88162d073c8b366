/** How many days flags of each type live, on the server and in a project. */
import { changing, path } from '../client.js';
import { number } from '../format.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { numberIn } from '../kinds/kind.js';
import { Button } from '../parts/button.jsx';
import { Listing, Part } from '../parts/listing.jsx';
import { useSession } from '../session.js';
import { FLAG_TYPES } from '../words.js';
import { readPinned } from './pinned.js';

/** @import { Kind } from '../kinds/kind.js' */
/** @import { FlagType, ProjectSummaryOverview, Session } from '../types.d.ts' */

/** @param {number | null} days */
const daysText = (days) => (days === null ? 'no limit' : number(days));

/** The lifetimes of the server, by type. @type {Kind<FlagType>} */
export const LIFETIMES = {
  one: 'type',
  title: 'Lifetimes of flags',
  lead: 'Older flags of the type are overdue. Projects can override it.',
  none: '',
  right: 'admin',
  at: '/feature-types',
  listIn: ({ types }) => types,
  columns: [['Days', ({ lifetimeDays }) => daysText(lifetimeDays)]],
  isReported: true,
  fields: () => [
    field('days', 'Days', 'text', { hint: 'Leave empty for no limit.', paths: ['lifetimeDays'] }),
  ],
  valuesOf: (type) => ({ days: String(type?.lifetimeDays ?? '') }),
  bodyOf: ({ days }) => ({ lifetimeDays: days.trim() === '' ? null : numberIn(days) }),
  changeAt: ({ id }) => path`/feature-types/${id}/lifetime`,
  edit: (_, type) => ({
    sentence: ({ days }) =>
      days.trim() === ''
        ? `${type?.name} flags are never overdue.`
        : `${type?.name} flags are overdue after ${days} days, in projects without a lifetime of their own.`,
  }),
};

/** The lifetimes that count in a project. @param {{ project: string, of: readonly FlagType[], may: boolean }} props */
export function ProjectLifetimes({ project, of, may }) {
  const session = useSession();
  return (
    <Part
      title="Lifetimes of flags"
      action={may ? <Button act={() => editLifetimes(session, project)}>Edit lifetimes…</Button> : null}
    >
      <Listing
        label="Lifetimes of flags"
        columns={['Type', 'Days']}
        rows={of.map(({ id, name, lifetimeDays }) => ({ key: id, cells: [name, daysText(lifetimeDays)] }))}
        none="There are no types"
      />
    </Part>
  );
}

/** @param {Session} session @param {string} project */
async function editLifetimes(session, project) {
  const at = path`/projects/${project}`;
  const { types } = await session.client.get('/feature-types');
  const { values, pinned } = await readPinned(session, {
    at: `${at}/overview`,
    search: { type: 'project-updated', project },
    /** @param {ProjectSummaryOverview} project @returns {Record<string, string>} */
    valuesIn: ({ lifetimes }) =>
      Object.fromEntries(
        FLAG_TYPES.map(([type]) => {
          const days = lifetimes[/** @type {FlagType['id']} */ (type)];
          return [type, days === undefined ? '' : String(days ?? 0)];
        }),
      ),
  });
  await openEdit(session, {
    title: 'Lifetimes of flags in this project',
    fields: types.map((/** @type {FlagType} */ { id, name, lifetimeDays }) =>
      field(id, `${name}, in days`, 'text', {
        hint: `Leave empty for that of the server, ${lifetimeDays === null ? 'no limit' : `${lifetimeDays} days`}; 0 for no limit.`,
        paths: [`lifetimes/${id}`],
      }),
    ),
    values,
    sentence: (days) =>
      Object.values(days).every((text) => text.trim() === '')
        ? 'The lifetimes of the server count in this project.'
        : 'These lifetimes count in this project in place of those of the server.',
    change(days) {
      const set = Object.entries(days).filter(([, text]) => text.trim() !== '');
      const lifetimes =
        set.length === 0 ? null : Object.fromEntries(set.map(([type, text]) => [type, numberIn(text)]));
      return changing('PUT', `${at}/settings`, { lifetimes });
    },
    done: () => 'The lifetimes are changed.',
    undo: 'before',
    pinned,
  });
}
