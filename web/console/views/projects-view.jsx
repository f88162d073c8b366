/** All projects, to be found by name. */
import { useState } from 'preact/hooks';
import { path } from '../client.js';
import { createProject } from '../edit/project-edits.jsx';
import { number } from '../format.js';
import { SearchBox } from '../forms/inputs.jsx';
import { ProjectLink } from '../parts/links.jsx';
import { AddButton, Listing, ListingHead } from '../parts/listing.jsx';
import { Star } from '../parts/star.jsx';
import { useSession } from '../session.js';

export function ProjectsView() {
  const session = useSession();
  const [text, setText] = useState('');
  const found = session.projects.value.filter(({ id, name }) =>
    `${name} ${id}`.toLowerCase().includes(text.trim().toLowerCase()),
  );
  // The sort is stable: among themselves they stand as they did.
  found.sort((one, other) => Number(other.favorite) - Number(one.favorite));
  const rows = found.map(({ id, name, featureCount, staleFeatureCount, memberCount, health, favorite }) => ({
    key: id,
    cells: [
      <span class="line flag-line">
        <Star at={path`/projects/${id}`} name={name} isFavorite={favorite} />
        <ProjectLink id={id} />
      </span>,
      <code>{id}</code>,
      number(featureCount),
      number(staleFeatureCount),
      number(memberCount),
      `${health} %`,
    ],
  }));
  const columns = ['Project', 'Id', 'Flags', 'Stale', 'Members', 'Healthy'];
  return (
    <>
      <ListingHead
        title="Projects"
        action={
          session.may('create-project') ? (
            <AddButton isMain text="New project" act={() => createProject(session)} />
          ) : null
        }
      />
      <div class="row tools">
        <SearchBox label="Filter projects" placeholder="Filter by name or id" value={text} change={setText} />
      </div>
      <Listing label="Projects" columns={columns} rows={rows} none="No project matches" />
    </>
  );
}
