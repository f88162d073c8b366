/**
 * Carries out a plan of a project: directly, or as change requests of environments that take no other changes. Each call is one
 * change of the server, which happens as a whole or not at all, so a command that is interrupted leaves nothing half done, and going
 * on is to plan again.
 */
import { grouped } from '../../domain/json/grouped.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import { AdminCallError, type AdminClient } from '../../host/admin-client.ts';
import { CommandFailure, misuse } from '../../host/command-failure.ts';
import { EXIT } from '../../process/exit-codes.ts';
import type { Change, FileStrategy, ShownFlag } from './flag-file.ts';
import { type ProjectPlan, readProject, type ShownProject, type Tell } from './plan.ts';

/** Flags and events of one call, below what the server takes. */
const FLAGS_MAX = 250;
const EVENTS_MAX = 1_100;
/** Actions that a change request takes. */
const PROPOSED_MAX = 500;

export interface Request {
  readonly environment: string;
  readonly url: string;
  /** False where a request of the caller was open before, to which nothing was added. */
  readonly isNew: boolean;
}

export async function carryOut(
  client: AdminClient,
  url: string,
  { project, changes }: ProjectPlan,
  tell: Tell,
): Promise<readonly Request[]> {
  const protectedOnes = await protectedEnvironments(client, project);
  // Requests name strategies by their ids, which a plan does not have.
  const flags: ShownProject['flags'] =
    protectedOnes.size === 0 ? new Map() : (await readProject(client, project, tell)).flags;
  const { direct, proposed } = divided(changes, protectedOnes, flags);
  const segments = await segmentIds(client, [...proposed.values()].flat());
  const proposals = [...proposed].map(([environment, some]): Proposal => {
    const actions = some.flatMap((change) => actionsOf(change, flags.get(change.flag), segments));
    if (actions.length > PROPOSED_MAX)
      throw misuse(
        `A change request takes ${PROPOSED_MAX} changes, and ${environment} would get ${actions.length} in one; apply fewer flags at once.`,
      );
    return { project, environment, actions };
  });
  let done = 0;
  for (const some of batches(direct)) {
    await sent(client, project, some);
    done += some.length;
    tell('changing', done, direct.length);
  }
  const requests: Request[] = [];
  for (const one of proposals) requests.push(await propose(client, url, one));
  return requests;
}

async function sent(client: AdminClient, project: string, changes: readonly Change[]): Promise<void> {
  try {
    await client.call('POST', `/projects/${encodeURIComponent(project)}/flags-as-code`, { changes });
  } catch (error) {
    if (error instanceof AdminCallError && error.status === 412)
      throw new CommandFailure(EXIT.drift, error.message);
    throw error;
  }
}

/** A flag is in one batch. Of several batches those come first that others may depend on, and archived flags come last. */
function batches(changes: readonly Change[]): readonly (readonly Change[])[] {
  const byFlag = [...grouped(changes, ({ flag }) => flag).values()];
  const order = (one: readonly Change[]): number => {
    if (one.some(({ field, after }) => field === 'presence' && after === 'archived')) return 2;
    return one.some(({ field }) => field === 'dependencies') ? 1 : 0;
  };
  const all: Change[][] = [];
  let [flags, events] = [FLAGS_MAX, 0];
  for (const one of byFlag.length > FLAGS_MAX ? byFlag.toSorted((a, b) => order(a) - order(b)) : byFlag) {
    const [first] = one as [Change];
    const count = one.reduce((sum, change) => sum + (isInCreation(change, first) ? 0 : eventsOf(change)), 0);
    if (flags === FLAGS_MAX || events + count > EVENTS_MAX) {
      all.push([]);
      [flags, events] = [0, 0];
    }
    all.at(-1)?.push(...one);
    flags += 1;
    events += count;
  }
  return all;
}

/** The most events that a change may record; one that creates a flag has its metadata. */
function eventsOf({ field, before, after }: Change): number {
  if (field !== 'strategies' && field !== 'tags' && field !== 'dependencies') return 1;
  const present = (before as readonly unknown[]).length;
  return present + (after as readonly unknown[]).length + (present === 0 ? 0 : 1);
}

const METADATA: ReadonlySet<string> = new Set(['description', 'type', 'impressionData', 'links']);

const isInCreation = (change: Change, { before }: Change): boolean =>
  before === 'absent' && METADATA.has(change.field);

