/** Changes of environments that take change requests, in the form in which they are proposed there. */
import { changing, path, Refused } from './client.js';
import { notice } from './notices.jsx';
import { RequestLink } from './parts/request-state.jsx';
import { isProduction } from './session.js';

/** @import { Change } from './client.js' */
/** @import { ChangeRequest, ChangeRequestConfig, Flag, LoggedEvent, Session, StrategyUse } from './types.d.ts' */

/** @typedef {{ feature: string | null, action: string, payload?: unknown }} ProposedChange */
/** @typedef {{ project: string, environment: string, changes: readonly ProposedChange[], beside?: readonly string[] }} Proposal `beside`: environments that get the same variants at once */
/** @typedef {Record<string, string>} Names the parts of a path by what they name */

/** The environments of a project that take change requests, production first. @type {Map<string, Promise<readonly ChangeRequestConfig[]>>} */
const known = new Map();

/** None where the caller may not read them. Rejects where that is not known: a change could be made that should be proposed. @param {Session} session @param {string} project @returns {Promise<readonly ChangeRequestConfig[]>} */
export function protectedIn({ client }, project) {
  const found =
    known.get(project) ??
    client.get(path`/projects/${project}/change-requests/config`).then(
      (/** @type {readonly ChangeRequestConfig[]} */ all) =>
        all
          .filter(({ changeRequestEnabled }) => changeRequestEnabled)
          .sort((one, other) => Number(isProductive(other)) - Number(isProductive(one))),
      (error) => {
        known.delete(project);
        if (error instanceof Refused && (error.status === 403 || error.status === 404)) return [];
        throw error;
      },
    );
  known.set(project, found);
  return found;
}

/** @param {ChangeRequestConfig} config */
const isProductive = ({ type }) => type === 'production';

/** After an event that may have changed them, and at the end of a session. */
export const forgetProtected = () => known.clear();

const FLAG = '/projects/:project/features/:flag';
const HERE = `${FLAG}/environments/:environment`;

/** @param {string} action @param {(names: Names, body: any) => unknown} [payload] @returns {(names: Names, body: any) => readonly ProposedChange[]} */
const one = (action, payload) => (names, body) => [
  {
    feature: names['flag'] ?? null,
    action,
    ...(payload === undefined ? {} : { payload: payload(names, body) }),
  },
];

/** @typedef {(names: Names, body: any, of: { at: string, session: Session }) => Promise<readonly ProposedChange[]> | readonly ProposedChange[]} ChangesOf */

/** The changes of a request that a write stands for. @type {Readonly<Record<string, ChangesOf>>} */
const ROWS = {
  [`POST ${HERE}/on`]: one('updateEnabled', () => ({ enabled: true })),
  [`POST ${HERE}/off`]: one('updateEnabled', () => ({ enabled: false })),
  [`POST ${HERE}/strategies`]: one('addStrategy', (_, body) => body),
  [`PUT ${HERE}/strategies/:id`]: one('updateStrategy', ({ id }, body) => ({ ...body, id })),
  [`DELETE ${HERE}/strategies/:id`]: one('deleteStrategy', ({ id }) => ({ id })),
  [`POST ${HERE}/strategies/set-sort-order`]: one('reorderStrategy', (_, body) => body),
  'POST /projects/:project/bulk_features/environments/:environment/:position': ({ position }, { features }) =>
    features.map((/** @type {string} */ feature) => ({
      feature,
      action: 'updateEnabled',
      payload: { enabled: position === 'on' },
    })),
  [`PUT ${FLAG}/variants`]: one('patchVariant', (_, variants) => ({ variants })),
  [`DELETE ${FLAG}`]: one('archiveFeature'),
  'POST /projects/:project/archive': (_, { features }) =>
    features.map((/** @type {string} */ feature) => ({ feature, action: 'archiveFeature' })),
  [`POST ${FLAG}/dependencies`]: one('addDependency', (_, body) => body),
  [`DELETE ${FLAG}/dependencies/:parent`]: one('deleteDependency', ({ parent }) => ({ feature: parent })),
  [`POST ${HERE}/strategies/copy`]: async ({ flag = '' }, body, { at, session }) => {
    /** @type {{ events: readonly LoggedEvent[] }} */
    const { events } = await session.client.post(`${at}?dryRun=true`, body);
    return events.flatMap((event) => changesOfEvent({ ...event, featureName: flag }));
  },
  'PUT /segments/:segment': one('updateSegment', ({ segment }, body) => ({ ...body, id: Number(segment) })),
  'DELETE /segments/:segment': one('deleteSegment', ({ segment }) => ({ id: Number(segment) })),
};

