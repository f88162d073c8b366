/** The tail of the log, for as long as the log still has what comes next. A record that comes again is left out. */
import { FencedError } from '../../persistence/journal/commit-log.ts';
import type { LogRecord, ReplicatedLog } from './replicated-log.ts';

/** Throws `FencedError` where the log has forgotten a record that was not read: a new start fetches it from the archive. */
export async function* keptTail(
  log: ReplicatedLog,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  await refuseForgotten(log, from);
  let next = from;
  for await (const record of log.tail(from, signal)) {
    if (record.position < next) continue;
    if (record.position > next) await refuseForgotten(log, next);
    yield record;
    next = record.position + 1;
  }
}

async function refuseForgotten(log: ReplicatedLog, position: number): Promise<void> {
  const { first } = await log.extent();
  if (first > position)
    throw new FencedError(
      `the log begins with position ${first}, and this node has not read position ${position}`,
    );
}
