/** What a flag consists of, part by part, each with what can be done to it. */
import { h } from 'preact';
import { addDependency, addTag, removeDependency, removeTag } from '../edit/flag-edits.js';
import { editVariants } from '../edit/variant-edits.js';
import { date, dateTime } from '../format.js';
import { hrefOf } from '../place.js';
import { useSession } from '../session.js';
import { TimeAgo } from './time-ago.js';
import { VariantBar } from './variants.js';

/** @import { Flag } from '../types.d.ts' */

/**
 * @typedef {object} FlagProps
 * @property {Flag} flag
 * @property {string} etag
 * @property {boolean} may whether it may be changed
 * @property {ReadonlyMap<number, string>} segmentNames
 */

/** @param {FlagProps} props */
export function FlagFacts({ flag, may }) {
  const session = useSession();
  const { type, createdAt, stale, archivedAt, tags, lastSeenAt } = flag;
  return h(
    'p',
    { class: 'facts' },
    h('span', null, type),
    h('span', { title: dateTime(createdAt) }, `created ${date(createdAt)}`),
    lastSeenAt === null
      ? h('span', null, 'never used')
      : h(TimeAgo, { iso: lastSeenAt, prefix: 'last used ' }),
    stale ? h('span', { class: 'badge badge-warn' }, 'stale') : null,
    archivedAt === null
      ? null
      : h('span', { class: 'badge' }, h(TimeAgo, { iso: archivedAt, prefix: 'archived ' })),
    tags.map((tag) =>
      h(
        'span',
        { key: `${tag.type}:${tag.value}`, class: 'badge' },
        `${tag.type}: ${tag.value}`,
        may
          ? h(
              'button',
              {
                type: 'button',
                class: 'badge-remove',
                'aria-label': `Remove the tag ${tag.type}: ${tag.value}`,
                onClick: () => void removeTag(session, flag, tag),
              },
              '×',
            )
          : null,
      ),
    ),
    may
      ? h('button', { type: 'button', class: 'quiet', onClick: () => void addTag(session, flag) }, 'Add tag')
      : null,
  );
}

/** @param {FlagProps} props */
export function VariantCard({ flag, etag, may }) {
  const session = useSession();
  const variants = flag.variants ?? [];
  const edit = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      'aria-label': `${variants.length === 0 ? 'Add' : 'Edit'} variants`,
      onClick: () => void editVariants(session, flag, etag),
    },
    variants.length === 0 ? 'Add' : 'Edit',
  );
  return h(
    'section',
    { class: 'card', 'aria-label': 'Variants' },
    h('div', { class: 'card-head' }, h('h2', null, 'Variants'), may ? edit : null),
    variants.length === 0
      ? h('p', { class: 'muted' }, 'It is on or off, and nothing between.')
      : h(VariantBar, { variants }),
  );
}

/** The flags that it depends on, and those that depend on it. @param {FlagProps} props */
export function DependencyCards({ flag, etag, may }) {
  const session = useSession();
  const { project, dependencies, children } = flag;
  /** @param {string} name */
  const link = (name) =>
    h('a', { href: hrefOf({ view: 'flag', project, flag: name }) }, h('code', null, name));
  return h(
    'section',
    { class: 'card', 'aria-label': 'Dependencies' },
    h(
      'div',
      { class: 'card-head' },
      h('h2', null, 'Dependencies'),
      may
        ? h(
            'button',
            { type: 'button', class: 'quiet', onClick: () => void addDependency(session, flag, etag) },
            'Add',
          )
        : null,
    ),
    dependencies.length + children.length === 0
      ? h('p', { class: 'muted' }, 'It depends on no other flag.')
      : null,
    dependencies.map(({ feature, enabled, variants }) =>
      h(
        'p',
        { key: feature, class: 'card-line' },
        h(
          'span',
          null,
          'Needs ',
          link(feature),
          ` to be ${enabled ? 'on' : 'off'}${variants.length === 0 ? '' : ` with ${variants.join(' or ')}`}`,
        ),
        may
          ? h(
              'button',
              {
                type: 'button',
                class: 'quiet',
                'aria-label': `Remove the dependency on ${feature}`,
                onClick: () => void removeDependency(session, flag, feature),
              },
              'Remove',
            )
          : null,
      ),
    ),
    children.map((child) => h('p', { key: child }, link(child), ' depends on it.')),
  );
}
