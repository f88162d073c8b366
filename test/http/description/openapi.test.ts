/** The description of the interface: valid, whole, with examples that hold, and true of what the server answers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as v from 'valibot';
import {
  DEFAULT_GROWTH_LIMITS,
  GROWTH_LIMIT_NAMES,
  GROWTH_LIMITS,
} from '../../../src/domain/flags/growth-limits.ts';
import { describeInterface } from '../../../src/http/description/document.ts';
import { componentExamples } from '../../../src/http/description/examples.ts';
import { PATH_PARAMETERS } from '../../../src/http/description/parameters.ts';
import { VERSION } from '../../../src/process/installation.ts';
import { DESCRIBED } from '../../support/described-routes.ts';
import { closed, errorsOf, ResponseChecker, schemaCompiler } from '../../support/response-checker.ts';
import { SURFACES } from '../../support/surfaces.ts';

const ROUTES = DESCRIBED.map(({ route }) => route);

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into at many depths.
type Document = any;

function described(basePath = '', open = false): Document {
  const document = describeInterface({ surfaces: SURFACES, version: VERSION, basePath, open });
  return JSON.parse(JSON.stringify(document));
}

const EXAMPLES = componentExamples(described().components.schemas);

/** Values of every key of that name, at any depth. */
function valuesOf(document: Document, key: string): unknown[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) => [
    ...(name === key && typeof value === 'string' ? [value] : []),
    ...valuesOf(value, key),
  ]);
}

it('its patterns are of the kind that every language reads, so without Unicode categories', () => {
  const patterns = valuesOf(described(), 'pattern').map(String);
  assert(patterns.length > 0);
  assert.deepEqual(
    patterns.filter((pattern) => /\\p\{/i.test(pattern)),
    [],
  );
});

interface Described {
  readonly operationId: string;
  readonly operation: Document;
}

function operations(document: Document): Described[] {
  return Object.values<Document>(document.paths)
    .flatMap((path) => Object.values<Document>(path))
    .map((operation) => ({ operationId: operation.operationId, operation }));
}

/** Bodies and successes of an operation that are JSON. */
function jsonContents({ operation }: Described): Document[] {
  const successes = Object.entries<Document>(operation.responses).filter(([status]) => status < '300');
  const holders = [operation.requestBody, ...successes.map(([, response]) => response)];
  return holders.flatMap((holder) => holder?.content?.['application/json'] ?? []);
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 by an independent validator, also under a base path and without authentication', async () => {
    for (const document of [described(), described('/flags'), described('', true)]) {
      const outcome = await new Validator().validate(document);
      assert.deepEqual({ valid: outcome.valid, errors: outcome.errors }, { valid: true, errors: undefined });
    }
  });

  it('tells the limits that are in force, with their settings', () => {
    const limits = { ...DEFAULT_GROWTH_LIMITS, strategies: 17 };
    const options = { surfaces: SURFACES, version: VERSION, basePath: '', open: false, limits };
    const { description } = (describeInterface(options) as Document).info;
    for (const name of GROWTH_LIMIT_NAMES) {
      assert(description.includes(`| ${limits[name]} | \`${GROWTH_LIMITS[name].setting}\` |`), name);
    }
  });

  it('names the type of each constant, which generators of clients ask for', () => {
    const constants = JSON.stringify(described()).match(/\{[^{}]*"const":[^{}]*\}/g) ?? [];
    assert(constants.length > 0);
    for (const schema of constants) assert.match(schema, /"type":"(?:string|number|boolean)"/);
  });

  it('is refused by that validator once it is broken', async () => {
    const document = described();
    document.paths['/api/admin/projects/{projectId}'].get.parameters = 'none';
    assert.equal((await new Validator().validate(document)).valid, false);
  });

  it('has every route once, under an operation id of its own, and every reference in it leads somewhere', () => {
    const document = described();
    const ids = operations(document).map(({ operationId }) => operationId);
    assert.deepEqual(ids.toSorted(), ROUTES.map((route) => route.operationId).toSorted());
    assert.equal(new Set(ids).size, ids.length);
    for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = pointer.split('/').reduce((value: Document, step) => value?.[step], document);
      assert.notEqual(found, undefined, `#/${pointer} is there`);
    }
  });

  it('names the server by the base path, and asks for a token unless authentication is off', () => {
    assert.deepEqual(described().servers, [{ url: '/' }]);
    assert.deepEqual(described('/flags').servers, [{ url: '/flags' }]);
    assert.deepEqual(described().security, [{ apiKey: [] }]);
    assert.deepEqual(described('', true).security, [{}, { apiKey: [] }]);
    assert.equal(described().components.securitySchemes.apiKey.name, 'Authorization');
  });

  it('describes every path parameter in words of its own', () => {
    for (const { path, operationId } of ROUTES) {
      for (const [, name = ''] of path.matchAll(/:([A-Za-z]+)/g)) {
        assert(name in PATH_PARAMETERS, `the parameter ${name} of ${operationId}`);
      }
    }
  });

  it('gives every operation a summary, its success and every refusal that its kind can give', () => {
    for (const { operationId, operation } of operations(described())) {
      const route = ROUTES.find((one) => one.operationId === operationId);
      assert(route !== undefined);
      const expected = [route.success.status, 401, 403, 500, 503];
      if (route.body !== undefined) expected.push(400, 413, 415);
      if (route.locate !== undefined) expected.push(404);
      for (const status of expected) assert(status in operation.responses, `${operationId} ${status}`);
      assert.match(operation.summary, /^[A-Z].*\.$/);
    }
  });
});

