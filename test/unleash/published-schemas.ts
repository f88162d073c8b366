/** Holds responses against the schemas that Unleash 6.10 publishes of its own: what generated clients decode. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';

type Schema = { readonly [keyword: string]: unknown };

const published = JSON.parse(
  readFileSync(new URL('published-schemas.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Schema>>;

/** Fields that the schemas do not name pass: clients ignore them. */
const ajv = new Ajv({ allErrors: true, strict: false });
const components = {
  schemas: Object.fromEntries(Object.entries(published).map(([name, one]) => [name, nullable(one)])),
};
const validators = new Map<string, ValidateFunction>();

/** Makes a schema nullable. In OpenAPI 3.0 a reference or an alternative may be nullable too, for which JSON Schema has no word. */
function nullable(schema: Schema): Schema {
  const mapped: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) mapped[keyword] = mappedValue(value);
  if (schema['nullable'] !== true || 'type' in schema) return mapped;
  const { nullable: _, ...rest } = mapped;
  return { anyOf: [{ type: 'null' }, rest] };
}

function mappedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mappedValue);
  return typeof value === 'object' && value !== null ? nullable(value as Schema) : value;
}

/** Throws, saying what is wrong, where `body` is not what the schema of this name describes. */
export function conformsToPublished(name: string, body: unknown, what: string): void {
  assert(name in published, `Unleash publishes a schema ${name}`);
  let validate = validators.get(name);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `#/components/schemas/${name}`, components });
    validators.set(name, validate);
  }
  assert(validate(body), `${what} is not a ${name}: ${ajv.errorsText(validate.errors)}`);
}
