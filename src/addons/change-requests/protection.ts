/** Environments of projects that take change requests, each with a record that says how. */
import * as v from 'valibot';
import { APPROVALS_MAX } from '../../domain/decide/new-project.ts';
import { type Issue, issuesOf } from '../../domain/json/issues.ts';
import { Count } from '../../domain/json/schema.ts';
import type { AddonKind, AddonRecords } from '../../domain/kinds/addon-kind.ts';
import { addonRecordsOf, type ReadRecord } from '../../domain/state/addon-records.ts';
import { type DomainEvent, recordEvent } from '../../domain/state/events.ts';
import type { World } from '../../domain/state/world.ts';

export const CONFIGURATION_UPDATED = 'change-request-configuration-updated';
/** An event of its own, so that it can be searched and sent: somebody has changed a protected environment without a request. */
export const SKIPPED = 'change-request-skipped';

export const ApprovalsSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.maxValue(APPROVALS_MAX),
  v.description('How many people must approve a request; 0: nobody.'),
);

const ProtectionSchema = v.object({
  project: v.string(),
  environment: v.string(),
  enabled: v.boolean(),
  requiredApprovals: ApprovalsSchema,
  /** Whether flags may be switched off without a request. */
  allowsSwitchOff: v.boolean(),
  /** How many changes were made without a request. */
  skips: Count,
  /** The newest one of them. */
  skip: v.nullable(
    v.object({
      reason: v.picklist(['permission', 'switch-off']),
      features: v.array(v.string()),
      events: v.array(v.string()),
    }),
  ),
});

export type Protection = Readonly<v.InferOutput<typeof ProtectionSchema>>;

export const PROTECTION: AddonKind<Protection> = {
  name: 'change-request-environment',
  noun: 'environment with change requests',
  events: {
    created: CONFIGURATION_UPDATED,
    updated: CONFIGURATION_UPDATED,
    deleted: CONFIGURATION_UPDATED,
  },
  upgrades: [],
  countMax: 10_000,
  bytesMax: 16 * 1024,
  placeOf: (protection) => protection,
  issuesOf: ({ data }) => schemaIssues(ProtectionSchema, data, 'The configuration'),
};

/** Lists what is wrong with a record of a state document. */
export function schemaIssues(schema: v.GenericSchema, data: unknown, whole: string): readonly Issue[] {
  const { issues = [] } = v.safeParse(schema, data);
  return issuesOf(issues, whole).map(({ path, message }) => ({ path: `/data${path}`, message }));
}

export interface Place {
  readonly project: string;
  readonly environment: string;
}

type Known = ReadRecord<Protection>;

const byPlace = new WeakMap<AddonRecords, ReadonlyMap<string, Known>>();

/** Neither ids of projects nor names of environments have a space. */
const keyOf = ({ project, environment }: Place): string => `${project} ${environment}`;

/** All configurations by place; null where there was never one. Looking each up would cost every change something. */
function protections(world: World): ReadonlyMap<string, Known> | null {
  const records = world.addonRecords.get(PROTECTION.name);
  if (records === undefined) return null;
  let known = byPlace.get(records);
  if (known === undefined) {
    known = new Map(addonRecordsOf(world, PROTECTION).map((record) => [keyOf(record.data), record]));
    byPlace.set(records, known);
  }
  return known;
}

export const hasProtections = (world: World): boolean => protections(world) !== null;

/** The configuration of the environment, which may be off; undefined where there was never one. */
export const configurationOf = (world: World, place: Place): Known | undefined =>
  protections(world)?.get(keyOf(place));

/** The configuration of an environment that takes change requests; null for another. */
export function protectionOf(world: World, place: Place): Known | null {
  const known = configurationOf(world, place);
  return known?.data.enabled === true ? known : null;
}

export const requiredApprovals = (world: World, place: Place): number =>
  protectionOf(world, place)?.data.requiredApprovals ?? 0;

/** Projects in which an environment of that name takes change requests. */
export const projectsProtecting = (world: World, environment: string): readonly string[] =>
  [...(protections(world)?.values() ?? [])].flatMap(({ data }) =>
    data.enabled && data.environment === environment ? data.project : [],
  );

export function skipsIn(world: World): number {
  let count = 0;
  for (const { data } of protections(world)?.values() ?? []) count += data.skips;
  return count;
}

export function protectionEvent(
  type: typeof CONFIGURATION_UPDATED | typeof SKIPPED,
  id: number,
  [before, after]: readonly [Protection | null, Protection],
): DomainEvent {
  const content = (data: Protection | null) => (data === null ? null : { data, secrets: {} });
  const event = recordEvent(PROTECTION, id, [content(before), content(after)]);
  return { ...event, type } as unknown as DomainEvent;
}
