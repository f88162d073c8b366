/** The ways to what is named. */
import { flagsOf, hrefOf } from '../place.js';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';

/** @param {{ project: string, name: string, title?: string, class?: string }} props */
export const FlagLink = ({ project, name, ...others }) => (
  <a href={hrefOf({ view: 'flag', project, flag: name })} {...others}>
    <code>{name}</code>
  </a>
);

/** By its name, where that is known. @param {{ id: string }} props */
export const ProjectLink = ({ id }) => (
  <a href={hrefOf(flagsOf(id))}>
    <Name text={useSession().projects.value.find((one) => one.id === id)?.name ?? id} />
  </a>
);

/** Lists of a page, each by the query of its address. @param {{ label: string, view: 'all-flags' | 'change-requests', current: string, lists: readonly (readonly [name: string, query: string])[] }} props */
export const Lists = ({ label, view, current, lists }) => (
  <nav class="row facts saved" aria-label={label}>
    {lists.map(([name, query]) => (
      <a key={query} href={hrefOf({ view, query })} aria-current={current === query ? 'true' : undefined}>
        {name}
      </a>
    ))}
  </nav>
);

/** The way back to the project that something belongs to. @param {{ project: string }} props */
export const ProjectCrumb = ({ project }) => (
  <p class="crumb">
    <ProjectLink id={project} />
  </p>
);
