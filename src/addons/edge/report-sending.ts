/**
 * The sending of reports to the upstream, each count once or not at all: counts leave the file on disk before they are sent, and come
 * back to it only where the upstream says that it has not taken them, or could not be reached. So a kill loses a minute at most, and
 * so does a connection that breaks before the response.
 */
import { each, inTurns } from '../../actors/turn.ts';
import type { Bulk, Reports, SecretFor } from './reports.ts';
import { UpstreamError, type UpstreamResponse } from './upstream-client.ts';

export interface SendOptions {
  readonly reports: Reports;
  readonly secretFor: SecretFor;
  post(secret: string, body: object): Promise<UpstreamResponse>;
  /** On disk when it resolves, where there is a disk. */
  save(): Promise<void>;
  /** The edge that the applications have come through. */
  readonly connectVia: { readonly appName: string; readonly instanceId: string };
  onFault(error: unknown, environment: string): void;
}

/** Sends all that waits; what waits for a token by which nothing can be sent now goes on waiting. Never rejects. */
export async function sendReports(options: SendOptions): Promise<void> {
  const { reports, save } = options;
  if (reports.isDoubtful && !(await isThere(options))) return;
  let isSaved = false;
  const failed = new Set<string | null>();
  for (const bulk of reports.takeAll(options.secretFor)) {
    if (!isSaved) await save();
    isSaved = true;
    if (failed.has(bulk.secret)) await putBack(reports, bulk);
    else if (!(await sent(options, bulk))) failed.add(bulk.secret);
  }
  reports.isDoubtful = failed.size > 0;
  if (failed.size > 0) await save();
}

/** Statuses of a report that may be taken later. */
const LATER = [401, 403, 404, 408, 429];

const isForLater = (status: number): boolean => status >= 500 || LATER.includes(status);

const putBack = (all: Reports, { reports }: Bulk): Promise<void> =>
  inTurns(each(reports, (one) => all.putBack(one)));

/**
 * Whether the upstream takes a report that holds nothing. Counts that have waited leave the disk only then: while it is away, a kill must
 * not meet them on their way.
 */
async function isThere(options: SendOptions): Promise<boolean> {
  const { reports, secretFor, post, onFault } = options;
  const secrets = new Map(
    reports.environments.map((environment) => [secretFor({ environment }), environment]),
  );
  for (const [secret, environment] of secrets) {
    if (secret === null) continue;
    try {
      const nothing = { environment, secret, reports: [], seenTokens: [] };
      const { status } = await post(secret, bodyOf(options, nothing));
      if (!isForLater(status)) return true;
      throw new UpstreamError(status, `the upstream answered ${status} to a report`);
    } catch (error) {
      onFault(error, environment);
    }
  }
  return false;
}

/** Whether nothing of it came back. */
async function sent(options: SendOptions, bulk: Bulk): Promise<boolean> {
  const { reports: all, post, onFault } = options;
  const { environment, secret, reports } = bulk;
  try {
    if (secret === null)
      throw new UpstreamError(0, `no token of the environment ${environment} is left`, true);
    const { status, body } = await post(secret, bodyOf(options, bulk));
    if (status >= 200 && status < 300) return true;
    if (status === 413 && reports.length > 1) return await sentInHalves(options, bulk);
    const text = body.toString('utf8', 0, 500);
    onFault(new UpstreamError(status, `the upstream answered ${status} to a report: ${text}`), environment);
    // Other refusals of the report itself would come again for ever.
    if (isForLater(status)) await putBack(all, bulk);
    else all.drop(reports);
  } catch (error) {
    onFault(error, environment);
    if (error instanceof UpstreamError && error.isUnsent) await putBack(all, bulk);
    else all.drop(reports);
  }
  return false;
}

async function sentInHalves(options: SendOptions, bulk: Bulk): Promise<boolean> {
  const half = Math.ceil(bulk.reports.length / 2);
  const first = await sent(options, { ...bulk, reports: bulk.reports.slice(0, half) });
  const second = await sent(options, { ...bulk, reports: bulk.reports.slice(half), seenTokens: [] });
  return first && second;
}

function bodyOf({ connectVia }: SendOptions, { reports, seenTokens }: Bulk): object {
  const applications: object[] = [];
  const metrics: object[] = [];
  for (const report of reports) {
    if (report.kind === 'count') {
      const { kind: _, side, variants, ...count } = report;
      metrics.push({ ...count, variants: Object.fromEntries(variants), sdkType: side });
    } else {
      const { kind: _, sdkVersion, ...one } = report;
      const version = sdkVersion === null ? {} : { sdkVersion };
      applications.push({ ...one, ...version, connectVia: [connectVia] });
    }
  }
  return {
    ...{ applications, metrics },
    ...(seenTokens.length === 0 ? {} : { seenTokens }),
  };
}
