/** The first view of a user: their projects and flags, and whom to ask (docs/specification/companions.md#reports). */
import { ADMIN_ROLE_ID, OWNER_ROLE_ID } from '../../domain/access/roles.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { favoritesOf } from '../../domain/state/favorites.ts';
import { locateFlagAnywhere, peopleOf } from '../../domain/state/locate.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState, User, World } from '../../domain/state/world.ts';
import { rolesIn } from '../serving/access.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../serving/route.ts';
import * as locate from './locators.ts';
import { healthOf, projectFigures, stateCounts } from './project-figures.ts';
import { onboardingStatus } from './project-overview-view.ts';
import { PersonalDashboardSchema, PersonalProjectSchema } from './report-schemas.ts';
import { settledResponse } from './responses.ts';
import { walkFlags } from './shelf-walk.ts';
import { imageUrlOf } from './views.ts';

/** The most flags of each kind, so that the page stays one. */
const FLAGS_MAX = 100;
const PROJECTS_MAX = 100;
const PEOPLE_MAX = 100;
const EVENTS_MAX = 10;

type Context = RequestContext<unknown>;

const identityOf = ({ id, email, username }: User): string => email ?? username ?? String(id);

const ownerView = (user: User) => ({
  ownerType: 'user' as const,
  name: user.name ?? identityOf(user),
  email: user.email,
  imageUrl: imageUrlOf(identityOf(user)),
});

/** Users whose own role it is to own one of the projects, or that of a group of theirs. */
function ownersOf({ directory }: World, projects: readonly ProjectState[]): readonly User[] {
  const ids = new Set<number>();
  for (const { members, groups } of projects) {
    for (const [userId, roleId] of members) if (roleId === OWNER_ROLE_ID) ids.add(userId);
    for (const [groupId, roleId] of groups) {
      const users = roleId === OWNER_ROLE_ID ? directory.groups.get(groupId)?.users : undefined;
      for (const id of users ?? []) ids.add(id);
    }
  }
  return peopleOf(directory)
    .filter(({ id }) => ids.has(id))
    .slice(0, PEOPLE_MAX);
}

function adminsOf({ directory }: World) {
  const byGroup = new Set(
    [...directory.groups.values()]
      .filter(({ rootRole }) => rootRole === ADMIN_ROLE_ID)
      .flatMap(({ users }) => users),
  );
  return peopleOf(directory)
    .filter(({ id, rootRole }) => rootRole === ADMIN_ROLE_ID || byGroup.has(id))
    .slice(0, PEOPLE_MAX)
    .map((user) => ({
      id: user.id,
      ...(user.name === null ? {} : { name: user.name }),
      ...(user.username === null ? {} : { username: user.username }),
      ...(user.email === null ? {} : { email: user.email }),
      imageUrl: imageUrlOf(identityOf(user)),
    }));
}

const flagView = ({ name, project, type }: Flag) => ({ name, project, type });

/** Favorites that are not archived, in the order in which they were marked. */
function favoriteFlags(world: World, userId: number): readonly Flag[] {
  return favoritesOf(world, userId)
    .flags.map((name) => locateFlagAnywhere(world, name))
    .flatMap((located) => (located.refused ? [] : [located.record.flag]))
    .filter(({ archivedAt }) => archivedAt === null);
}

/** The newest of them, newest first. */
async function createdFlags(context: Context, userId: number): Promise<readonly Flag[] | Refusal> {
  const found: Flag[] = [];
  const refusal = await walkFlags(context, context.world.projects.values(), ({ record }) => {
    if (record.createdBy === userId && record.flag.archivedAt === null) found.push(record.flag);
  });
  return refusal ?? found.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

async function readDashboard(context: Context): Promise<ReadResponse | Refusal> {
  const { world, caller, requester, now } = context;
  const { id } = locate.callingUser(context);
  const favorites = favoritesOf(world, id);
  const projects = [...world.projects.values()]
    .filter(
      (project) =>
        rolesIn(world, caller, project).length > 0 || favorites.projects.includes(project.settings.id),
    )
    .slice(0, PROJECTS_MAX);
  const owners = ownersOf(world, projects).map(ownerView);
  const shown = projects.map(({ settings, members }) => ({
    id: settings.id,
    name: settings.name,
    memberCount: members.size,
  }));
  const marked = favoriteFlags(world, id);
  const figures = await projectFigures(projects, now(), requester);
  const created = await createdFlags(context, id);
  if (isRefusal(created)) return created;
  const names = new Set(marked.map(({ name }) => name));
  const flags = [...marked, ...created.filter(({ name }) => !names.has(name))];
  return settledResponse(context, {
    projects: shown.map((one, at) => ({
      ...one,
      health: healthOf(figures[at]!),
      featureCount: figures[at]!.flagCount,
    })),
    flags: flags.slice(0, FLAGS_MAX).map(flagView),
    admins: adminsOf(world),
    projectOwners: owners,
  });
}

interface EventShown {
  readonly id: number;
  readonly type: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly featureName: string | null;
  readonly environment: string | null;
}

/** One line: who did what to what. */
function eventView({ id, type, createdBy, createdAt, featureName, environment }: EventShown) {
  const what = [featureName ?? '', environment === null ? '' : `in ${environment}`].join(' ').trim();
  const summary = `${createdBy}: ${type}${what === '' ? '' : ` ${what}`}`;
  return { id, summary, createdBy, createdByImageUrl: imageUrlOf(createdBy), createdAt };
}

async function readProject(context: Context, project: ProjectState): Promise<ReadResponse | Refusal> {
  const { world, caller, usage, engine, reads, requester, now } = context;
  const owners = ownersOf(world, [project]).map(ownerView);
  const roles = new Set(rolesIn(world, caller, project));
  const shelves = project.flags.shelved();
  const [figures] = await projectFigures([project], now(), requester);
  const { activeCount, staleCount, potentiallyStaleCount } = stateCounts(figures!);
  const query = { project: project.settings.id, limit: EVENTS_MAX, offset: 0 };
  const page = await reads.search(query, engine.durableId, requester);
  if (isRefusal(page)) return page;
  const events = JSON.parse(Buffer.from(page.json).toString()) as readonly EventShown[];
  return settledResponse(context, {
    insights: {
      avgHealthCurrentWindow: null,
      avgHealthPastWindow: null,
      totalFlags: figures!.flagCount,
      activeFlags: activeCount,
      staleFlags: staleCount,
      potentiallyStaleFlags: potentiallyStaleCount,
      health: healthOf(figures!),
    },
    onboardingStatus: await onboardingStatus({ seen: usage.seen, requester }, shelves, figures!.firstFlag),
    latestEvents: events.map(eventView),
    owners: owners.length === 0 ? [{ ownerType: 'system' }] : owners,
    roles: [...roles].map(({ id, name, type }) => ({ id, name, type })),
  });
}

export const personalDashboardRoutes = underTag('Users', [
  readRoute('GET /personal-dashboard', {
    operationId: 'getPersonalDashboard',
    summary: "Read the caller's projects and flags, and whom to ask.",
    permission: 'personal',
    success: { status: 200, schema: PersonalDashboardSchema },
    read: readDashboard,
  }),
  readRoute('GET /personal-dashboard/:projectId', {
    operationId: 'getPersonalDashboardProjectDetails',
    summary: 'Read how a project is, what was done in it last, and who owns it.',
    permission: 'personal',
    locate: locate.project,
    success: { status: 200, schema: PersonalProjectSchema },
    read: readProject,
  }),
]);