/** The actions that stand for planned events of a flag in an environment, with their payloads. @type {Readonly<Record<string, (event: LoggedEvent) => readonly [action: string, payload: unknown]>>} */
const ACTIONS = {
  'feature-environment-enabled': () => ['updateEnabled', { enabled: true }],
  'feature-environment-disabled': () => ['updateEnabled', { enabled: false }],
  'feature-strategy-add': ({ data }) => ['addStrategy', { ...data, id: undefined }],
  'feature-strategy-update': ({ data }) => ['updateStrategy', data],
  'feature-strategy-remove': ({ preData }) => ['deleteStrategy', { id: preData?.['id'] }],
  'strategy-order-changed': ({ data }) => ['reorderStrategy', data?.['strategies']],
  'feature-environment-variants-updated': ({ data }) => ['patchVariant', data],
};

/** @param {LoggedEvent} event @returns {readonly ProposedChange[]} */
function changesOfEvent(event) {
  const [action, payload] = ACTIONS[event.type]?.(event) ?? [];
  return action === undefined ? [] : [{ feature: event.featureName, action, payload }];
}

/**
 * The proposals of planned events; none where nothing that they change takes change requests. Strategies go last, since a flag whose last one goes is switched off.
 * @param {Session} session
 * @param {{ project: string, name?: string }} of `name`: the flag of events that name none
 * @param {readonly LoggedEvent[]} events
 * @returns {Promise<readonly Proposal[]>}
 */
export async function proposalsOfEvents(session, { project, name }, events) {
  const all = await protectedIn(session, project);
  return all.flatMap((config) => {
    const { environment } = config;
    const changes = events
      .filter((event) => event.environment === environment)
      .flatMap((event) => changesOfEvent({ ...event, featureName: event.featureName ?? name ?? null }))
      .sort((one, other) => Number(isRemoval(one)) - Number(isRemoval(other)));
    return changes.length === 0 || isAllowed(config, changes) ? [] : [{ project, environment, changes }];
  });
}

/** @param {ProposedChange} change */
const isRemoval = ({ action }) => action === 'deleteStrategy';

/** Whether they only switch off, where that needs no request. @param {ChangeRequestConfig} config @param {readonly ProposedChange[]} changes */
const isAllowed = ({ allowSwitchOff }, changes) =>
  allowSwitchOff && changes.every(({ payload }) => /** @type {any} */ (payload)?.enabled === false);

