/** Routes on which SDKs and Unleash Edge report what they are and which flags they evaluated. */
import type * as v from 'valibot';
import { ALL } from '../../domain/decide/token-commands.ts';
import { defaultEnvironment } from '../../domain/state/locate.ts';
import type { FlagCounts, Side } from '../../domain/usage/reports.ts';
import { digestOf } from '../serving/access.ts';
import { emptyResponse } from '../serving/json-response.ts';
import { type ReadResponse, type RequestContext, type Route, readRoute } from '../serving/route.ts';
import { inBriefSlices } from '../serving/slices.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import type { HttpResponse } from '../transport/transport.ts';
import {
  BULK_ITEMS,
  BulkUsageBody,
  EdgeReportBody,
  RegisterBody,
  USAGE_ITEMS,
  UsageBody,
} from './report-schemas.ts';

/** A report shows no state, so it waits for nothing. */
const NOTHING_SHOWN = 0;

/** SDKs for browsers read the text. */
const OK: HttpResponse = {
  status: 200,
  headers: ResponseHeaders.of('content-type', 'text/plain; charset=utf-8'),
  body: 'OK',
};
const ACCEPTED = emptyResponse(202);

const acknowledge = (side: Side): ReadResponse => ({
  revision: NOTHING_SHOWN,
  response: side === 'frontend' ? OK : ACCEPTED,
});

/** What an application says of its environment does not count. */
function environmentOf({ caller, world }: RequestContext<unknown>): string {
  const { environment } = caller.scope;
  return environment === ALL ? (defaultEnvironment(world) ?? '') : environment;
}

function projectsOf({ caller }: RequestContext<unknown>): readonly string[] {
  const { projects } = caller.scope;
  return projects === ALL ? [ALL] : projects;
}

function millisecondsOf(time: string | number): number {
  return new Date(time).getTime();
}

/** Flags that are counted in one go, which takes some 50 µs. */
const COUNTS_AT_ONCE = 25;

type SentVariants = Readonly<Record<string, number>> | null | undefined;

function countsOf(variants: SentVariants): FlagCounts['variants'] {
  return variants === null || variants === undefined ? [] : Object.entries(variants);
}

/** Counts step by step, so that a report of hundreds of flags delays no other request. It is acknowledged when it has been counted. */
function counted(side: Side, steps: Generator<void>): ReadResponse | Promise<ReadResponse> {
  // Most reports are one step, and need not wait.
  if (steps.next().done === true) return acknowledge(side);
  return inBriefSlices(() => steps.next().done === true).then(() => acknowledge(side));
}

interface SentApplication {
  readonly appName: string;
  readonly instanceId?: string | null | undefined;
  readonly sdkVersion?: string | null | undefined;
  readonly strategies?: readonly string[] | null | undefined;
}

/** The application itself, as its own report tells it; SDKs for browsers tell what they are in headers only. */
function told(context: RequestContext<unknown>, sent: SentApplication, side: Side): void {
  const { appName, instanceId, sdkVersion, strategies } = sent;
  context.usage.application({
    ...{ appName, side, environment: environmentOf(context), strategies: strategies ?? null },
    instanceId: instanceId ?? null,
    sdkVersion: sdkVersion ?? (context.header('unleash-sdk') || null),
    projects: projectsOf(context),
    address: context.remoteAddress(),
  });
}

function* report(
  context: RequestContext<v.InferOutput<typeof UsageBody>>,
  side: Side,
): Generator<void, undefined> {
  const { appName, bucket } = context.body;
  told(context, context.body, side);
  if (bucket === null || bucket === undefined) return undefined;
  const toggles = Object.entries(bucket.toggles);
  const startMs = millisecondsOf(bucket.start);
  const environment = environmentOf(context);
  for (let at = 0; at < toggles.length; at += COUNTS_AT_ONCE) {
    if (at > 0) yield;
    const counts = toggles.slice(at, at + COUNTS_AT_ONCE).map(
      ([flag, { yes, no, variants }]): FlagCounts => ({
        flag,
        yes,
        no,
        variants: countsOf(variants),
      }),
    );
    context.usage.report({ appName, environment, side, startMs, counts }, context.caller.scope);
  }
  return undefined;
}

