/**
 * Puts a document of flags into a running server: by its admin interface, and straight into the state where that
 * refuses something or would change it. Older servers may have accepted what today's interface refuses, so applications
 * have to get the right result for that too.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Dependency, environmentOf, type Flag, flagData } from '../../../../src/domain/flags/flag.ts';
import type { Variant } from '../../../../src/domain/flags/variant.ts';
import { ABOUT_NOTHING, aboutFlag, aboutFlagEnvironment } from '../../../../src/domain/state/events.ts';
import { environmentPath, FEATURES, record } from '../../../support/interface.ts';
import type { TestServer } from '../../../support/server.ts';
import { ENVIRONMENT, flagOf, type SdkDocument, type SdkSegment } from './sdk-document.ts';

export interface LoadedDocument {
  /** Flags, segments and dependencies that the interface took. */
  readonly accepted: number;
  /** One line for each of the others, with the reason. */
  readonly recorded: readonly string[];
}

/** Why the interface does not take something; null when it does. */
type Reason = string | null;

export async function loadDocument(server: TestServer, document: SdkDocument): Promise<LoadedDocument> {
  let accepted = 0;
  const recorded: string[] = [];
  const count = (what: string, reason: Reason): void => {
    if (reason === null) accepted += 1;
    else recorded.push(`${what}: ${reason}`);
  };
  for (const segment of document.segments ?? [])
    count(`segment ${segment.id}`, await loadSegment(server, segment));
  const flags = document.features.map(flagOf).map(completed);
  await Promise.all(flags.map(async (flag) => count(flag.name, await loadFlag(server, flag))));
  for (const flag of flags) {
    for (const dependency of flag.dependencies)
      count(
        `${flag.name}, depending on ${dependency.feature}`,
        await loadDependency(server, flag, dependency),
      );
  }
  return { accepted, recorded };
}

/** With the fields that a server keeps of everything. */
function completed(flag: Flag): Flag {
  const environments = flag.environments.map((environment) => ({
    ...environment,
    variants: environment.variants.map(completedVariant),
    strategies: environment.strategies.map((strategy) => ({
      ...strategy,
      id: randomUUID(),
      variants: strategy.variants.map(completedVariant),
      constraints: strategy.constraints.map(completedConstraint),
    })),
  }));
  return { ...flag, environments };
}

const completedConstraint = <C extends object>(constraint: C) => ({
  inverted: false,
  caseInsensitive: false,
  values: [],
  ...constraint,
});

/**
 * A variant of a strategy that names no stickiness has that of the strategy, so none is filled in; but where there is no
 * other variant to choose, it does not matter.
 */
function completedVariant(variant: Variant, _: number, { length }: readonly Variant[]): Variant {
  const { overrides = [], stickiness = 'default' } = variant;
  return { ...variant, overrides, ...(length === 1 ? { stickiness } : {}) };
}

/** Resolves with what a request to the interface came to. */
async function request(server: TestServer, path: string, body?: unknown, method = 'POST'): Promise<Reason> {
  const response = await server.call(method, path, body);
  if (response.status < 300) return null;
  return `${response.status} ${response.body.details?.[0]?.message ?? response.body.message}`;
}

async function loadSegment(server: TestServer, { id, ...segment }: SdkSegment): Promise<Reason> {
  const fields = { name: `segment-${id}`, ...segment };
  const reason = await request(server, '/segments', fields);
  const { segments } = server.server.store.engine.world.directory;
  if (reason === null) {
    assert(segments.has(id), `the document numbers its segments as this server does: ${id}`);
    return null;
  }
  const constraints = segment.constraints.map(completedConstraint) as never;
  const about = { description: null, project: null, createdBy: 'test', createdAt: CREATED_AT };
  const data = { id, ...fields, constraints, ...about };
  await record(server, { type: 'segment-created', ...ABOUT_NOTHING, data, preData: null });
  return reason;
}

const CREATED_AT = '2024-05-01T12:00:00.000Z';

async function loadFlag(server: TestServer, flag: Flag): Promise<Reason> {
  const reason = (await requestFlag(server, flag)) ?? changeOf(server, flag);
  if (reason === null) return null;
  // What it took of the flag is taken back.
  if (server.server.store.engine.world.flagProjects.has(flag.name)) {
    await server.call('DELETE', `${FEATURES}/${encodeURIComponent(flag.name)}`);
    await server.call('DELETE', `/archive/${encodeURIComponent(flag.name)}`);
  }
  await recordFlag(server, flag);
  return reason;
}