describe('the examples', () => {
  const document = described();
  // Closed: an example with a field that no schema names is none, although clients have to accept such fields.
  const schemas = closed(document.components.schemas);
  const compileClosed = schemaCompiler({ ...document.components, schemas });
  const compile = (schema: object) => compileClosed(closed(schema));

  /** Errors are of two schemas at once, each of which would refuse the fields of the other. */
  const open = schemaCompiler(document.components);

  it('with a field that no schema names would be found', () => {
    const validate = compile({ $ref: '#/components/schemas/CreateUser' });
    assert(validate(EXAMPLES['CreateUser']));
    assert(!validate({ ...(EXAMPLES['CreateUser'] as object), unheardOf: 1 }));
  });

  it('are there for every component, for no other, and hold', () => {
    const { schemas } = document.components;
    assert.deepEqual(Object.keys(EXAMPLES).toSorted(), Object.keys(schemas).toSorted());
    for (const [name, example] of Object.entries(EXAMPLES)) {
      const validate = compile({ $ref: `#/components/schemas/${name}` });
      if (!validate(example)) assert.fail(`${name}: ${errorsOf(validate)}`);
    }
  });

  it('are there for every body and every response, and hold', () => {
    for (const described of operations(document)) {
      for (const { schema, example } of jsonContents(described)) {
        assert.notEqual(example, undefined, `${described.operationId} has examples`);
        const validate = compile(schema);
        if (!validate(example)) assert.fail(`${described.operationId}: ${errorsOf(validate)}`);
      }
    }
  });

  it('of requests pass the very schema that the server checks requests with', () => {
    const byId = new Map(operations(document).map(({ operationId, operation }) => [operationId, operation]));
    for (const { operationId, body } of ROUTES) {
      if (body === undefined) continue;
      const { example } = byId.get(operationId).requestBody.content['application/json'];
      const parsed = v.safeParse(body, example);
      assert(parsed.success, `${operationId}: ${parsed.issues?.[0].message}`);
    }
  });

  it('of errors hold too', () => {
    for (const [name, response] of Object.entries<Document>(document.components.responses)) {
      const content = response.content?.['application/json'];
      if (content === undefined) continue;
      const validate = open(content.schema);
      for (const { value } of Object.values<Document>(content.examples)) {
        if (!validate(value)) assert.fail(`${name}: ${errorsOf(validate)}`);
      }
    }
  });
});

describe('the check of responses against the document', () => {
  const flag = EXAMPLES['Flag'] as object;
  const created = (body: unknown, status = 201) =>
    new ResponseChecker().check('POST', '/api/admin/projects/default/features', { status, body });

  it('lets through a response that is as described', () => {
    assert.doesNotThrow(() => created(flag));
    assert.doesNotThrow(() => created({ ...(EXAMPLES['Error'] as object) }, 404));
  });

  it('finds a field too many, one too few, one of another type, and a status that is not described', () => {
    assert.throws(() => created({ ...flag, secret: 'x' }), /not as described/);
    assert.throws(() => created({ ...flag, name: undefined }), /not as described/);
    assert.throws(() => created({ ...flag, stale: 'no' }), /not as described/);
    assert.throws(() => created(flag, 200), /not described/);
  });

  it('finds an error of another name than its status has, and a body where none is described', () => {
    assert.throws(() => created(EXAMPLES['Error'], 409), /not as described/);
    const archived = { status: 202, body: {} };
    assert.throws(
      () => new ResponseChecker().check('DELETE', '/api/admin/projects/default/features/x', archived),
      /without a body/,
    );
  });
});
