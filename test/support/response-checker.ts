/**
 * Holds answers against the OpenAPI document, as a stranger would who has nothing but the document: is the status one
 * that the operation describes, and is the body what is described for it, without a field that is not named?
 */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as v from 'valibot';
import { describeInterface } from '../../src/http/description/document.ts';
import { compileRoutes } from '../../src/http/serving/route-matcher.ts';
import { surfaceAt } from '../../src/http/serving/surface.ts';
import { DESCRIBED, type DescribedRoute } from './described-routes.ts';
import type { ReceivedResponse } from './server.ts';
import { SURFACES } from './surfaces.ts';

type Json = { readonly [field: string]: unknown };

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Json>>;
}

/** Statuses that the engines answer before a request reaches any operation; 404 and 405 are those of unknown paths. */
const BEFORE_OPERATIONS = new Set([400, 404, 405, 408, 413, 414, 431, 501, 503, 505]);

export class ResponseChecker {
  readonly #document: Json;
  readonly #components: Json;
  readonly #compile: SchemaCompiler;
  readonly #matcher = compileRoutes<DescribedRoute>(
    DESCRIBED.map((described) => ({ ...described, method: described.route.method, value: described })),
  );
  readonly #validators = new Map<string, ValidateFunction | null>();
  readonly #operations = new Set<string>();
  #responses = 0;

  constructor() {
    const described = describeInterface({ surfaces: SURFACES, version: '0', basePath: '', open: false });
    // As a client gets it: through JSON.
    this.#document = JSON.parse(JSON.stringify(described));
    const { schemas, ...others } = this.#document['components'] as Json;
    this.#components = { ...others, schemas: closed(schemas) };
    this.#compile = schemaCompiler(this.#components);
  }

  /** Throws, saying what is wrong, for a response that is not described. */
  check(method: string, path: string, { status, body }: Pick<ReceivedResponse, 'status' | 'body'>): void {
    const match = this.#matcher.match(method, path.split('?', 1)[0] ?? '');
    this.#responses += 1;
    if (match.kind !== 'found') this.#checkUnmatched(method, path, status, body);
    else this.#checkOperation(method, match.found, status, body);
  }

  get summary(): string {
    return `${this.#responses} answers of ${this.#operations.size} operations held against ${this.#validators.size} answers that the description names`;
  }

  #checkUnmatched(method: string, path: string, status: number, body: unknown): void {
    assert(BEFORE_OPERATIONS.has(status), `${method} ${path} is no operation and answered ${status}`);
    const own = surfaceAt(SURFACES, path)?.errors.own;
    const error = (own && v.getTitle(own.schema)) ?? 'Error';
    this.#conforms(error, () => ({ $ref: `#/components/schemas/${error}` }), method, body);
  }

  #checkOperation(method: string, route: DescribedRoute, status: number, body: unknown): void {
    const { operationId, responses } = this.#operation(route);
    this.#operations.add(operationId);
    const described = responses[String(status)];
    assert(described !== undefined, `${operationId} answered ${status}, which is not described`);
    this.#conforms(`${operationId} ${status}`, () => this.#schemaOf(described), method, body);
  }

  #operation({ route: { method }, pattern }: DescribedRoute): Operation {
    const named = pattern.replaceAll(/:([A-Za-z]+)/g, '{$1}');
    const operations = (this.#document['paths'] as Record<string, Record<string, Operation>>)[named];
    const operation = operations?.[method.toLowerCase()];
    assert(operation !== undefined, `${method} ${named} is not described`);
    return operation;
  }

  /** The schema of a response's body; null where it has none. */
  #schemaOf(response: Json): Json | null {
    const { $ref, content } = response as { $ref?: string; content?: Record<string, { schema: Json }> };
    if ($ref !== undefined) {
      const responses = this.#components['responses'] as Record<string, Json>;
      return this.#schemaOf(responses[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
    }
    const schema = content?.['application/json']?.schema;
    if (schema === undefined) return null;
    // The schemas of errors narrow Error down, and stay open for it.
    return 'properties' in schema ? closed(schema) : schema;
  }

  #conforms(what: string, schemaOf: () => Json | null, method: string, body: unknown): void {
    const validate = this.#validator(what, schemaOf);
    if (validate === null) assert.equal(body, undefined, `${what} is described without a body`);
    else if (method === 'HEAD') assert.equal(body, undefined, 'HEAD answers without a body');
    else if (!validate(body)) assert.fail(`${what} is not as described: ${errorsOf(validate)}`);
  }

  #validator(what: string, schemaOf: () => Json | null): ValidateFunction | null {
    const known = this.#validators.get(what);
    if (known !== undefined) return known;
    const schema = schemaOf();
    const validate = schema === null ? null : this.#compile(schema);
    this.#validators.set(what, validate);
    return validate;
  }
}

export type SchemaCompiler = (schema: object) => ValidateFunction;

/**
 * Compiles schemas that refer to `components`. Those are a schema of their own, so that each of them is compiled once, however many
 * schemas refer to it.
 */
export function schemaCompiler(components: object): SchemaCompiler {
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
  addFormats.default(ajv);
  ajv.addVocabulary(['components', 'example']);
  ajv.addSchema({ $id: 'all', components });
  const absolute = (schema: object): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"all#/components/'));
  return (schema) => ajv.compile(absolute(schema));
}

export const errorsOf = ({ errors }: ValidateFunction): string => new Ajv2020().errorsText(errors);

/** Objects that name their fields have no others: a field that a response has and the description lacks is a fault. */
export function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(closed) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) copy[key] = closed(field);
  const namesFields = copy['type'] === 'object' && typeof copy['properties'] === 'object';
  return (namesFields ? { additionalProperties: false, ...copy } : copy) as T;
}