/** @param {Session} session @param {Change} change @returns {{ names: Names, changes: ReturnType<ChangesOf> } | null} */
function translated(session, { method, path: at, body, proposal }) {
  if (proposal !== undefined) {
    const { project, environment, changes } = proposal;
    return { names: { project, environment }, changes };
  }
  for (const [row, changesOf] of Object.entries(ROWS)) {
    const pattern = new RegExp(`^${row.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
    const found = pattern.exec(`${method} ${at}`)?.groups;
    if (found === undefined) continue;
    const names = Object.fromEntries(
      Object.entries(found).map(([name, part]) => [name, decodeURIComponent(part)]),
    );
    return { names, changes: changesOf(names, body, { at, session }) };
  }
  return null;
}

/**
 * The environments in which a change is proposed, because it would change what applications get there. A change that
 * changes several at once is proposed in one of them; variants are proposed in each, and changed at once in the others.
 * @param {Session} session
 * @param {Names} names
 * @param {readonly ProposedChange[]} changes
 * @returns {Promise<readonly Omit<Proposal, 'changes'>[]>}
 */
async function placesOf(session, { project, environment, segment }, changes) {
  if (segment !== undefined) return placesOfSegment(session, segment);
  if (project === undefined) return [];
  const all = (await protectedIn(session, project)).map((one) => ({ ...one, project }));
  if (all.length === 0) return [];
  if (environment !== undefined)
    return all.filter((one) => one.environment === environment && !isAllowed(one, changes));
  /** @type {readonly Flag[]} */
  const flags = await Promise.all(
    changes.map(({ feature }) => session.client.get(path`/projects/${project}/features/${feature ?? ''}`)),
  );
  if (changes.some(({ action }) => action === 'patchVariant')) {
    const names = flags.flatMap(({ environments }) => environments.map(({ name }) => name));
    // Production changes at once only where somebody was asked about that.
    const beside = names.filter(
      (name) => !isProduction(session, name) && all.every((one) => one.environment !== name),
    );
    return all.map((one, index) => (index === 0 ? { ...one, beside } : one));
  }
  const on = new Set(
    flags.flatMap(({ environments }) => environments.flatMap(({ enabled, name }) => (enabled ? name : []))),
  );
  return all.filter((one) => on.has(one.environment)).slice(0, 1);
}

/** @param {Session} session @param {string} segment */
async function placesOfSegment(session, segment) {
  /** @type {{ strategies: readonly StrategyUse[] }} */
  const { strategies } = await session.client.get(path`/segments/${segment}/strategies`);
  for (const { projectId: project, environment } of strategies) {
    const found = (await protectedIn(session, project)).some((one) => one.environment === environment);
    if (found) return [{ project, environment }];
  }
  return [];
}

/**
 * The proposals that take the place of changes; empty where nothing that they change takes change requests.
 * @param {Session} session
 * @param {Change | readonly Change[]} change
 * @returns {Promise<readonly Proposal[]>}
 */
export async function proposalsOf(session, change) {
  /** @type {Map<string, Proposal>} */
  const proposals = new Map();
  for (const one of [change].flat()) {
    const found = translated(session, one);
    if (found === null) continue;
    const { names } = found;
    const changes = await found.changes;
    for (const place of await placesOf(session, names, changes)) {
      const key = `${place.project} ${place.environment}`;
      const before = proposals.get(key)?.changes ?? [];
      proposals.set(key, { ...place, changes: [...before, ...changes] });
    }
  }
  return [...proposals.values()];
}

/** @param {Proposal} proposal @returns {Change} */
export const proposing = ({ project, environment, changes }) =>
  changing('POST', path`/projects/${project}/environments/${environment}/change-requests`, changes);

/** Whether the caller may make it without a request, too. @param {Session} session @param {readonly Proposal[]} proposals */
export const maySkip = (session, proposals) =>
  proposals.length > 0 && proposals.every((one) => session.holds('SKIP_CHANGE_REQUEST', one));

/** Such as: production. @param {readonly Proposal[]} proposals */
export const placesText = (proposals) => proposals.map(({ environment }) => environment).join(' and ');

/** Such as: Changed at once: development. @param {readonly Proposal[]} proposals */
export function besideText(proposals) {
  const names = proposals.flatMap(({ beside = [] }) => beside);
  return names.length === 0 ? '' : ` Changed at once: ${names.join(' and ')}.`;
}

/** Says of a change that no request can hold what to do in place of it. @param {Session} session @param {Change} change @param {unknown} error */
export function explained(session, change, error) {
  const isGuarded = error instanceof Refused && /takes changes by change request alone/.test(error.message);
  if (!isGuarded || translated(session, change) !== null) return error;
  const [, environment] = /"(.*?)"/.exec(error.message) ?? [];
  return new Refused(
    403,
    `It would change ${environment}, which takes changes by change request, and no request can hold this. Have a request switch the flag off there and remove its strategies and variants first, or ask somebody who may skip requests.`,
  );
}

/** @param {{ project: string, id: number }} request */
export const requestPath = ({ project, id }) => path`/projects/${project}/change-requests/${id}`;

/**
 * Adds proposals to the caller's open requests, says so, and offers to take them out again.
 * @param {Session} session
 * @param {readonly Proposal[]} proposals
 * @param {(undo: readonly Change[]) => Promise<void>} takeBack
 */
export async function propose({ client, feed }, proposals, takeBack) {
  /** @type {Change[]} */
  const undo = [];
  const links = [];
  try {
    for (const proposal of proposals) {
      const request = await proposeOne(client, proposal, undo);
      links.push(<RequestLink key={request.id} of={request} />);
    }
  } catch (error) {
    // All is proposed, or nothing; what cannot be taken out any more is seen in the draft.
    for (const one of undo) await client.change(one).catch(() => undefined);
    throw error;
  }
  notice(
    'done',
    <>
      {`Proposed for ${placesText(proposals)}, and not in effect yet: `}
      {links}
      {besideText(proposals)}
    </>,
    () => takeBack(undo),
  );
  void feed.look();
}

/** @param {Session['client']} client @param {Proposal} proposal @param {Change[]} undo to which is added what takes it out again */
async function proposeOne(client, proposal, undo) {
  const { project, changes, beside = [] } = proposal;
  /** @type {ChangeRequest} */
  const request = await client.change(proposing(proposal)).catch(atFields);
  const ids = changeIdsOf(request);
  const at = requestPath(request);
  undo.push(
    ...(ids.length === changes.length
      ? [changing('DELETE', at)]
      : ids.slice(-changes.length).map((one) => changing('DELETE', `${at}/changes/${one}`))),
  );
  const { feature, payload } = changes[0] ?? {};
  for (const environment of beside) {
    const there = path`/projects/${project}/features/${feature ?? ''}/environments/${environment}/variants`;
    const { variants } = await client.get(there);
    await client.change(changing('PUT', there, /** @type {any} */ (payload).variants));
    undo.push(changing('PUT', there, variants));
  }
  return request;
}

/** Names the fields as the form does, whose request is the payload. @param {unknown} error @returns {never} */
function atFields(error) {
  if (!(error instanceof Refused)) throw error;
  const details = error.details.map(({ path: at = '', ...one }) => ({
    ...one,
    path: at.replace(/^\/body\/\d+\/payload/, '/body'),
  }));
  throw new Refused(error.status, error.message, details);
}

/** Ids of its changes, in the order in which they were added. @param {ChangeRequest} request */
const changeIdsOf = ({ features, segments }) =>
  [...features.flatMap(({ changes }) => changes), ...segments]
    .map(({ id }) => id)
    .sort((one, other) => one - other);
