/** What all projects share: environments, segments and context fields. */
import { path } from '../client.js';
import { counted } from '../format.js';
import { ConstraintsEditor, missingInConstraints } from '../forms/constraints-editor.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { inputOf } from '../operators.js';
import { Said, said } from '../said.jsx';
import { readPinned } from './pinned.js';
import { changeAtOnce, removeAfterAsking } from './remove.jsx';

/** @import { ConstraintInput, ContextField, Edit, Environment, Segment, Session } from '../types.d.ts' */

const ENVIRONMENT_TYPES = ['development', 'test', 'preproduction', 'production'];

/** @param {Session} session */
export function createEnvironment(session) {
  /** @type {Edit<{ name: string, type: string }>} */
  const edit = {
    title: 'New environment',
    agree: 'Create',
    fields: [
      { name: 'name', label: 'Name', hint: 'Letters, digits, “_”, “.”, “~” and “-”.', required: true },
      {
        name: 'type',
        label: 'Type',
        suggestions: ENVIRONMENT_TYPES,
        hint: 'Changes of one that is “production” are asked about.',
        required: true,
      },
    ],
    values: { name: '', type: 'development' },
    sentence: ({ name, type }) => (
      <>
        The environment <Said text={name || '…'} />
        {` exists, with the type ${said(type || '…')}.`}
      </>
    ),
    change: (body) => ({ method: 'POST', path: '/environments', body }),
    done: ({ name }) => `The environment ${name} is created.`,
    undo: ({ name }) => ({ method: 'DELETE', path: path`/environments/${name}` }),
  };
  return openEdit(session, edit);
}

/** @param {Session} session @param {Environment} environment */
export async function editEnvironment(session, { name }) {
  const at = path`/environments/update/${name}`;
  const { values, pinned } = await readPinned(session, {
    at: path`/environments/${name}`,
    search: { type: 'environment-updated', query: name },
    isAbout: ({ environment }) => environment === name,
    /** @param {Environment} environment */
    valuesIn: ({ type, sortOrder }) => ({ type, sortOrder }),
  });
  /** @type {Edit<{ type: string, sortOrder: number }>} */
  const edit = {
    title: `Edit ${name}`,
    agree: 'Save',
    fields: [
      { name: 'type', label: 'Type', suggestions: ENVIRONMENT_TYPES, required: true },
      { name: 'sortOrder', label: 'Position', kind: 'number', hint: 'Lower ones come first.' },
    ],
    values,
    sentence: (now) => (
      <>
        <code>{name}</code>
        {` has the type ${said(now.type || '…')}.`}
      </>
    ),
    change: (body) => ({ method: 'PUT', path: at, body }),
    done: () => `${name} is changed.`,
    undo: { method: 'PUT', path: at, body: values },
    pinned,
    environment: name,
  };
  await openEdit(session, edit);
}

/** @param {Session} session @param {Environment} environment */
export const deleteEnvironment = (session, { name }) =>
  removeAfterAsking(session, {
    title: `Delete the environment ${name}?`,
    agree: 'Delete for good',
    text: 'The strategies and switches of every flag there go with it, and cannot be brought back.',
    change: { method: 'DELETE', path: path`/environments/${name}` },
    done: `The environment ${name} is deleted.`,
  });

/** @param {Session} session @param {Environment} environment */
export async function turnEnvironment(session, { name, enabled }) {
  const on = /** @type {const} */ ({ method: 'POST', path: path`/environments/${name}/on` });
  const off = /** @type {const} */ ({ method: 'POST', path: path`/environments/${name}/off` });
  if (!enabled) return changeAtOnce(session, { change: on, undo: off, done: `${name} is on.` });
  return removeAfterAsking(session, {
    title: `Switch ${name} off?`,
    agree: 'Switch off',
    text: `New projects do not get ${name} while it is off.`,
    change: off,
    undo: on,
    done: `${name} is off.`,
  });
}

/** @typedef {{ name: string, description: string, constraints: readonly ConstraintInput[] }} SegmentValues */

/** @param {Session} session @param {Segment | null} segment null for a new one */
export async function editSegment(session, segment) {
  /** @type {readonly ContextField[]} */
  const fields = await session.client.get('/context');
  const at = segment === null ? '/segments' : path`/segments/${segment.id}`;
  const { values, ...read } =
    segment === null
      ? { values: segmentValues(null) }
      : await readPinned(session, {
          at,
          search: { type: 'segment-updated' },
          isAbout: ({ data }) => data?.['id'] === segment.id,
          valuesIn: (/** @type {any} */ now) => segmentValues(now),
        });
  /** @type {Edit<SegmentValues>} */
  const edit = {
    title: segment === null ? 'New segment' : `Edit the segment ${said(segment.name)}`,
    agree: segment === null ? 'Create' : 'Save',
    wide: true,
    fields: [
      { name: 'name', label: 'Name', required: true },
      { name: 'description', label: 'Description' },
      {
        name: 'constraints',
        label: 'Users for whom all of this is true',
        kind: 'own',
        paths: [],
        missing: (now) => missingInConstraints(now.constraints),
        render: ({ values: now, set, issuesAt }) => (
          <ConstraintsEditor
            of={now.constraints}
            change={(constraints) => set({ constraints })}
            fields={fields}
            issuesAt={issuesAt}
          />
        ),
      },
    ],
    values,
    sentence: ({ name, constraints }) => segmentSentence(segment, name, constraints.length),
    change: ({ name, description, constraints }) => ({
      method: segment === null ? 'POST' : 'PUT',
      path: at,
      body: {
        name,
        description,
        constraints,
        ...(segment?.project === undefined ? {} : { project: segment.project }),
      },
    }),
    done: ({ name }) => `The segment ${said(name)} is ${segment === null ? 'created' : 'changed'}.`,
    undo:
      segment === null
        ? (_, { id }) => ({ method: 'DELETE', path: path`/segments/${id}` })
        : {
            method: 'PUT',
            path: at,
            body: { ...values, ...(segment.project === undefined ? {} : { project: segment.project }) },
          },
    ...('pinned' in read ? { pinned: read.pinned } : {}),
  };
  await openEdit(session, edit);
}

