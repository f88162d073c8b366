/** The pages of what all projects share: environments, segments and context fields. */
import { isProduction } from '../changes.jsx';
import {
  createEnvironment,
  deleteContextField,
  deleteEnvironment,
  deleteSegment,
  editContextField,
  editEnvironment,
  editSegment,
  turnEnvironment,
} from '../edit/service-edits.jsx';
import { useEvents } from '../feed.js';
import { counted, number } from '../format.js';
import { EditActions, Listing, ListingHead, MainAction, RowAction } from '../parts/listing.jsx';
import { Constraints } from '../parts/strategy.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
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
  return (
    <>
      <ListingHead
        title="Environments"
        lead="Where applications run. Each flag has its own switch and strategies in each."
        action={may ? <MainAction text="New environment" act={() => createEnvironment(session)} /> : null}
      />
      {whenLoaded(loaded, (/** @type {{ environments: Environment[] }} */ { environments }) => (
        <Listing
          key="list"
          label="Environments"
          columns={columns}
          rows={environments.map((one) => environmentRow(one, may))}
          none="There are no environments"
        />
      ))}
    </>
  );

  /** @param {Environment} one @param {boolean} mayEdit */
  function environmentRow(one, mayEdit) {
    const { name, type, enabled, projectCount, enabledToggleCount, apiTokenCount } = one;
    const badge = isProduction(session, name) ? <span class="badge badge-production">production</span> : type;
    return {
      key: name,
      cells: [
        <code>{name}</code>,
        badge,
        enabled ? 'on' : 'off',
        number(projectCount),
        number(enabledToggleCount),
        number(apiTokenCount),
      ],
      actions: mayEdit ? (
        <>
          <RowAction text="Edit" of={name} act={() => editEnvironment(session, one)} />
          <RowAction
            text={enabled ? 'Switch off' : 'Switch on'}
            of={name}
            act={() => turnEnvironment(session, one)}
          />
          <RowAction text="Delete" of={name} act={() => deleteEnvironment(session, one)} />
        </>
      ) : null,
    };
  }
}

export function SegmentsView() {
  const session = useSession();
  const loaded = useResource(() => session.client.get('/segments'), [session]);
  useEvents(session, () => void loaded.refresh());
  const may = session.may('targeting');
  const columns = [{ title: 'Segment', isMain: true }, { title: 'Users' }, { title: 'Used by' }];
  return (
    <>
      <ListingHead
        title="Segments"
        lead="Groups of users that strategies of any project can select."
        action={may ? <MainAction text="New segment" act={() => editSegment(session, null)} /> : null}
      />
      {whenLoaded(loaded, (/** @type {{ segments: Segment[] }} */ { segments }) => (
        <Listing
          key="list"
          label="Segments"
          columns={columns}
          rows={segments.map((one) => ({
            key: String(one.id),
            cells: [
              [
                <Name key="name" text={one.name} />,
                one.description ? (
                  <p key="what" class="hint">
                    <Name text={one.description} max={300} />
                  </p>
                ) : null,
              ],
              one.constraints.length === 0 ? 'Everyone' : <Constraints of={one.constraints} />,
              counted(one.usedInFeatures, 'flag'),
            ],
            actions: may ? (
              <EditActions
                of={one.name}
                edit={() => editSegment(session, one)}
                remove={() => deleteSegment(session, one)}
              />
            ) : null,
          }))}
          none="No segments yet"
          next="A segment is a group of users that many strategies can select."
        />
      ))}
    </>
  );
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
  return (
    <>
      <ListingHead
        title="Context fields"
        lead="What applications tell about a user, and constraints compare."
        action={
          may ? <MainAction text="New context field" act={() => editContextField(session, null)} /> : null
        }
      />
      {whenLoaded(loaded, (/** @type {ContextField[]} */ fields) => (
        <Listing
          key="list"
          label="Context fields"
          columns={columns}
          rows={fields.map((one) => ({
            key: one.name,
            cells: [
              <>
                <code>{one.name}</code>
                {one.description ? <p class="hint">{one.description}</p> : null}
              </>,
              one.legalValues.length === 0
                ? 'any'
                : one.legalValues
                    .map(({ value }) => value)
                    .slice(0, 12)
                    .join(', '),
              one.stickiness ? 'yes' : 'no',
              counted(one.usedInFeatures, 'flag'),
            ],
            actions: may ? (
              <EditActions
                of={one.name}
                edit={() => editContextField(session, one)}
                remove={one.createdAt === null ? null : () => deleteContextField(session, one)}
              />
            ) : null,
          }))}
          none="There are no context fields"
        />
      ))}
    </>
  );
}
