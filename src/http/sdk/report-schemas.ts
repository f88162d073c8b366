/** The bodies in which SDKs and Unleash Edge report (docs/specification/surfaces.md#what-applications-report). */
import * as v from 'valibot';
import { isJsonObject } from '../../domain/json/json.ts';
import { list } from '../../domain/json/list-schema.ts';
import { TEXT_LENGTH_MAX } from '../../domain/usage/applications.ts';
import type { ItemsOfBody } from '../serving/route.ts';

/** Counts as applications send them: `toggles` by the name of the flag. */
interface SentCounts {
  readonly yes: number;
  readonly no: number;
  readonly variants?: Readonly<Record<string, number>> | null;
}

const TIME_PHRASE = 'a time, as ISO 8601 or milliseconds since 1970';
// Of one bulk report: each entry takes some microseconds. Unleash Edge sends reports of 90 KB.
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
  environment: v.pipe(OptionalText, v.description('Ignored: the token says it.')),
};

export const RegisterBody = v.pipe(
  v.object({
    ...ApplicationFields,
    interval: v.number(),
    started: Time,
    strategies: list(v.string(), 'a list of strings'),
  }),
  v.title('ClientRegistration'),
);

export const UsageBody = v.pipe(
  v.object({
    appName: AppName,
    instanceId: OptionalText,
    sdkVersion: OptionalText,
    bucket: v.pipe(
      v.nullish(v.object({ start: Time, stop: Time, toggles: CountsByFlag })),
      v.description('May be absent when impactMetrics are sent.'),
    ),
    impactMetrics: v.exactOptional(list(v.unknown(), 'a list')),
  }),
  v.check(
    ({ bucket, impactMetrics }) => (bucket ?? impactMetrics) !== undefined,
    'The field bucket is required when no impactMetrics are sent.',
  ),
  v.title('ClientUsage'),
);

export const USAGE_ITEMS: readonly ItemsOfBody[] = [
  { place: ['bucket', 'toggles'] },
  { place: ['impactMetrics'] },
];

/** `what` is what it lists, such as "tokens". */
function atMost<const Item extends v.GenericSchema>(lengthMax: number, item: Item, what: string) {
  return v.pipe(
    list(item, `a list of ${what}`),
    v.maxLength(lengthMax, `a list of at most ${lengthMax} ${what}`),
  );
}

export const BulkUsageBody = v.pipe(
  v.object({
    applications: atMost(
      BULK_APPLICATIONS_MAX,
      v.object({
        ...ApplicationFields,
        started: v.nullish(Time),
        strategies: v.nullish(list(v.string(), 'a list of strings')),
        sdkType: v.nullish(v.picklist(['frontend', 'backend'])),
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
      }),
      'counts',
    ),
    seenTokens: v.pipe(
      v.nullish(atMost(SEEN_TOKENS_MAX, v.string(), 'tokens')),
      v.description('Tokens that Unleash Edge was asked with. Unknown ones are ignored.'),
    ),
  }),
  v.title('ClientBulkUsage'),
);

export const BULK_ITEMS: readonly ItemsOfBody[] = [
  { place: ['applications'], countMax: BULK_APPLICATIONS_MAX },
  { place: ['metrics'], countMax: BULK_COUNTS_MAX },
  { place: ['seenTokens'], countMax: SEEN_TOKENS_MAX },
];

/** Versions of Unleash Edge differ in what they report of themselves. */
export const EdgeReportBody = v.pipe(v.record(v.string(), v.unknown()), v.title('EdgeReport'));
