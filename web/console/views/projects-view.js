/** All projects, to be found by name. */
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { path } from '../client.js';
import { createProject } from '../edit/project-edits.js';
import { number } from '../format.js';
import { SearchBox } from '../forms/search-box.js';
import { Listing, ListingHead, MainAction } from '../parts/listing.js';
import { Star } from '../parts/star.js';
import { flagsOf, hrefOf } from '../place.js';
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
      h(
        'span',
        { class: 'flag-line' },
        h(Star, { at: path`/projects/${id}`, name, isFavorite: favorite }),
        h('a', { href: hrefOf(flagsOf(id)) }, name),
      ),
      h('code', null, id),
      number(featureCount),
      number(staleFeatureCount),
      number(memberCount),
      `${health} %`,
    ],
  }));
  const columns = [
    { title: 'Project', isMain: true },
    ...['Id', 'Flags', 'Stale', 'Members', 'Healthy'].map((title) => ({ title })),
  ];
  return [
    h(ListingHead, {
      key: 'head',
      title: 'Projects',
      action: session.may('create-project')
        ? h(MainAction, { text: 'New project', act: () => createProject(session) })
        : null,
    }),
    h(
      'div',
      { key: 'tools', class: 'tools' },
      h(SearchBox, {
        label: 'Filter projects',
        placeholder: 'Filter by name or id',
        value: text,
        change: setText,
      }),
    ),
    h(Listing, { key: 'list', label: 'Projects', columns, rows, none: 'No project matches' }),
  ];
}
