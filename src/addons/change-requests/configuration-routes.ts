/** The routes by which environments begin and end to take change requests. */
import * as v from 'valibot';
import { ownCommand } from '../../domain/decide/decide.ts';
import type { ProtectNewProject } from '../../domain/decide/new-project.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import { described, titled } from '../../domain/json/schema.ts';
import { countOfRecords, nextRecordId } from '../../domain/state/addon-records.ts';
import { type Decision, UNCHANGED } from '../../domain/state/decision.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { locateProjectEnvironment } from '../../domain/state/locate.ts';
import { invalidOperation, isRefusal } from '../../domain/state/refusal.ts';
import { projectEnvironments, type World } from '../../domain/state/world.ts';
import * as locate from '../../http/admin/locators.ts';
import { type Route, readRoute, underTag, writeRoute } from '../../http/serving/route.ts';
import {
  ApprovalsSchema,
  CONFIGURATION_UPDATED,
  configurationOf,
  type Place,
  PROTECTION,
  type Protection,
  protectionEvent,
  protectionOf,
} from './protection.ts';

const FIELDS = {
  requiredApprovals: v.optional(v.nullable(ApprovalsSchema)),
  allowSwitchOff: described(
    v.optional(v.boolean()),
    'Whether flags may be switched off without a request. Kept where it is absent; true at first.',
  ),
};

const Body = titled('ChangeRequestConfigInput', { changeRequestsEnabled: v.boolean(), ...FIELDS });

const ConfigSchema = v.array(
  titled('ChangeRequestConfig', {
    environment: v.string(),
    type: v.string(),
    changeRequestEnabled: v.boolean(),
    requiredApprovals: v.nullable(ApprovalsSchema),
    allowSwitchOff: v.boolean(),
  }),
);

interface Configure extends Place {
  readonly body: v.InferOutput<typeof Body>;
}

function configure(world: World, { project, environment, body }: Configure): Decision {
  const located = locateProjectEnvironment(world, project, environment);
  if (isRefusal(located)) return located;
  return configured(world, { project, environment }, body, 0);
}

/** The event that configures the environment, behind `added` others that make a configuration. */
function configured(
  world: World,
  place: Place,
  { changeRequestsEnabled, requiredApprovals, allowSwitchOff }: Configure['body'],
  added: number,
): Decision {
  const known = configurationOf(world, place);
  const before: Protection = known?.data ?? {
    ...{ ...place, enabled: false, requiredApprovals: 1 },
    ...{ allowsSwitchOff: true, skips: 0, skip: null },
  };
  const after: Protection = {
    ...before,
    enabled: changeRequestsEnabled,
    requiredApprovals: requiredApprovals ?? before.requiredApprovals,
    allowsSwitchOff: allowSwitchOff ?? before.allowsSwitchOff,
  };
  if (jsonEqual(before, after)) return UNCHANGED;
  if (known === undefined && countOfRecords(world, PROTECTION) + added >= PROTECTION.countMax)
    return invalidOperation(`The limit is ${PROTECTION.countMax} environments with change requests.`);
  const id = known?.id ?? nextRecordId(world, PROTECTION) + added;
  return [protectionEvent(CONFIGURATION_UPDATED, id, [known?.data ?? null, after])];
}

/** An environment that a deleted project of the same id had protected stays so. */
export const protectNewProject: ProtectNewProject = (world, { id: project, environments }, named) => {
  const events: DomainEvent[] = [];
  for (const { name: environment, requiredApprovals: initial } of world.directory.environments) {
    const place = { project, environment };
    const wanted = named.find(({ name }) => name === environment);
    const isDefault = initial !== undefined && protectionOf(world, place) === null;
    if (!environments.includes(environment) || (wanted === undefined && !isDefault)) continue;
    const requiredApprovals = wanted?.requiredApprovals ?? initial;
    const added = events.filter(({ preData }) => preData === null).length;
    const decision = configured(world, place, { changeRequestsEnabled: true, requiredApprovals }, added);
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return events;
};

export const configurationRoutes: readonly Route[] = underTag('Change Requests', [
  readRoute('GET /projects/:projectId/change-requests/config', {
    operationId: 'getProjectChangeRequestConfig',
    summary: 'List which environments of a project take change requests.',
    needs: ['PROJECT_CHANGE_REQUEST_READ'],
    locate: locate.project,
    success: { status: 200, schema: ConfigSchema },
    shows: ({ world }, project) =>
      projectEnvironments(world, project).map(({ name, type }) => {
        const known = configurationOf(world, { project: project.settings.id, environment: name })?.data;
        return {
          ...{ environment: name, type, changeRequestEnabled: known?.enabled === true },
          requiredApprovals: known?.requiredApprovals ?? null,
          allowSwitchOff: known?.allowsSwitchOff ?? true,
        };
      }),
  }),
  writeRoute('PUT /projects/:projectId/environments/:environment/change-requests/config', {
    operationId: 'updateProjectChangeRequestConfig',
    summary: 'Set whether an environment of a project takes change requests, and how many must approve one.',
    needs: ['PROJECT_CHANGE_REQUEST_WRITE'],
    locate: locate.projectEnvironment,
    body: Body,
    command: ({ params: { projectId: project, environment }, body }) =>
      ownCommand({ sent: { project, environment, body }, decide: configure, faultPath: '/body' }),
  }),
]);
