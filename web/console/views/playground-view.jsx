/** Flags of many projects for one context or many: each on or off in each environment, with its variant. */
import { useState } from 'preact/hooks';
import { messageOf } from '../client.js';
import { counted } from '../format.js';
import { asOptions, Filter } from '../forms/choice.jsx';
import { useDraft } from '../forms/drafts.js';
import { field } from '../forms/field.js';
import { FieldRows } from '../forms/fields.jsx';
import { SearchBox } from '../forms/inputs.jsx';
import { FlagLink } from '../parts/links.jsx';
import { Listing, ListingHead } from '../parts/listing.jsx';
import { contextOf } from '../parts/why.jsx';
import { Name, visible } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { AdvancedPlayground, Field } from '../types.d.ts' */

/** @typedef {{ environments: readonly string[], project: string, context: string }} Question */

/** Rows that are drawn; a filter reaches the others. */
const SHOWN_MAX = 200;

export function PlaygroundView() {
  const { client, environmentTypes, me, projects } = useSession();
  const environments = [...environmentTypes.value.keys()];
  const first = /** @type {Question} */ ({ environments, project: '*', context: 'userId: ada, bob' });
  const [question, set] = useDraft(`${me.user.id} playground`, first);
  const [answer, setAnswer] = useState(/** @type {AdvancedPlayground | string | null} */ (null));
  /** @type {readonly Field<Question>[]} */
  const fields = [
    field('context', 'Context of the users', 'lines', {
      hint: 'One field per line, such as “country: NO”. Separate several values with commas to try each.',
    }),
    field('project', 'Project', 'choice', {
      options: [['*', 'Every project'], ...asOptions(projects.value)],
    }),
    field('environments', 'Environments', 'many', { options: environments.map((name) => [name, name]) }),
  ];
  /** @param {Event} event */
  async function ask(event) {
    event.preventDefault();
    const { environments: chosen, project, context } = question;
    const body = {
      ...{ environments: chosen, context: contextOf(context) },
      projects: project === '*' ? '*' : [project],
    };
    setAnswer(await client.post('/playground/advanced', body).catch(messageOf));
  }
  return (
    <>
      <ListingHead title="Playground" lead="See which flags users would get. Nothing is recorded." />
      <form class="stack playground" onSubmit={ask}>
        <FieldRows fields={fields} values={question} set={set} />
        <button class="button button-main">Evaluate</button>
      </form>
      <div role="status">{typeof answer === 'string' ? <p class="problem">{answer}</p> : null}</div>
      {answer === null || typeof answer === 'string' ? null : <Answer of={answer} />}
    </>
  );
}

/** @typedef {AdvancedPlayground['features'][number]} Evaluated */
/** @typedef {Evaluated['environments'][string][number]} Evaluation */

/** @type {readonly (readonly [string, string])[]} */
const RESULTS = [
  ['', 'All'],
  ['on', 'On for someone'],
  ['off', 'Off for someone'],
  ['mixed', 'Different results'],
];

/** @param {{ of: AdvancedPlayground }} props */
function Answer({ of: { features } }) {
  const [text, setText] = useState('');
  const [result, setResult] = useState('');
  const columns = Object.keys(features[0]?.environments ?? {});
  const found = features.filter(
    (feature) => feature.name.toLowerCase().includes(text.trim().toLowerCase()) && isOf(feature, result),
  );
  return (
    <section class="part" aria-label="Result">
      <div class="row tools">
        <SearchBox label="Filter the result" placeholder="Part of a name" value={text} change={setText} />
        <Filter label="Show" options={RESULTS} value={result} change={setResult} />
        <span class="muted" role="status">
          {counted(found.length, 'flag')}
          {found.length > SHOWN_MAX ? `, of which the first ${SHOWN_MAX} are shown` : ''}
        </span>
      </div>
      <Listing
        label="Result"
        columns={['Flag', 'Project', ...columns]}
        rows={found.slice(0, SHOWN_MAX).map(({ name, projectId, environments }) => ({
          key: name,
          cells: [
            <FlagLink key="name" project={projectId} name={name} />,
            projectId,
            ...columns.map((environment) => <Cell key={environment} of={environments[environment] ?? []} />),
          ],
        }))}
        none="No flag matches"
      />
    </section>
  );
}

/** @param {Evaluated} feature @param {string} result */
function isOf({ environments }, result) {
  const states = new Set(Object.values(environments).flatMap((all) => all.map(({ isEnabled }) => isEnabled)));
  return result === '' || (result === 'mixed' ? states.size === 2 : states.has(result === 'on'));
}

/** One line for each context, or one for all of them. @param {{ of: readonly Evaluation[] }} props */
function Cell({ of }) {
  const words = of.map(({ isEnabled, variant }) =>
    isEnabled ? `on${variant.enabled ? `, ${visible(variant.name)}` : ''}` : 'off',
  );
  const isSame = new Set(words).size === 1;
  return (
    <ul class="plain">
      {(isSame ? of.slice(0, 1) : of).map(({ context }, index) => (
        <li key={index} class={`result result-${words[index]?.startsWith('on') ? 'on' : 'off'}`}>
          {isSame ? null : (
            <span class="muted">
              <Name text={contextText(context)} />{' '}
            </span>
          )}
          <Name text={words[index] ?? ''} />
        </li>
      ))}
    </ul>
  );
}

/** Without what is the same for everybody. @param {Record<string, unknown>} context */
const contextText = ({ appName: _, environment: __, properties, ...fields }) =>
  Object.values({ ...fields, .../** @type {object} */ (properties) }).join(', ');
