/**
 * The code that a thread runs: the file `entry`, a URL without its extension. In a checkout that is its TypeScript source, behind a line of
 * JavaScript: Node 20 applies neither `--import tsx` nor hooks that the main thread has registered to the entry file of a
 * worker, so they are registered in the worker first.
 */
export function threadSource(entry: string): string {
  const isSource = import.meta.url.endsWith('.ts');
  const load = `import(${JSON.stringify(`${entry}.${isSource ? 'ts' : 'js'}`)})`;
  if (!isSource) return `${load};`;
  return `import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))}).then(({ register }) => { register(); return ${load}; });`;
}
