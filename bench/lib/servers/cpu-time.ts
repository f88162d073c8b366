/** The processor time that a server takes, which depends less on what else the machine does than throughput. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** `USER_HZ`, in which Linux counts the time of processes, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;

/** Since the process started, of all its threads, those included that write to the disk. Counted in steps of 10 ms. */
export const cpuMicrosOf = ({ child }: { readonly child: ChildProcess }): number =>
  microsIn(`/proc/${child.pid}/stat`);

/** Processor time of the thread that serves requests: it does not move with the disk, whose waits other threads have. */
export const mainThreadMicrosOf = ({ child }: { readonly child: ChildProcess }): number =>
  microsIn(`/proc/${child.pid}/task/${child.pid}/stat`);

function microsIn(file: string): number {
  const stat = readFileSync(file, 'utf8');
  // After the name in parentheses, which may hold spaces: user and system time are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
}
