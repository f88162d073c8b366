import assert from 'node:assert/strict';
import { describeInterface } from '../../src/http/description/document.ts';
import { VERSION } from '../../src/process/installation.ts';
import type { DescribedRoute } from './described-routes.ts';
import { SURFACES } from './surfaces.ts';

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}

const { paths } = describeInterface({ surfaces: SURFACES, version: VERSION, basePath: '', open: true }) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** The body that the description gives as an example, which passes every check; undefined where there is none. */
export function exampleBody({ route, pattern }: DescribedRoute): unknown {
  const operation = paths[pattern.replaceAll(/:([A-Za-z]+)/g, '{$1}')]?.[route.method.toLowerCase()];
  assert(operation !== undefined, `${route.method} ${pattern} is described`);
  return operation.requestBody?.content['application/json']?.example;
}
