/** Flags as a file: what a project has in one environment, taken out, and brought in elsewhere. */
import { changing } from '../client.js';
import { asOption } from '../forms/choice.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { TextArea } from '../forms/inputs.jsx';
import { Preview } from '../resource.jsx';
import { said } from '../said.jsx';

/** @import { Change } from '../client.js' */
/** @import { FlagExport, ImportCheck, Session } from '../types.d.ts' */

/** @param {Session} session @param {string} project @param {readonly string[]} environments */
export function exportFlags(session, project, environments) {
  return openEdit(session, {
    title: `Export the flags of ${project}`,
    agree: 'Export',
    fields: [ENVIRONMENT(environments)],
    values: { environment: environments[0] ?? '' },
    sentence: ({ environment }) => `Downloads the flags of ${project} as they are in ${environment}.`,
    change: ({ environment }) => changing('POST', '/features-batch/export', { project, environment }),
    done: () => 'The flags are exported.',
    after: (response, { environment }) => save(`${project}-${environment}.json`, response),
  });
}

/** @param {readonly string[]} environments */
const ENVIRONMENT = (environments) =>
  field('environment', 'Environment', 'choice', { options: environments.map(asOption) });

/** Has the browser save a file. @param {string} name @param {unknown} content */
function save(name, content) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** @typedef {{ environment: string, text: string }} ImportValues */

/** @param {Session} session @param {string} project @param {readonly string[]} environments */
export function importFlags(session, project, environments) {
  /** @param {ImportValues} values @returns {Change} */
  const change = ({ environment, text }) =>
    changing('POST', '/features-batch/import', { project, environment, data: dataOf(text) });
  return openEdit(session, {
    title: `Import flags into ${project}`,
    agree: 'Import',
    wide: true,
    fields: [
      ENVIRONMENT(environments),
      field('text', 'Export', 'own', {
        paths: ['data'],
        missing: ({ text }) =>
          dataOf(text) === null ? [{ path: '/body/data', message: 'This is not an export of flags.' }] : [],
        render: ({ id, values, set }) => (
          <>
            <input
              type="file"
              accept="application/json"
              aria-label="Export file"
              onChange={async ({ currentTarget: { files } }) => {
                const file = files?.[0];
                if (file !== undefined) set({ text: await file.text() });
              }}
            />
            <TextArea
              id={id}
              rows={5}
              aria-label="Export content"
              value={values.text}
              change={(text) => set({ text })}
            />
          </>
        ),
      }),
    ],
    values: { environment: environments[0] ?? '', text: '' },
    sentence: (values) =>
      dataOf(values.text) === null ? (
        'Choose an export file, or paste its content.'
      ) : (
        <Preview at="/features-batch/validate" body={change(values).body}>
          {found}
        </Preview>
      ),
    change,
    done: ({ environment }) => `The flags are imported into ${environment}.`,
  });
}

/** Null for what is no export. @param {string} text @returns {FlagExport | null} */
function dataOf(text) {
  try {
    const data = JSON.parse(text);
    return Array.isArray(data?.features) ? data : null;
  } catch {
    return null;
  }
}

/** Says what stands in the way, and what would be replaced. @param {ImportCheck} check */
function found({ errors, permissions, warnings }) {
  const found = [...errors, ...permissions, ...warnings];
  if (found.length === 0) return 'The flags in the file are created or updated, all or none.';
  return (
    <ul>
      {found.map(({ message, affectedItems }) => (
        <li key={message}>{`${message} ${affectedItems.map((item) => said(item)).join(', ')}`}</li>
      ))}
    </ul>
  );
}
