/** A project beside its flags: what it is called, who belongs to it, and which environments it uses. */
import { useMemo, useState } from 'preact/hooks';
import { audienceOf } from '../audience.js';
import { path } from '../client.js';
import { configure } from '../edit/change-request-edits.jsx';
import { exportFlags, importFlags } from '../edit/flag-files.jsx';
import { ProjectLifetimes } from '../edit/lifetimes.jsx';
import {
  addMember,
  deleteProject,
  describeProject,
  editRules,
  removeMember,
  setProjectEnvironment,
  setRole,
} from '../edit/project-edits.jsx';
import { editDefaultStrategy } from '../edit/strategy-edits.jsx';
import { counted, userName } from '../format.js';
import { asOptions, Filter } from '../forms/choice.jsx';
import { apiTokens } from '../kinds/tokens.jsx';
import { Button } from '../parts/button.jsx';
import { Icon } from '../parts/icon.jsx';
import { ProjectCrumb } from '../parts/links.jsx';
import { AddButton, Listing, ListingHead, Part, RowAction, RowActions } from '../parts/listing.jsx';
import { MoreMenu } from '../parts/more-menu.jsx';
import { anyEvent, useRead, useResource, whenLoaded } from '../resource.jsx';
import { Sentence, visible } from '../said.jsx';
import { useSession } from '../session.js';
import { KindPart } from './kind-view.jsx';

/** @import { Resource } from '../resource.jsx' */
/** @import { ChangeRequestConfig, Environment, FlagTypes, ProjectAccess, ProjectEnvironment, ProjectSummary, Role } from '../types.d.ts' */

/** @param {{ project: string }} props */
export function SettingsView({ project }) {
  const session = useSession();
  const { client, projects } = session;
  const access = useResource(
    async () => {
      const since = session.feed.newest();
      return { since, ...(await client.read(path`/projects/${project}/access`)) };
    },
    [client, project],
    anyEvent,
  );
  const environments = useResource(
    /** @returns {Promise<EnvironmentLists>} */
    async () => {
      const [{ environments: all }, { environments: used }, requests] = await Promise.all([
        client.get('/environments'),
        client.get(path`/environments/project/${project}`),
        client.get(path`/projects/${project}/change-requests/config`),
      ]);
      return { all, used, requests };
    },
    [client, project],
    anyEvent,
  );
  /** @type {Resource<FlagTypes>} */
  const lifetimes = useRead(path`/projects/${project}/feature-types`, anyEvent);
  const tokens = useMemo(() => apiTokens(project), [project]);
  const summary = projects.value.find(({ id }) => id === project);
  const may = session.may('project', project);
  return (
    <>
      <ListingHead
        crumb={<ProjectCrumb project={project} />}
        title="Settings"
        action={may && summary !== undefined ? <ProjectActions project={summary} /> : null}
      />
      {whenLoaded(access, (/** @type {LoadedAccess} */ loaded) => (
        <Members key="members" project={project} access={loaded} may={may} />
      ))}
      {whenLoaded(environments, (loaded) => (
        <Environments key="environments" project={project} {...loaded} may={may} />
      ))}
      {whenLoaded(lifetimes, ({ types }) => (
        <ProjectLifetimes key="lifetimes" project={project} of={types} may={may} />
      ))}
      {may ? <KindPart key="tokens" kind={tokens} /> : null}
    </>
  );
}

/** @typedef {{ all: readonly Environment[], used: readonly ProjectEnvironment[], requests: readonly ChangeRequestConfig[] }} EnvironmentLists those of the service, those of the project, and how these take change requests */

/** @param {{ project: ProjectSummary }} props */
function ProjectActions({ project }) {
  const session = useSession();
  const { id, environments } = project;
  return (
    <div class="row">
      <Button act={() => describeProject(session, project)}>
        <Icon name="edit" />
        Edit…
      </Button>
      <MoreMenu
        label="More for this project"
        items={[
          ['Rules for new flags…', 'settings', () => editRules(session, project)],
          ['Export flags…', 'down', () => exportFlags(session, id, environments)],
          ['Import flags…', 'up', () => importFlags(session, id, environments)],
          ['Delete…', 'remove', () => deleteProject(session, project), true],
        ]}
      />
    </div>
  );
}

