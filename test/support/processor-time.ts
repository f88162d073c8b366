/** The processor time that this thread has had, which is its own whatever else the machine does. */
import { existsSync, readFileSync } from 'node:fs';

const FILE = `/proc/self/task/${process.pid}/schedstat`;
const IS_KNOWN = existsSync(FILE);

/** Microseconds; those of the whole process where the thread's are not to be had. */
export function threadMicros(): number {
  // The kernel brings the count of the running thread up to date for this call.
  const { user, system } = process.cpuUsage();
  return IS_KNOWN ? Number(readFileSync(FILE, 'utf8').split(' ')[0]) / 1_000 : user + system;
}
