/** Routes on which SDKs and Unleash Edge report what they are and which flags they evaluated. */
import type * as v from 'valibot';
import type { ApplicationReport } from '../../actors/usage-sink.ts';
import { ALL } from '../../domain/decide/token-commands.ts';
import { defaultEnvironment } from '../../domain/state/locate.ts';
import { emptyResponse } from '../dispatch/json-response.ts';
import { type RequestContext, type Route, readRoute } from '../dispatch/route.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import type { HttpResponse } from '../transport/transport.ts';
import { BulkUsageBody, RegisterBody, UsageBody } from './schemas.ts';

type Side = ApplicationReport['side'];

/** A report shows no state, so it waits for nothing. */
const NOTHING_SHOWN = 0;

/** SDKs for browsers read the text. */
const OK: HttpResponse = {
  status: 200,
  headers: ResponseHeaders.of('content-type', 'text/plain; charset=utf-8'),
  body: 'OK',
};
const ACCEPTED = emptyResponse(202);

const acknowledge = (side: Side) => ({
  revision: NOTHING_SHOWN,
  response: side === 'frontend' ? OK : ACCEPTED,
});

/** What an application says of its environment does not count. */
function environmentOf({ caller, world }: RequestContext<unknown>): string {
  const { environment } = caller.scope;
  return environment === ALL ? (defaultEnvironment(world) ?? '') : environment;
}

function millisecondsOf(time: string | number): number {
  return new Date(time).getTime();
}

function countsOf(
  variants: Readonly<Record<string, number>> | null | undefined,
): ReadonlyMap<string, number> {
  return new Map(Object.entries(variants ?? {}));
}

function register(context: RequestContext<v.InferOutput<typeof RegisterBody>>, side: Side): void {
  const { appName, instanceId, connectionId, sdkVersion, strategies, started } = context.body;
  context.usage.application({
    appName,
    environment: environmentOf(context),
    instanceId: instanceId ?? null,
    connectionId: connectionId ?? null,
    sdkVersion: sdkVersion ?? null,
    strategies,
    startedAtMs: millisecondsOf(started),
    side,
  });
}

function report(context: RequestContext<v.InferOutput<typeof UsageBody>>): void {
  const { appName, bucket } = context.body;
  if (bucket === null || bucket === undefined) return;
  const environment = environmentOf(context);
  const startMs = millisecondsOf(bucket.start);
  context.usage.usage(
    Object.entries(bucket.toggles).map(([flag, { yes, no, variants }]) => ({
      ...{ appName, environment, flag, startMs, yes, no },
      variants: countsOf(variants),
    })),
  );
}

/** Edge gathers for many environments; what is not of the token's is dropped. */
function reportBulk(context: RequestContext<v.InferOutput<typeof BulkUsageBody>>): void {
  const { applications, metrics } = context.body;
  const environment = environmentOf(context);
  for (const one of applications) {
    if ((one.environment ?? environment) !== environment) continue;
    context.usage.application({
      appName: one.appName,
      environment,
      instanceId: one.instanceId ?? null,
      connectionId: one.connectionId ?? null,
      sdkVersion: one.sdkVersion ?? null,
      strategies: one.strategies ?? [],
      startedAtMs:
        one.started === null || one.started === undefined ? context.now() : millisecondsOf(one.started),
      side: one.sdkType ?? 'backend',
    });
  }
  context.usage.usage(
    metrics
      .filter((one) => one.environment === environment)
      .map(({ appName, featureName: flag, timestamp, yes, no, variants }) => ({
        ...{ appName, environment, flag, yes, no },
        startMs: millisecondsOf(timestamp),
        variants: countsOf(variants),
      })),
  );
}

interface ReportRoutesOptions {
  readonly side: Side;
  /** Before the paths, below the prefix of the surface. */
  readonly below: string;
  /** Of the operations: `Client` or `Frontend`. */
  readonly tag: string;
}

/** Of an application itself; both sides have them. */
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
        register(context, side);
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
      success: { status, schema: null },
      read: (context) => {
        report(context);
        return acknowledge(side);
      },
    }),
  ];
}

/** Of Unleash Edge, for the applications behind it. */
export const bulkReportRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: '/metrics/bulk',
    operationId: 'reportBulkUsage',
    tag: 'Client',
    summary: 'Report applications and how often they evaluated flags, for many at once.',
    permission: 'scope',
    body: BulkUsageBody,
    success: { status: 202, schema: null },
    read: (context) => {
      reportBulk(context);
      return acknowledge('backend');
    },
  }),
];