function divided(
  changes: readonly Change[],
  protectedOnes: ReadonlySet<string>,
  flags: ShownProject['flags'],
) {
  const direct: Change[] = [];
  const proposed = new Map<string, Change[]>();
  for (const change of changes) {
    const environments = flags.get(change.flag)?.environments ?? [];
    const isServing = change.field === 'dependencies' || change.after === 'archived';
    const [on, other] = isServing
      ? environments.filter(({ name, enabled }) => enabled && protectedOnes.has(name))
      : [];
    if (on !== undefined && other !== undefined)
      throw misuse(
        `The ${change.field === 'dependencies' ? 'parents' : 'presence'} of the flag "${change.flag}" cannot be changed while it is on in ${on.name} and in ${other.name}, because both take change requests; turn it off in one of them first.`,
      );
    const place = change.environment ?? on?.name ?? null;
    if (place === null || !protectedOnes.has(place)) direct.push(change);
    else proposed.set(place, [...(proposed.get(place) ?? []), change]);
  }
  return { direct, proposed };
}

/** The environments that take changes by request alone; none where the server knows no requests. */
async function protectedEnvironments(client: AdminClient, project: string): Promise<ReadonlySet<string>> {
  const path = `/projects/${encodeURIComponent(project)}/change-requests/config`;
  const configured = (await client.getIfThere(path, true)) as
    | readonly { readonly environment: string; readonly changeRequestEnabled: boolean }[]
    | null;
  return new Set(configured?.flatMap((one) => (one.changeRequestEnabled ? one.environment : [])));
}

interface Proposal {
  readonly project: string;
  readonly environment: string;
  readonly actions: readonly Action[];
}

interface OpenRequest {
  readonly id: number;
  readonly environment: string;
}

async function propose(
  client: AdminClient,
  url: string,
  { project, environment, actions }: Proposal,
): Promise<Request> {
  const id = encodeURIComponent(project);
  const path = `/projects/${id}/change-requests`;
  const address = (request: OpenRequest) => `${url}/#/projects/${id}/change-requests/${request.id}`;
  const open = (await client.get(`${path}/pending`)) as readonly OpenRequest[];
  const mine = open.find((one) => one.environment === environment);
  if (mine !== undefined) return { environment, url: address(mine), isNew: false };
  const to = `/projects/${id}/environments/${encodeURIComponent(environment)}/change-requests`;
  const request = (await client.call('POST', to, actions)) as OpenRequest;
  try {
    await client.call('PUT', `${path}/${request.id}/state`, { state: 'In review' });
  } catch (error) {
    // A draft that stays would keep the next apply from proposing anything there.
    await client.call('DELETE', `${path}/${request.id}`).catch(() => undefined);
    throw error;
  }
  return { environment, url: address(request), isNew: true };
}

async function segmentIds(
  client: AdminClient,
  changes: readonly Change[],
): Promise<ReadonlyMap<string, number>> {
  const uses = changes.some(
    ({ field, after }) =>
      field === 'strategies' && (after as FileStrategy[]).some((one) => one.segments.length > 0),
  );
  if (!uses) return new Map();
  const { segments } = (await client.get('/segments')) as {
    readonly segments: readonly { readonly id: number; readonly name: string }[];
  };
  return new Map(segments.map(({ id, name }) => [name, id]));
}

interface Action {
  readonly feature: string;
  readonly action: string;
  readonly payload?: object;
}

function actionsOf(
  { flag: feature, environment, field, before, after }: Change,
  flag: ShownFlag | undefined,
  segments: ReadonlyMap<string, number>,
): readonly Action[] {
  if (field === 'enabled') return [{ feature, action: 'updateEnabled', payload: { enabled: after } }];
  if (field === 'variants') return [{ feature, action: 'patchVariant', payload: { variants: after } }];
  if (field === 'presence') return [{ feature, action: 'archiveFeature' }];
  if (field === 'dependencies') {
    const removed = (before as readonly object[]).length > 0 ? [{ feature, action: 'deleteDependency' }] : [];
    const added = (after as readonly object[]).map((payload) => ({
      feature,
      action: 'addDependency',
      payload,
    }));
    return [...removed, ...added];
  }
  const ids = flag?.environments.find(({ name }) => name === environment)?.ids ?? [];
  const bodyOf = (one: FileStrategy) => ({
    ...one,
    segments: one.segments.map((name) => segments.get(name) ?? 0),
  });
  const [was, becomes] = [before as readonly FileStrategy[], after as readonly FileStrategy[]];
  return [
    ...becomes.flatMap((one, at): readonly Action[] => {
      if (at >= was.length)
        return [{ feature, action: 'addStrategy', payload: { ...bodyOf(one), sortOrder: at } }];
      if (jsonEqual(one, was[at])) return [];
      return [{ feature, action: 'updateStrategy', payload: { id: ids[at], ...bodyOf(one) } }];
    }),
    ...was.slice(becomes.length).map((_, at) => {
      return { feature, action: 'deleteStrategy', payload: { id: ids[becomes.length + at] } };
    }),
  ];
}
