/** A project beside its flags: what it is called, who belongs to it, and which environments it uses. */
import { path } from '../client.js';
import {
  addMember,
  deleteProject,
  describeProject,
  memberName,
  removeMember,
  setProjectEnvironment,
  setRole,
} from '../edit/project-edits.jsx';
import { useEvents } from '../feed.js';
import { counted } from '../format.js';
import { Choice } from '../forms/choice.jsx';
import { ApiTokens } from '../parts/api-tokens.jsx';
import { ProjectCrumb } from '../parts/crumb.jsx';
import { Listing, ListingHead, PartAction, RowAction } from '../parts/listing.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { visible } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { AccessAt } from '../edit/project-edits.jsx' */
/** @import { Environment, ProjectAccess, ProjectMember, ProjectSummary, Role } from '../types.d.ts' */

/** @param {{ project: string }} props */
export function SettingsView({ project }) {
  const session = useSession();
  const { client, projects } = session;
  const access = useResource(async () => {
    const since = session.feed.newest();
    return { since, ...(await client.read(path`/projects/${project}/access`)) };
  }, [client, project]);
  const environments = useResource(() => client.get('/environments'), [client]);
  useEvents(session, () => {
    void access.refresh();
    void environments.refresh();
  });
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
      {whenLoaded(environments, (/** @type {{ environments: Environment[] }} */ loaded) => (
        <Environments
          key="environments"
          project={project}
          all={loaded.environments}
          used={summary?.environments ?? []}
          may={may}
        />
      ))}
      {may ? <ApiTokens project={project} /> : null}
    </>
  );
}

/** @param {{ project: ProjectSummary }} props */
function ProjectActions({ project }) {
  const session = useSession();
  return (
    <div class="actions">
      <button type="button" class="button" onClick={() => void describeProject(session, project)}>
        Edit…
      </button>
      <button
        type="button"
        class="button button-danger-quiet"
        onClick={() => void deleteProject(session, project)}
      >
        Delete…
      </button>
    </div>
  );
}

/** @typedef {{ body: ProjectAccess, etag: string, since: number }} LoadedAccess */

/** @param {{ project: string, access: LoadedAccess, may: boolean }} props */
function Members({ project, access: { body, etag, since }, may }) {
  const session = useSession();
  const { users, groups, roles } = body;
  const read = { project, etag, since };
  const projectRoles = roles.filter(({ type }) => type === 'project' || type === 'custom');
  const rows = users.map((member) => ({
    key: String(member.id),
    cells: [memberName(member), <RoleCell read={read} member={member} roles={projectRoles} may={may} />],
    actions: may ? (
      <RowAction text="Remove" of={memberName(member)} act={() => removeMember(session, read, member)} />
    ) : null,
  }));
  const groupRows = groups.map(({ id, name, userCount, roleId }) => ({
    key: `group ${id}`,
    cells: [
      `${visible(name)} (a group of ${counted(userCount, 'user')})`,
      roles.find((role) => role.id === roleId)?.name ?? String(roleId),
    ],
  }));
  return (
    <section class="part">
      <div class="title-row">
        <h2>Members</h2>
        {may ? <PartAction text="Add member" act={() => addMember(session, project, projectRoles)} /> : null}
      </div>
      <Listing
        label="Members"
        columns={[{ title: 'Member', isMain: true }, { title: 'Role' }]}
        rows={[...rows, ...groupRows]}
        none="Nobody is a member yet"
        next="Admins and Editors work here all the same. Members have a role in this project alone."
      />
    </section>
  );
}

/** @param {{ read: AccessAt, member: ProjectMember, roles: readonly Role[], may: boolean }} props */
function RoleCell({ read, member, roles, may }) {
  const session = useSession();
  if (!may) return roles.find(({ id }) => id === member.roleId)?.name ?? String(member.roleId);
  return (
    <Choice
      options={roles.map(named)}
      value={String(member.roleId)}
      change={(id) => void setRole(session, read, member, Number(id))}
      attributes={{ class: 'filter', 'aria-label': `Role of ${visible(memberName(member))}` }}
    />
  );
}

/** @param {Role} role @returns {[string, string]} */
const named = ({ id, name }) => [String(id), name];

/** @param {{ project: string, all: readonly Environment[], used: readonly string[], may: boolean }} props */
function Environments({ project, all, used, may }) {
  const session = useSession();
  const rows = all.map(({ name, type }) => {
    const isUsed = used.includes(name);
    return {
      key: name,
      cells: [name, type, isUsed ? 'used' : 'not used'],
      actions: may ? (
        <RowAction
          text={isUsed ? 'Remove' : 'Add'}
          of={name}
          act={() => setProjectEnvironment(session, project, name, !isUsed)}
        />
      ) : null,
    };
  });
  return (
    <section class="part">
      <h2>Environments</h2>
      <Listing
        label="Environments"
        columns={[{ title: 'Environment', isMain: true }, { title: 'Type' }, { title: 'In this project' }]}
        rows={rows}
        none="There are no environments"
      />
    </section>
  );
}