/**
 * Edge gathers for many environments; what is not of the token's is dropped. The applications are behind it, so the address of the
 * request is not theirs.
 */
function* reportBulk(
  context: RequestContext<v.InferOutput<typeof BulkUsageBody>>,
): Generator<void, undefined> {
  const { applications, metrics, seenTokens } = context.body;
  const environment = environmentOf(context);
  const sides = new Map<string, Side>();
  for (const one of applications) {
    if ((one.environment ?? environment) !== environment) continue;
    const side = one.sdkType ?? 'backend';
    sides.set(one.appName, side);
    context.usage.application({
      ...{ appName: one.appName, environment, side, projects: projectsOf(context), address: '' },
      instanceId: one.instanceId ?? null,
      sdkVersion: one.sdkVersion ?? null,
      strategies: one.strategies ?? null,
    });
    yield;
  }
  for (const { appName, featureName: flag, timestamp, yes, no, variants, environment: named } of metrics) {
    if (named !== environment) continue;
    const side = sides.get(appName) ?? 'backend';
    const startMs = millisecondsOf(timestamp);
    const counts: readonly FlagCounts[] = [{ flag, yes, no, variants: countsOf(variants) }];
    context.usage.report({ appName, environment, side, startMs, counts }, context.caller.scope);
    yield;
  }
  const { apiTokens } = context.world.directory;
  for (const secret of seenTokens ?? []) {
    const digest = digestOf(secret);
    if (apiTokens.has(digest)) context.usage.tokenUsed(digest);
    yield;
  }
  return undefined;
}

interface ReportRoutesOptions {
  readonly side: Side;
  /** Before the paths, below the prefix of the surface. */
  readonly below: string;
  /** The tag of the operations: `Client` or `Frontend`. */
  readonly tag: string;
}

/** Routes for the reports of an application itself; both sides have them. */
export function applicationReportRoutes({ side, below, tag }: ReportRoutesOptions): readonly Route[] {
  const { status } = acknowledge(side).response;
  return [
    readRoute({
      method: 'POST',
      path: `${below}/register`,
      operationId: `register${tag}Application`,
      tag,
      summary: 'Report that an application has started.',
      permission: 'scope',
      body: RegisterBody,
      success: { status, schema: null },
      read: (context) => {
        told(context, context.body, side);
        return acknowledge(side);
      },
    }),
    readRoute({
      method: 'POST',
      path: `${below}/metrics`,
      operationId: `report${tag}Usage`,
      tag,
      summary: 'Report how often an application evaluated flags.',
      permission: 'scope',
      body: UsageBody,
      bodyItems: USAGE_ITEMS,
      success: { status, schema: null },
      read: (context) => counted(side, report(context, side)),
    }),
  ];
}

/** Routes for the reports of Unleash Edge, for the applications behind it. */
export const bulkReportRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: '/metrics/bulk',
    operationId: 'reportBulkUsage',
    tag: 'Client',
    summary: 'Report applications and how often they evaluated flags, for many at once.',
    permission: 'scope',
    body: BulkUsageBody,
    bodyItems: BULK_ITEMS,
    success: { status: 202, schema: null },
    read: (context) => counted('backend', reportBulk(context)),
  }),
  readRoute({
    method: 'POST',
    path: '/metrics/edge',
    operationId: 'reportEdge',
    tag: 'Client',
    summary: 'Report how Unleash Edge itself fares. Nothing of it is kept.',
    permission: 'scope',
    body: EdgeReportBody,
    success: { status: 202, schema: null },
    read: () => acknowledge('backend'),
  }),
];
