/** Routes on which SDKs and Unleash Edge report what they are and which flags they evaluated. */
import * as v from 'valibot';
import { inBriefTurns } from '../../actors/turn.ts';
import { isJsonObject } from '../../domain/json/json.ts';
import { described, list, titled } from '../../domain/json/schema.ts';
import { defaultEnvironment } from '../../domain/state/locate.ts';
import { ALL } from '../../domain/state/world.ts';
import { digestOf } from '../../http/serving/access.ts';
import { emptyResponse } from '../../http/serving/json-response.ts';
import {
  type ItemsOfBody,
  type ReadResponse,
  type RequestContext,
  type Route,
  readRoute,
  underTag,
} from '../../http/serving/route.ts';
import { ResponseHeaders } from '../../http/transport/response.ts';
import type { HttpResponse } from '../../http/transport/transport.ts';
import { TEXT_LENGTH_MAX } from './applications.ts';
import { type FlagCounts, SIDES, type Side } from './reports.ts';
import { usageIn } from './usage.ts';

// The bodies in which SDKs and Unleash Edge report (docs/specification/surfaces.md#what-applications-report).

/** Counts as applications send them: `toggles` by the name of the flag. */
interface SentCounts {
  readonly yes: number;
  readonly no: number;
  readonly variants?: Readonly<Record<string, number>> | null;
}

const TIME_PHRASE = 'a time, as ISO 8601 or milliseconds since 1970';
// Entries of one bulk report: each takes some microseconds. Unleash Edge sends reports of 90 KB.
export const BULK_APPLICATIONS_MAX = 1_000;
export const BULK_COUNTS_MAX = 5_000;
const SEEN_TOKENS_MAX = 1_000;

const COUNT_PHRASE = 'an integer from 0';
const COUNTS_PHRASE =
  'an object that has, by the name of each flag, the integers yes and no, and variants with an integer by name';

const Text = v.string();
const APP_NAME_PHRASE = `a text of 1 to ${TEXT_LENGTH_MAX} characters`;
const AppName = v.pipe(
  v.string(APP_NAME_PHRASE),
  v.minLength(1, APP_NAME_PHRASE),
  v.maxLength(TEXT_LENGTH_MAX, APP_NAME_PHRASE),
);
const OptionalText = v.nullish(Text);
const Time = v.pipe(
  v.union([v.string(), v.number()], TIME_PHRASE),
  v.check((value) => !Number.isNaN(new Date(value).getTime()), TIME_PHRASE),
);
const Count = v.pipe(v.number(COUNT_PHRASE), v.safeInteger(COUNT_PHRASE), v.minValue(0, COUNT_PHRASE));

const COUNT_JSON = { type: 'integer', minimum: 0 } as const;
const VARIANTS_JSON = { type: 'object', additionalProperties: COUNT_JSON } as const;

/** One issue for all of it: a report names hundreds of flags. */
const CountsByFlag = v.pipe(
  v.custom<Readonly<Record<string, SentCounts>>>(
    (value) => isJsonObject(value) && Object.values(value).every(areCounts),
    COUNTS_PHRASE,
  ),
  v.metadata({
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: { yes: COUNT_JSON, no: COUNT_JSON, variants: VARIANTS_JSON },
      required: ['yes', 'no'],
    },
  }),
);

const CountsByVariant = v.pipe(
  v.custom<Readonly<Record<string, number>>>(areCountsByName, 'an object of integers from 0'),
  v.metadata(VARIANTS_JSON),
);

function areCounts(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { yes, no, variants } = value;
  return (
    isCount(yes) && isCount(no) && (variants === undefined || variants === null || areCountsByName(variants))
  );
}

function areCountsByName(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every(isCount);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const ApplicationFields = {
  appName: AppName,
  instanceId: OptionalText,
  sdkVersion: OptionalText,
  environment: described(OptionalText, 'Ignored: the token says it.'),
};

const RegisterBody = titled('ClientRegistration', {
  ...ApplicationFields,
  interval: v.number(),
  started: Time,
  strategies: list(v.string(), 'a list of strings'),
});

const UsageBody = v.pipe(
  v.object({
    appName: AppName,
    instanceId: OptionalText,
    sdkVersion: OptionalText,
    bucket: described(
      v.nullish(v.object({ start: Time, stop: Time, toggles: CountsByFlag })),
      'May be absent when impactMetrics are sent.',
    ),
    impactMetrics: v.exactOptional(list(v.unknown(), 'a list')),
  }),
  v.check(
    ({ bucket, impactMetrics }) => (bucket ?? impactMetrics) !== undefined,
    'The field bucket is required when no impactMetrics are sent.',
  ),
  v.title('ClientUsage'),
);

const USAGE_ITEMS: readonly ItemsOfBody[] = [{ place: ['bucket', 'toggles'] }, { place: ['impactMetrics'] }];

/** `what` is what it lists, such as "tokens". */
function atMost<const Item extends v.GenericSchema>(lengthMax: number, item: Item, what: string) {
  return v.pipe(
    list(item, `a list of ${what}`),
    v.maxLength(lengthMax, `a list of at most ${lengthMax} ${what}`),
  );
}

const SdkType = v.nullish(v.picklist(SIDES));

const BulkUsageBody = titled('ClientBulkUsage', {
  applications: atMost(
    BULK_APPLICATIONS_MAX,
    v.object({
      ...ApplicationFields,
      started: v.nullish(Time),
      strategies: v.nullish(list(v.string(), 'a list of strings')),
      sdkType: SdkType,
    }),
    'applications',
  ),
  metrics: atMost(
    BULK_COUNTS_MAX,
    v.object({
      featureName: Text,
      appName: AppName,
      environment: Text,
      timestamp: Time,
      yes: Count,
      no: Count,
      variants: v.nullish(CountsByVariant),
      sdkType: described(SdkType, 'That of its application, unless it is given.'),
    }),
    'counts',
  ),
  seenTokens: described(
    v.nullish(atMost(SEEN_TOKENS_MAX, v.string(), 'tokens')),
    'Tokens that Unleash Edge was asked with. Unknown ones are ignored.',
  ),
});

const BULK_ITEMS: readonly ItemsOfBody[] = [
  { place: ['applications'], countMax: BULK_APPLICATIONS_MAX },
  { place: ['metrics'], countMax: BULK_COUNTS_MAX },
  { place: ['seenTokens'], countMax: SEEN_TOKENS_MAX },
];

/** Versions of Unleash Edge differ in what they report of themselves. */
const EdgeReportBody = v.pipe(v.record(v.string(), v.unknown()), v.title('EdgeReport'));

/** A report shows no state, so it waits for nothing. */
const NOTHING_SHOWN = 0;

/** SDKs for browsers read the text. */
const OK: HttpResponse = {
  status: 200,
  headers: ResponseHeaders.of('content-type', 'text/plain; charset=utf-8'),
  body: 'OK',
};
const ACCEPTED = emptyResponse(202);

/** The success that `acknowledge` makes. */
const successOf = (side: Side): Route['success'] =>
  side === 'frontend' ? { status: 200, schema: null, text: 'text/plain' } : { status: 202, schema: null };

const acknowledge = (side: Side): ReadResponse => ({
  revision: NOTHING_SHOWN,
  response: side === 'frontend' ? OK : ACCEPTED,
});

/** The environment of the token; the one that an application reports does not count. */
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
  return inBriefTurns(steps).then(() => acknowledge(side));
}

