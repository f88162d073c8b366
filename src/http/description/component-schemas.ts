/**
 * From the valibot schemas of the routes to JSON Schema, as OpenAPI 3.1 speaks it (draft 2020-12).
 *
 * Every schema with a title becomes a component of that name, and every use of it a reference. A schema means one
 * thing in a request, where what has a default may be left out, and another in a response, where it is always there:
 * one that is used in both and differs becomes two components, the one for requests with `Input` behind its name.
 */
import assert from 'node:assert/strict';
import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { Schema } from '../serving/route.ts';

export type JsonSchema = { readonly [keyword: string]: unknown };

export interface ComponentSchemas {
  /** By name, in alphabetical order. */
  readonly components: Readonly<Record<string, JsonSchema>>;
  /** The JSON Schema to write where the schema is used: a reference, or the schema itself when it has no title. */
  ofBody(schema: Schema): JsonSchema;
  ofResponse(schema: Schema): JsonSchema;
}

/** Requests are described before the defaults are filled in, responses after. */
type Side = 'input' | 'output';

type Names = ReadonlyMap<Schema, string>;

const REFERENCE_PREFIX = '#/components/schemas/';

/** Rules over several fields, which JSON Schema cannot say; their sentences are in the refusals. */
const UNSAID = ['check', 'raw_check', 'partial_check', 'transform'];

export function componentSchemas(bodies: readonly Schema[], responses: readonly Schema[]): ComponentSchemas {
  const responseNames = nameSchemas(titledIn(responses), () => '');
  const taken = new Set(responseNames.values());
  const bodyNames = nameSchemas(titledIn(bodies), (schema) => suffixOf(schema, responseNames, taken));
  const input = convert('input', bodies, bodyNames);
  const output = convert('output', responses, responseNames);
  return {
    components: merge(input.components, output.components),
    ofBody: (schema) => input.use(schema),
    ofResponse: (schema) => output.use(schema),
  };
}

/** Empty where a request's schema may share the component of the responses, or has its name for itself. */
function suffixOf(schema: Schema, responseNames: Names, taken: ReadonlySet<string>): string {
  const shared = responseNames.has(schema) && standsAlone('input', schema) === standsAlone('output', schema);
  return shared || !taken.has(nameOf(schema)) ? '' : 'Input';
}

function standsAlone(side: Side, schema: Schema): string {
  return JSON.stringify(toJsonSchemaDefs({ it: schema }, conversion(side)));
}

function nameSchemas(schemas: ReadonlySet<Schema>, suffix: (schema: Schema) => string): Names {
  return new Map([...schemas].map((schema) => [schema, nameOf(schema) + suffix(schema)]));
}

/** `Strategy input` becomes `StrategyInput`. */
function nameOf(schema: Schema): string {
  const words = (v.getTitle(schema) ?? '').split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

function titledIn(roots: readonly Schema[]): ReadonlySet<Schema> {
  const seen = new Set<object>();
  const titled = new Set<Schema>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (isSchema(value) && v.getTitle(value) !== undefined) titled.add(value);
    for (const part of partsOf(value)) visit(part);
  };
  for (const root of roots) visit(root);
  return titled;
}

/**
 * The schemas that a schema holds in its fields, options and record entries. In place of the first step of a pipe,
 * which is the schema itself without its title, its own parts are given.
 */
function partsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isSchema(value) && 'pipe' in value) {
    const [first, ...rest] = value.pipe as readonly object[];
    return [...(first === undefined ? [] : partsOf(first)), ...rest];
  }
  return Object.values(value);
}

function isSchema(value: object): value is Schema {
  return 'kind' in value && value.kind === 'schema';
}

function convert(side: Side, roots: readonly Schema[], names: Names) {
  const definitions: Record<string, Schema> = {};
  for (const [schema, name] of names) {
    const known = definitions[name];
    assert(
      known === undefined || standsAlone(side, known) === standsAlone(side, schema),
      `two different schemas have the title ${name}`,
    );
    definitions[name] = schema;
  }
  const untitled = [...new Set(roots)].filter((root) => !names.has(root));
  const inPlace = Object.fromEntries(untitled.map((schema, index) => [`inPlace/${index}`, schema]));
  const converted = mapValues(
    toJsonSchemaDefs({ ...definitions, ...inPlace }, conversion(side)) as Record<string, JsonSchema>,
    defaultsInWords,
  );
  const use = (schema: Schema): JsonSchema => {
    const name = names.get(schema);
    if (name !== undefined) return { $ref: REFERENCE_PREFIX + name };
    const found = converted[`inPlace/${untitled.indexOf(schema)}`];
    assert(found !== undefined, 'a schema was asked for that was not converted');
    return found;
  };
  return { components: mapValues(definitions, (schema) => converted[names.get(schema) ?? ''] ?? {}), use };
}

function conversion(side: Side): ConversionConfig {
  return {
    target: 'draft-2020-12',
    typeMode: side,
    ignoreActions: UNSAID,
    overrideRef: ({ referenceId }) => REFERENCE_PREFIX + referenceId,
    // JSON Schema reads patterns as Unicode anyway; what other flags mean it cannot say.
    overrideAction: ({ valibotAction: action, jsonSchema }) =>
      'requirement' in action && action.requirement instanceof RegExp && action.requirement.flags === 'u'
        ? jsonSchema
        : undefined,
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      // A custom schema says its JSON type in its metadata, which are added to what stands here.
      if (valibotSchema.type === 'custom') return {};
      // Generators of clients read no type from a constant.
      if (valibotSchema.type === 'literal') return { type: typeof jsonSchema.const, ...jsonSchema };
      if (side === 'input' || !('entries' in valibotSchema)) return undefined;
      return { ...jsonSchema, required: presentFields(valibotSchema.entries as v.ObjectEntries) };
    },
  };
}

/** The fields that every response has: the library leaves out those with a default, as if they were never filled in. */
function presentFields(entries: v.ObjectEntries): string[] {
  return Object.keys(entries).filter((name) => {
    const entry = entries[name] as { readonly type: string; readonly default?: unknown };
    if (entry.type === 'exact_optional') return false;
    return (entry.type !== 'optional' && entry.type !== 'nullish') || entry.default !== undefined;
  });
}

/**
 * Says defaults in the descriptions. The keyword would be right too, but common generators of clients read it as a
 * promise that the field is there, and then ask for it in every request.
 */
function defaultsInWords(schema: JsonSchema): JsonSchema {
  const { default: value, description, ...said } = schema;
  const words = [description, value === undefined ? undefined : `Default: ${JSON.stringify(value)}.`];
  const text = words.filter((word) => word !== undefined).join(' ');
  return {
    ...mapValues(said, (part, keyword) => inPart(keyword, part)),
    ...(text === '' ? {} : { description: text }),
  };
}

/** Only where a keyword holds schemas: a property may well be called `default`. */
function inPart(keyword: string, part: unknown): unknown {
  switch (keyword) {
    case 'properties':
      return mapValues(part as Record<string, JsonSchema>, defaultsInWords);
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return (part as JsonSchema[]).map(defaultsInWords);
    case 'items':
    case 'additionalProperties':
      return typeof part === 'object' ? defaultsInWords(part as JsonSchema) : part;
    default:
      return part;
  }
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T, key: string) => U) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)])) as Record<
    string,
    U
  >;
}

function merge(
  input: Readonly<Record<string, JsonSchema>>,
  output: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  const all = Object.entries({ ...input, ...output });
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}
