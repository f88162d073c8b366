/** Programs of this machine that a measurement needs and does not bring. */
import { execFileSync } from 'node:child_process';

const START_MS_MAX = 30_000;
const LOOK_MS = 50;

/** Null where it is not installed. */
export function versionOf(program: string): string | null {
  try {
    const stdout = execFileSync(program, ['--version'], { encoding: 'utf8' });
    return /\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? 'of an unknown version';
  } catch {
    // It cannot be run, which is an answer.
    return null;
  }
}

/** Resolves once `ask` does. */
export async function untilReady(name: string, ask: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline) {
    const isReady = await ask().then(
      () => true,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`${name} was not ready after ${START_MS_MAX} ms`);
}
