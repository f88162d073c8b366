/**
 * How a test runs a source file in a process of its own: through tsx, as one file of tests runs by itself, or compiled, where `npm test`
 * has compiled everything before (test/run.ts).
 */
const IS_COMPILED = import.meta.url.endsWith('.js');

/** Options of Node, before the file or the script. */
export const LOADER: readonly string[] = IS_COMPILED ? [] : ['--import', import.meta.resolve('tsx')];

/** Path or URL of a source file, to what stands in its place. */
export function runnable(path: string): string {
  return IS_COMPILED ? path.replace(/\.ts$/, '.js') : path;
}

/** Arguments of Node that run the file. */
export function nodeArguments(path: string, ...args: readonly string[]): string[] {
  return [...LOADER, runnable(path), ...args];
}
