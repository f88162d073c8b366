/**
 * Makes published-schemas.json: what Unleash's published OpenAPI schemas say of the shape of responses, without their
 * texts. `npm pack unleash-server@6.10.1`, unpack it, and run
 * `node --import tsx test/unleash/make-published-schemas.ts <folder of the package> > …/published-schemas.json`.
 */
import { readdirSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { join, resolve } from 'node:path';

type Schema = { readonly [keyword: string]: unknown };

const PREFIX = '#/components/schemas/';

/** Keywords that say of which shape a value is. */
const KEYWORDS = new Set(['type', 'enum', 'required', 'nullable', '$ref', 'minItems', 'pattern']);

/** The schemas need none of what the other modules of the package need. */
function ignoreMissingModules(): void {
  const loader = Module as unknown as { _load(...parts: unknown[]): unknown };
  const load = loader._load;
  loader._load = (...parts) => {
    try {
      return load(...parts);
    } catch {
      return {};
    }
  };
}

/** The types of events: each release adds some. */
const isLongList = (value: unknown): boolean => Array.isArray(value) && value.length > 30;

function shapeOf(schema: Schema): Schema {
  const shape: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (KEYWORDS.has(keyword) && !isLongList(value)) shape[keyword] = value;
    else if (keyword === 'items' || keyword === 'not') shape[keyword] = shapeOf(value as Schema);
    else if (keyword === 'properties') shape[keyword] = mapShapes(value as Record<string, Schema>);
    else if (/^(?:one|any|all)Of$/.test(keyword)) shape[keyword] = (value as Schema[]).map(shapeOf);
    else if (keyword === 'additionalProperties' && typeof value === 'object')
      shape[keyword] = shapeOf(value as Schema);
  }
  return shape;
}

const mapShapes = (schemas: Readonly<Record<string, Schema>>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, shapeOf(schema)]));

function publishedSchemas(folder: string): Record<string, Schema> {
  ignoreMissingModules();
  const require = createRequire(import.meta.url);
  const specification = resolve(folder, 'dist/lib/openapi/spec');
  const found: Record<string, Schema> = {};
  for (const file of readdirSync(specification).sort()) {
    if (!/-schema\.js$/.test(file)) continue;
    for (const schema of Object.values(require(join(specification, file)) as Record<string, Schema>)) {
      const id = String(schema?.['$id'] ?? '');
      if (id.startsWith(PREFIX)) found[id.slice(PREFIX.length)] = shapeOf(schema);
    }
  }
  return found;
}

const lines = Object.entries(publishedSchemas(process.argv[2] ?? '.')).map(
  ([name, schema]) => `${JSON.stringify(name)}: ${JSON.stringify(schema)}`,
);
process.stdout.write(`{\n${lines.join(',\n')}\n}\n`);
