/**
 * TypeScript to JavaScript by taking the types out and leaving everything else where it is: each line and column of the result is that
 * of the source, so stacks need no source maps. `erasableSyntaxOnly` in tsconfig.json keeps out what cannot be compiled so.
 */
import { writeFileSync } from 'node:fs';
import { transformSync } from '@swc/wasm-typescript';
import { runnable } from './source.ts';

/** A path in an import, an export or an `import()`, down to its extension. */
const IMPORTED_SOURCE = /(\b(?:from|import)\s*\(?\s*(['"])\.{1,2}\/[^'"\n]*\.)ts\2/g;

export function compile(source: string): string {
  return transformSync(source, { mode: 'strip-only' }).code.replace(IMPORTED_SOURCE, '$1js$2');
}

/** Writes a source file that a test has made up; returns the file to import, compiled where all others are. */
export function writeSource(file: string, source: string): string {
  writeFileSync(file, source);
  if (runnable(file) !== file) writeFileSync(runnable(file), compile(source));
  return runnable(file);
}