/** @param {Segment | null} segment @returns {SegmentValues} */
function segmentValues(segment) {
  if (segment === null) return { name: '', description: '', constraints: [] };
  const { name, description = '', constraints } = segment;
  return { name, description, constraints: constraints.map(inputOf) };
}

/** @param {Segment | null} segment @param {string} name @param {number} count */
function segmentSentence(segment, name, count) {
  const who =
    count === 0 ? 'everyone' : `those for whom ${counted(count, 'constraint is', 'constraints are')} true`;
  const used = segment === null ? '' : ` ${counted(segment.usedInFeatures, 'flag uses', 'flags use')} it.`;
  return (
    <>
      <Said text={name || '…'} />
      {` is ${who}.${used}`}
    </>
  );
}

/** @param {Session} session @param {Segment} segment */
export const deleteSegment = (session, { id, name }) =>
  removeAfterAsking(session, {
    title: `Delete the segment ${said(name)}?`,
    agree: 'Delete for good',
    text: 'It cannot be brought back. A segment that a flag uses is not deleted.',
    change: { method: 'DELETE', path: path`/segments/${id}` },
    done: `The segment ${said(name)} is deleted.`,
  });

/** @param {Session} session @param {ContextField | null} field null for a new one */
export async function editContextField(session, field) {
  const at = field === null ? '/context' : path`/context/${field.name}`;
  const { values, ...read } =
    field === null
      ? { values: fieldValues(null) }
      : await readPinned(session, {
          at,
          search: { type: 'context-field-updated', query: field.name },
          isAbout: ({ data }) => data?.['name'] === field.name,
          valuesIn: (/** @type {any} */ now) => fieldValues(now),
        });
  /** @param {FieldValues} now */
  const bodyOf = ({ description, stickiness, legalValues }) => ({
    description,
    stickiness,
    legalValues: legalValuesOf(legalValues),
  });
  /** @type {Edit<FieldValues>} */
  const edit = {
    title: field === null ? 'New context field' : `Edit the context field ${said(field.name)}`,
    agree: field === null ? 'Create' : 'Save',
    fields: [
      { name: 'name', label: 'Name', required: true, fixed: field !== null },
      { name: 'description', label: 'Description' },
      {
        name: 'legalValues',
        label: 'Values to choose from',
        kind: 'lines',
        hint: 'One on each line, with a description after a colon if it needs one. Empty: any value.',
      },
      { name: 'stickiness', label: 'Rollouts may be sticky by it', kind: 'check' },
    ],
    values,
    sentence: ({ name, legalValues }) => {
      const count = legalValuesOf(legalValues).length;
      return (
        <>
          Constraints on <Said text={name || '…'} />
          {count === 0 ? ' take any value.' : ` offer ${counted(count, 'value')}.`}
        </>
      );
    },
    change: (now) =>
      field === null
        ? { method: 'POST', path: at, body: { name: now.name, ...bodyOf(now) } }
        : { method: 'PUT', path: at, body: bodyOf(now) },
    done: ({ name }) => `The context field ${said(name)} is ${field === null ? 'created' : 'changed'}.`,
    undo:
      field === null
        ? ({ name }) => ({ method: 'DELETE', path: path`/context/${name}` })
        : { method: 'PUT', path: at, body: bodyOf(values) },
    ...('pinned' in read ? { pinned: read.pinned } : {}),
  };
  await openEdit(session, edit);
}

/** @typedef {{ name: string, description: string, stickiness: boolean, legalValues: string }} FieldValues */

/** @param {ContextField | null} field @returns {FieldValues} */
function fieldValues(field) {
  const legal = (field?.legalValues ?? []).map(({ value, description = '' }) =>
    description === '' ? value : `${value}: ${description}`,
  );
  return {
    name: field?.name ?? '',
    description: field?.description ?? '',
    stickiness: field?.stickiness ?? false,
    legalValues: legal.join('\n'),
  };
}

/** @param {string} text */
function legalValuesOf(text) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const [, value = line, description] = /^(.*?): +(.*)$/.exec(line) ?? [];
      return description === undefined ? { value } : { value, description };
    });
}

/** @param {Session} session @param {ContextField} field */
export const deleteContextField = (session, { name, usedInFeatures }) =>
  removeAfterAsking(session, {
    title: `Delete the context field ${said(name)}?`,
    agree: 'Delete',
    text: `${counted(usedInFeatures, 'flag uses', 'flags use')} it. Constraints on it go on working; forms do not offer it any more.`,
    change: { method: 'DELETE', path: path`/context/${name}` },
    done: `The context field ${said(name)} is deleted.`,
  });