/** The first refusal on the way to the flag. */
async function requestFlag(server: TestServer, flag: Flag): Promise<Reason> {
  const { name, impressionData } = flag;
  const { strategies, variants, enabled } = environmentOf(flag, ENVIRONMENT);
  const name_ = encodeURIComponent(name);
  const path = environmentPath(name_);
  let reason = await request(server, FEATURES, { name, impressionData });
  for (const { id: _, variants, ...strategy } of strategies)
    reason ??= await request(server, `${path}/strategies`, { ...strategy, variants: weighted(variants) });
  if (variants.length > 0)
    reason ??= await request(server, `${FEATURES}/${name_}/variants`, weighted(variants), 'PUT');
  if (enabled) reason ??= await request(server, `${path}/on`);
  return reason;
}

/** Variants with these weights: the interface shares out what it is not told to keep, and no SDK reads how it did that. */
const weighted = (variants: readonly Variant[]) =>
  variants.map((variant, at) => ({ ...variant, weightType: at === 0 ? 'variable' : 'fix' }));

/** Whether the interface took the flag as something else than what was asked. */
function changeOf(server: TestServer, flag: Flag): Reason {
  const stored = server.server.store.engine.world.projects.get(flag.project)?.flags.get(flag.name)?.flag;
  assert(stored !== undefined);
  return isDeepStrictEqual(evaluatedParts(stored), evaluatedParts(flag))
    ? null
    : 'the interface gives its variants other weights, because these do not add up to 1000';
}

/** The part of a flag that an evaluation reads, but for its dependencies. */
function evaluatedParts(flag: Flag): unknown {
  const { enabled, strategies, variants } = environmentOf(flag, ENVIRONMENT);
  return {
    ...{ name: flag.name, impressionData: flag.impressionData, enabled },
    variants: variants.map(evaluatedVariant),
    strategies: strategies.map(({ id: _, title: __, sortOrder: ___, ...strategy }) => ({
      ...strategy,
      variants: strategy.variants.map(evaluatedVariant),
    })),
  };
}

/** A variant that has no other beside it gets everybody, whatever it weighs. */
const evaluatedVariant = (
  { weightType: _, weight, ...variant }: Variant,
  __: number,
  { length }: readonly Variant[],
) => ({
  ...variant,
  weight: length === 1 ? Math.min(weight, 1) : weight,
});

async function recordFlag(server: TestServer, flag: Flag): Promise<void> {
  const about = aboutFlagEnvironment(flag, ENVIRONMENT);
  const { strategies, variants, enabled } = environmentOf(flag, ENVIRONMENT);
  await record(
    server,
    { type: 'feature-created', ...aboutFlag(flag), data: flagData(flag, []), preData: null },
    ...strategies.map((strategy) => ({
      ...{ type: 'feature-strategy-add' as const, ...about, preData: null },
      data: { ...strategy, featureName: flag.name },
    })),
    {
      ...{ type: 'feature-environment-variants-updated', ...about },
      data: { variants },
      preData: { variants: [] },
    },
    ...(enabled
      ? [{ type: 'feature-environment-enabled' as const, ...about, data: null, preData: null }]
      : []),
  );
}

async function loadDependency(server: TestServer, child: Flag, dependency: Dependency): Promise<Reason> {
  const reason = await request(
    server,
    `${FEATURES}/${encodeURIComponent(child.name)}/dependencies`,
    dependency,
  );
  if (reason === null) return null;
  const parent: Flag = { ...child, name: dependency.feature };
  const isThere = server.server.store.engine.world.flagProjects.has(parent.name);
  const data = flagData(parent, []);
  await record(
    server,
    ...(isThere ? [] : [{ type: 'feature-created' as const, ...aboutFlag(parent), data, preData: null }]),
    { type: 'feature-dependency-added', ...aboutFlag(child), data: dependency, preData: null },
    ...(isThere
      ? []
      : [{ type: 'feature-deleted' as const, ...aboutFlag(parent), data: null, preData: data }]),
  );
  return reason;
}