interface SentApplication {
  readonly appName: string;
  readonly instanceId?: string | null | undefined;
  readonly sdkVersion?: string | null | undefined;
  readonly strategies?: readonly string[] | null | undefined;
}

/** `address`: that of the application. */
function told(context: RequestContext<unknown>, sent: SentApplication, side: Side, address: string): void {
  const { appName, instanceId = null, sdkVersion = null, strategies = null } = sent;
  usageIn(context).application({
    ...{ appName, side, environment: environmentOf(context), strategies, instanceId, sdkVersion },
    ...{ projects: projectsOf(context), address },
  });
}

/** The application in its own report; SDKs for browsers name themselves in headers only. */
function toldItself(context: RequestContext<unknown>, sent: SentApplication, side: Side): void {
  const sdkVersion = sent.sdkVersion ?? (context.header('unleash-sdk') || null);
  told(context, { ...sent, sdkVersion }, side, context.remoteAddress());
}

function* report(
  context: RequestContext<v.InferOutput<typeof UsageBody>>,
  side: Side,
): Generator<void, undefined> {
  const { appName, bucket } = context.body;
  toldItself(context, context.body, side);
  if (bucket === null || bucket === undefined) return undefined;
  const toggles = Object.entries(bucket.toggles);
  const startMs = millisecondsOf(bucket.start);
  const stopMs = millisecondsOf(bucket.stop);
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
    usageIn(context).report({ appName, environment, side, startMs, stopMs, counts }, context.caller.scope);
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
    told(context, one, side, '');
    yield;
  }
  for (const { appName, featureName: flag, timestamp, yes, no, variants, ...sent } of metrics) {
    if (sent.environment !== environment) continue;
    const side = sent.sdkType ?? sides.get(appName) ?? 'backend';
    const startMs = millisecondsOf(timestamp);
    const counts: readonly FlagCounts[] = [{ flag, yes, no, variants: countsOf(variants) }];
    usageIn(context).report({ appName, environment, side, startMs, counts }, context.caller.scope);
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
function applicationReportRoutes({ side, below, tag }: ReportRoutesOptions): readonly Route[] {
  const success = successOf(side);
  return underTag(tag, [
    readRoute(`POST ${below}/register`, {
      operationId: `register${tag}Application`,
      summary: 'Report that an application has started.',
      permission: 'scope',
      body: RegisterBody,
      success,
      read: (context) => {
        toldItself(context, context.body, side);
        return acknowledge(side);
      },
    }),
    readRoute(`POST ${below}/metrics`, {
      operationId: `report${tag}Usage`,
      summary: 'Report how often an application evaluated flags.',
      permission: 'scope',
      body: UsageBody,
      bodyItems: USAGE_ITEMS,
      success,
      read: (context) => counted(side, report(context, side)),
    }),
  ]);
}

/** Routes for the reports of Unleash Edge, for the applications behind it. */
const bulkReportRoutes = underTag('Client', [
  readRoute('POST /metrics/bulk', {
    operationId: 'reportBulkUsage',
    summary: 'Report applications and how often they evaluated flags, for many at once.',
    permission: 'scope',
    body: BulkUsageBody,
    bodyItems: BULK_ITEMS,
    success: { status: 202, schema: null },
    read: (context) => counted('backend', reportBulk(context)),
  }),
  readRoute('POST /metrics/edge', {
    operationId: 'reportEdge',
    summary: 'Report how Unleash Edge itself fares. Nothing of it is kept.',
    permission: 'scope',
    body: EdgeReportBody,
    success: { status: 202, schema: null },
    read: () => acknowledge('backend'),
  }),
]);

/** By the prefix of the surface on which applications report. */
export const reportRoutes: Readonly<Record<string, readonly Route[]>> = {
  '/api/client': [
    ...applicationReportRoutes({ side: 'backend', below: '', tag: 'Client' }),
    ...bulkReportRoutes,
  ],
  '/api/frontend': applicationReportRoutes({ side: 'frontend', below: '/client', tag: 'Frontend' }),
};
