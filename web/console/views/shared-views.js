/** The pages of what all projects share: environments, segments and context fields. */
import { h } from 'preact';
import { isProduction } from '../changes.js';
import {
  createEnvironment,
  deleteContextField,
  deleteEnvironment,
  deleteSegment,
  editContextField,
  editEnvironment,
  editSegment,
  turnEnvironment,
} from '../edit/service-edits.js';
import { useEvents } from '../feed.js';
import { counted, number } from '../format.js';
import { EditActions, Listing, ListingHead, MainAction, RowAction } from '../parts/listing.js';
import { Constraints } from '../parts/strategy.js';
import { useResource, whenLoaded } from '../resource.js';
import { useSession } from '../session.js';

/** @import { ContextField, Environment, Segment } from '../types.d.ts' */

export function EnvironmentsView() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/environments'), [session]);
  useEvents(session, () => void loaded.refresh());
  const may = session.may('admin');
  const columns = [
    { title: 'Environment', isMain: true },
    ...['Type', 'State', 'Projects', 'Flags that are on', 'API tokens'].map((title) => ({ title })),
  ];
  return [
    h(ListingHead, {
      key: 'head',
      title: 'Environments',
      lead: 'Where applications run. Each flag has its own switch and strategies in each.',
      action: may ? h(MainAction, { text: 'New environment', act: () => createEnvironment(session) }) : null,
    }),
    whenLoaded(loaded, (/** @type {{ environments: Environment[] }} */ { environments }) =>
      h(Listing, {
        key: 'list',
        label: 'Environments',
        columns,
        rows: environments.map((one) => environmentRow(one, may)),
        none: 'There are no environments',
      }),
    ),
  ];

  /** @param {Environment} one @param {boolean} mayEdit */
  function environmentRow(one, mayEdit) {
    const { name, type, enabled, projectCount, enabledToggleCount, apiTokenCount } = one;
    const badge = isProduction(session, name)
      ? h('span', { class: 'badge badge-production' }, 'production')
      : type;
    return {
      key: name,
      cells: [
        h('code', null, name),
        badge,
        enabled ? 'on' : 'off',
        number(projectCount),
        number(enabledToggleCount),
        number(apiTokenCount),
      ],
      actions: mayEdit
        ? [
            h(RowAction, { key: 'edit', text: 'Edit', of: name, act: () => editEnvironment(session, one) }),
            h(RowAction, {
              key: 'turn',
              text: enabled ? 'Switch off' : 'Switch on',
              of: name,
              act: () => turnEnvironment(session, one),
            }),
            h(RowAction, {
              key: 'delete',
              text: 'Delete',
              of: name,
              act: () => deleteEnvironment(session, one),
            }),
          ]
        : null,
    };
  }
}

export function SegmentsView() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/segments'), [session]);
  useEvents(session, () => void loaded.refresh());
  const may = session.may('targeting');
  const columns = [{ title: 'Segment', isMain: true }, { title: 'Users' }, { title: 'Used by' }];
  return [
    h(ListingHead, {
      key: 'head',
      title: 'Segments',
      lead: 'Groups of users that strategies of any project can select.',
      action: may ? h(MainAction, { text: 'New segment', act: () => editSegment(session, null) }) : null,
    }),
    whenLoaded(loaded, (/** @type {{ segments: Segment[] }} */ { segments }) =>
      h(Listing, {
        key: 'list',
        label: 'Segments',
        columns,
        rows: segments.map((one) => ({
          key: String(one.id),
          cells: [
            [one.name, one.description ? h('p', { key: 'what', class: 'hint' }, one.description) : null],
            one.constraints.length === 0 ? 'Everyone' : h(Constraints, { of: one.constraints }),
            counted(one.usedInFeatures, 'flag'),
          ],
          actions: may
            ? h(EditActions, {
                of: one.name,
                edit: () => editSegment(session, one),
                remove: () => deleteSegment(session, one),
              })
            : null,
        })),
        none: 'No segments yet',
      }),
    ),
  ];
}

export function ContextFieldsView() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/context'), [session]);
  useEvents(session, () => void loaded.refresh());
  const may = session.may('targeting');
  const columns = [
    { title: 'Field', isMain: true },
    { title: 'Values' },
    { title: 'Sticky' },
    { title: 'Used by' },
  ];
  return [
    h(ListingHead, {
      key: 'head',
      title: 'Context fields',
      lead: 'What applications tell about a user, and constraints compare.',
      action: may
        ? h(MainAction, { text: 'New context field', act: () => editContextField(session, null) })
        : null,
    }),
    whenLoaded(loaded, (/** @type {ContextField[]} */ fields) =>
      h(Listing, {
        key: 'list',
        label: 'Context fields',
        columns,
        rows: fields.map((one) => ({
          key: one.name,
          cells: [
            [
              h('code', { key: 'name' }, one.name),
              one.description ? h('p', { key: 'what', class: 'hint' }, one.description) : null,
            ],
            one.legalValues.length === 0
              ? 'any'
              : one.legalValues
                  .map(({ value }) => value)
                  .slice(0, 12)
                  .join(', '),
            one.stickiness ? 'yes' : 'no',
            counted(one.usedInFeatures, 'flag'),
          ],
          actions: may
            ? h(EditActions, {
                of: one.name,
                edit: () => editContextField(session, one),
                remove: one.createdAt === null ? null : () => deleteContextField(session, one),
              })
            : null,
        })),
        none: 'There are no context fields',
      }),
    ),
  ];
}
