/** The kind `integration`: its fields, its bounds, and the split of parameters into those that are shown and secrets. */
import * as v from 'valibot';
import { type Issue, issuesOf } from '../../domain/json/issues.ts';
import { pointerToken } from '../../domain/json/json-pointer.ts';
import { Integer, listUpTo, textUpTo } from '../../domain/json/schema.ts';
import type { AddonContent, AddonKind } from '../../domain/kinds/addon-kind.ts';
import { addonRecordsOf, type ReadRecord, recordsRevision } from '../../domain/state/addon-records.ts';
import { EVENT_TYPES } from '../../domain/state/event-types.ts';
import type { World } from '../../domain/state/world.ts';
import type { Integration } from './integration.ts';
import { parameterIssues } from './providers/parameters.ts';
import type { Parameters } from './providers/provider.ts';
import { PROVIDERS, providerNamed } from './providers/table.ts';

export const INTEGRATIONS_MAX = 100;
export const INTEGRATION_BYTES_MAX = 64 * 1024;
const NAMES_MAX = 500;

/** Stands for a secret where it is set, and keeps it where it is sent. */
export const MASK = '*****';

const PROVIDER_NAMES = PROVIDERS.map(({ name }) => name);
const ProviderName = v.picklist(PROVIDER_NAMES, `one of ${PROVIDER_NAMES.join(', ')}`);
const Names = listUpTo(NAMES_MAX, 'names', textUpTo(100));

export const FIELDS = {
  provider: ProviderName,
  description: v.nullable(textUpTo(1_000)),
  enabled: v.boolean(),
  events: listUpTo(EVENT_TYPES.length, 'event types', v.picklist(EVENT_TYPES, 'one of the event types')),
  projects: v.pipe(Names, v.description('Ids of projects; an empty list or `*` stands for all.')),
  environments: v.pipe(Names, v.description('Names of environments; an empty list or `*` stands for all.')),
};

export const IntegrationSchema = v.pipe(
  v.object({
    id: Integer,
    ...FIELDS,
    parameters: v.pipe(v.record(v.string(), v.string()), v.description(`Secrets are shown as \`${MASK}\`.`)),
  }),
  v.title('Addon'),
);

/** An integration as responses and events show it. */
export type ShownIntegration = Readonly<v.InferOutput<typeof IntegrationSchema>>;

export const INTEGRATION: AddonKind<ShownIntegration> = {
  name: 'integration',
  noun: 'integration',
  events: {
    created: 'addon-config-created',
    updated: 'addon-config-updated',
    deleted: 'addon-config-deleted',
  },
  upgrades: [],
  countMax: INTEGRATIONS_MAX,
  bytesMax: INTEGRATION_BYTES_MAX,
  issuesOf: (content) => {
    const { success, issues = [] } = v.safeParse(IntegrationSchema, content.data);
    const found = success ? issuesOfParameters(content) : issuesOf(issues, 'The integration');
    return found.map(({ path, message }) => ({ path: `/data${path}`, message }));
  },
};

/** Lists what is wrong with the parameters, secrets included. Those that an export left out are no fault of a document. */
export function issuesOfParameters({ data, secrets }: AddonContent<ShownIntegration>): readonly Issue[] {
  const provider = providerNamed(data.provider);
  if (provider === null) return [];
  const leftOut = new Set(missingSecrets({ data, secrets }).map((name) => `/${pointerToken(name)}`));
  return parameterIssues(provider, { ...data.parameters, ...secrets })
    .filter(({ path }) => !leftOut.has(path))
    .map(({ path, message }) => ({ path: `/parameters${path}`, message }));
}

/** Secrets that were set, and that an export has left out. */
function missingSecrets({ data, secrets }: AddonContent<ShownIntegration>): readonly string[] {
  const sensitive = sensitiveNames(data.provider);
  return Object.keys(data.parameters).filter((name) => sensitive.has(name) && !Object.hasOwn(secrets, name));
}

/** The values in their two parts. A secret that is sent as it is shown keeps the value that it had. */
export function splitParameters(
  providerName: string,
  sent: Readonly<Record<string, string | number | boolean>>,
  before: AddonContent['secrets'],
): { readonly parameters: Parameters; readonly secrets: AddonContent['secrets'] } {
  const sensitive = sensitiveNames(providerName);
  const parameters: [string, string][] = [];
  const secrets: [string, string][] = [];
  for (const [name, value] of Object.entries(sent)) {
    const isKept = value === MASK && sensitive.has(name);
    const text = isKept ? (Object.hasOwn(before, name) ? before[name]! : '') : String(value);
    if (!sensitive.has(name)) parameters.push([name, text]);
    else if (text !== '') {
      parameters.push([name, MASK]);
      secrets.push([name, text]);
    }
  }
  return { parameters: Object.fromEntries(parameters), secrets: Object.fromEntries(secrets) };
}

const sensitiveNames = (providerName: string): ReadonlySet<string> =>
  new Set(
    providerNamed(providerName)
      ?.parameters.filter(({ sensitive }) => sensitive)
      .map(({ name }) => name),
  );

/** All integrations with their secrets, as the state has them: the same array until there is a change, and the same object for each that is not changed. */
export function integrationsOf(state: { readonly world: World }): () => readonly Integration[] {
  const made = new WeakMap<object, Integration>();
  let revision = -1;
  let list: readonly Integration[] = [];
  return () => {
    const newest = recordsRevision(state.world, INTEGRATION);
    if (newest === revision) return list;
    list = addonRecordsOf(state.world, INTEGRATION).map((record) => {
      const integration = made.get(record) ?? withSecrets(record);
      made.set(record, integration);
      return integration;
    });
    revision = newest;
    return list;
  };
}

/** Without a secret that an export left out, nothing can be sent: it counts as disabled. */
function withSecrets(record: ReadRecord<ShownIntegration>): Integration {
  const { data, secrets, createdRevision } = record;
  const missing = missingSecrets(record);
  const shown = Object.entries(data.parameters).filter(([name]) => !missing.includes(name));
  return {
    ...data,
    createdRevision,
    enabled: data.enabled && missing.length === 0,
    parameters: { ...Object.fromEntries(shown), ...secrets },
  };
}
