/** How many days flags of each type live, on the server and in a project. */
import { path } from '../client.js';
import { number } from '../format.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { numberIn } from '../kinds/kind.js';
import { Button } from '../parts/button.jsx';
import { Listing, Part, RowAction } from '../parts/listing.jsx';
import { useSession } from '../session.js';
import { FLAG_TYPES } from '../words.js';
import { readPinned } from './pinned.js';

/** @import { FlagType, ProjectSummaryOverview, Session } from '../types.d.ts' */

/** The lifetimes of the server. @param {{ of: readonly FlagType[], refresh: () => void }} props */
export function ServerLifetimes({ of, refresh }) {
  const session = useSession();
  return (
    <Part title="Lifetimes of flags" lead="Older flags of the type are overdue. Projects can override it.">
      <LifetimeTable
        of={of}
        actionOf={(type) => (
          <RowAction text="Edit" of={type.name} act={() => editLifetime(session, type, refresh)} />
        )}
      />
    </Part>
  );
}

/** The lifetimes that count in a project. @param {{ project: string, of: readonly FlagType[], may: boolean }} props */
export function ProjectLifetimes({ project, of, may }) {
  const session = useSession();
  return (
    <Part
      title="Lifetimes of flags"
      action={may ? <Button act={() => editLifetimes(session, project)}>Edit lifetimes…</Button> : null}
    >
      <LifetimeTable of={of} actionOf={() => null} />
    </Part>
  );
}

/** @param {{ of: readonly FlagType[], actionOf: (type: FlagType) => import('preact').ComponentChildren }} props */
const LifetimeTable = ({ of, actionOf }) => (
  <Listing
    label="Lifetimes of flags"
    columns={['Type', 'Days']}
    rows={of.map((type) => ({
      key: type.id,
      cells: [type.name, type.lifetimeDays === null ? 'no limit' : number(type.lifetimeDays)],
      actions: actionOf(type),
    }))}
    none="There are no types"
  />
);

/** @param {Session} session @param {FlagType} type @param {() => void} after */
function editLifetime(session, { id, name, lifetimeDays }, after) {
  /** @param {{ days: string }} values */
  const change = ({ days }) =>
    /** @type {const} */ ({
      method: 'PUT',
      path: path`/feature-types/${id}/lifetime`,
      body: { lifetimeDays: days.trim() === '' ? null : numberIn(days) },
    });
  const values = { days: lifetimeDays === null ? '' : String(lifetimeDays) };
  return openEdit(session, {
    title: `Lifetime of ${name} flags`,
    agree: 'Save',
    fields: [field('days', 'Days', 'text', { hint: 'Leave empty for no limit.', paths: ['lifetimeDays'] })],
    values,
    sentence: ({ days }) =>
      days.trim() === ''
        ? `${name} flags are never overdue.`
        : `${name} flags are overdue after ${days} days, in projects without a lifetime of their own.`,
    change,
    done: () => `The lifetime of ${name} flags is changed.`,
    undo: change(values),
    after,
  });
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
  /** @param {Record<string, string>} days */
  const change = (days) => {
    const set = Object.entries(days).filter(([, text]) => text.trim() !== '');
    const lifetimes =
      set.length === 0 ? null : Object.fromEntries(set.map(([type, text]) => [type, numberIn(text)]));
    return /** @type {const} */ ({ method: 'PUT', path: `${at}/settings`, body: { lifetimes } });
  };
  await openEdit(session, {
    title: 'Lifetimes of flags in this project',
    agree: 'Save',
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
    change,
    done: () => 'The lifetimes are changed.',
    undo: (_, __, from) => change(from),
    pinned,
  });
}