/** @typedef {{ body: ProjectAccess, etag: string, since: number }} LoadedAccess */

/** @param {{ project: string, access: LoadedAccess, may: boolean }} props */
function Members({ project, access: { body, etag, since }, may }) {
  const session = useSession();
  const { users, groups, roles } = body;
  const read = { project, etag, since };
  // Once a change is made, nothing else can be made from what was read before it.
  const [changed, setChanged] = useState('');
  /** @param {() => Promise<boolean>} change */
  const changeOnce = async (change) => {
    setChanged(etag);
    if (!(await change())) setChanged('');
  };
  const projectRoles = roles.filter(({ type }) => type === 'project' || type === 'custom');
  const members = [
    ...users.map((one) => ({ ...one, name: userName(one), title: userName(one), isGroup: false })),
    ...groups.map((one) => ({
      ...{ ...one, isGroup: true },
      title: `${one.name} (a group of ${counted(one.userCount, 'user')})`,
    })),
  ];
  const rows = members.map((member) => ({
    key: `${member.isGroup} ${member.id}`,
    cells: [
      member.title,
      <RoleCell
        key="role"
        roles={projectRoles}
        held={member.roleId}
        name={member.name}
        disabled={changed === etag}
        change={may ? (id) => changeOnce(() => setRole(session, read, member, id)) : null}
      />,
    ],
    actions: may ? (
      <RowAction
        text="Remove"
        of={member.name}
        disabled={changed === etag}
        act={() => changeOnce(() => removeMember(session, read, member))}
      />
    ) : null,
  }));
  return (
    <Part
      title="Members"
      action={
        may ? (
          <div class="row">
            <AddButton text="Add group" act={() => addMember(session, project, projectRoles, members)} />
            <AddButton text="Add member" act={() => addMember(session, project, projectRoles, null)} />
          </div>
        ) : null
      }
    >
      <Listing
        label="Members"
        columns={['Member', 'Role']}
        rows={rows}
        none="No members yet"
        next="Admins and Editors can work here anyway. Members have a role in this project only."
      />
    </Part>
  );
}

/** @param {{ roles: readonly Role[], held: number, name: string, disabled: boolean, change: ((id: number) => unknown) | null }} props */
function RoleCell({ roles, held, name, disabled, change }) {
  if (change === null) return roles.find(({ id }) => id === held)?.name ?? String(held);
  return (
    <Filter
      label={`Role of ${visible(name)}`}
      options={asOptions(roles)}
      value={String(held)}
      disabled={disabled}
      change={(id) => void change(Number(id))}
    />
  );
}

/** @param {EnvironmentLists & { project: string, may: boolean }} props */
function Environments({ project, all, used, requests, may }) {
  const session = useSession();
  const rows = all.map(({ name, type }) => {
    const own = used.find((one) => one.name === name);
    const first = own?.defaultStrategy;
    const config = requests.find(({ environment }) => environment === name);
    return {
      key: name,
      cells: [
        name,
        type,
        own === undefined ? 'not used' : 'used',
        own === undefined ? (
          ''
        ) : (
          <Sentence key="strategy">{first === undefined ? 'everyone' : audienceOf(first)}</Sentence>
        ),
        config?.changeRequestEnabled === true ? counted(config.requiredApprovals ?? 1, 'approval') : '',
      ],
      actions: may ? (
        <RowActions
          of={name}
          items={
            own === undefined
              ? [['Add', 'add', () => setProjectEnvironment(session, project, name, true)]]
              : [
                  ['Edit', 'edit', () => editDefaultStrategy(session, project, own)],
                  config === undefined
                    ? null
                    : ['Change requests…', 'branch', () => configure(session, project, config)],
                  ['Remove', 'remove', () => setProjectEnvironment(session, project, name, false), true],
                ]
          }
        />
      ) : null,
    };
  });
  return (
    <Part title="Environments">
      <Listing
        label="Environments"
        columns={['Environment', 'Type', 'In this project', 'Default strategy', 'Change requests']}
        rows={rows}
        none="There are no environments"
      />
    </Part>
  );
}
