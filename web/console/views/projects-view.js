/** All projects, to be found by name. */
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { createProject } from '../edit/project-edits.js';
import { number } from '../format.js';
import { Listing, ListingHead, MainAction } from '../parts/listing.js';
import { flagsOf, hrefOf } from '../place.js';
import { useSession } from '../session.js';

/** @import { TargetedEvent } from 'preact' */

export function ProjectsView() {
  const session = useSession();
  const [text, setText] = useState('');
  /** @param {TargetedEvent<HTMLInputElement>} event */
  const onInput = (event) => setText(event.currentTarget.value);
  const found = session.projects.value.filter(({ id, name }) =>
    `${name} ${id}`.toLowerCase().includes(text.trim().toLowerCase()),
  );
  const rows = found.map(({ id, name, featureCount, staleFeatureCount, memberCount, health }) => ({
    key: id,
    cells: [
      h('a', { href: hrefOf(flagsOf(id)) }, name),
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
      h('input', {
        type: 'search',
        class: 'filter',
        'aria-label': 'Filter projects',
        placeholder: 'Filter by name or id',
        value: text,
        onInput,
      }),
    ),
    h(Listing, { key: 'list', label: 'Projects', columns, rows, none: 'No project matches' }),
  ];
}
