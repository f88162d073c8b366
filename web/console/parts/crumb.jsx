/** The way back to the project that something belongs to. */
import { flagsOf, hrefOf } from '../place.js';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';

/** @param {{ project: string }} props */
export function ProjectCrumb({ project }) {
  const name = useSession().projects.value.find(({ id }) => id === project)?.name ?? project;
  return (
    <p class="crumb">
      <a href={hrefOf(flagsOf(project))}>
        <Name text={name} />
      </a>
    </p>
  );
}
