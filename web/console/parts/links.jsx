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

/** @param {{ id: string, name: string }} props */
export const ProjectLink = ({ id, name }) => (
  <a href={hrefOf(flagsOf(id))}>
    <Name text={name} />
  </a>
);

/** The way back to the project that something belongs to. @param {{ project: string }} props */
export function ProjectCrumb({ project }) {
  const name = useSession().projects.value.find(({ id }) => id === project)?.name ?? project;
  return (
    <p class="crumb">
      <ProjectLink id={project} name={name} />
    </p>
  );
}
