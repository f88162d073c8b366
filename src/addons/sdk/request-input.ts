/** Turns the context in a request into the input of an evaluation. */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { canonicalAddress } from '../../domain/flags/address.ts';
import { shown } from '../../domain/json/issues.ts';
import { isJsonObject } from '../../domain/json/json.ts';
import { invalid, type Refusal } from '../../domain/state/refusal.ts';
import type { RequestContext } from '../../http/serving/route.ts';
import { contextIssue, contextLength, contextOf, type EvaluationContext } from './evaluation/context.ts';
import type { EvaluationInput } from './evaluation/run.ts';

type SentFields = Readonly<Record<string, unknown>>;

/** Checks one field of a context, in which it may be absent or null. */
export const contextField = (name: string, accepts: (value: unknown) => boolean, phrase: string) =>
  v.forward<SentFields, v.CheckIssue<SentFields>, [string]>(
    v.check(
      (context: SentFields) =>
        context[name] === undefined || context[name] === null || accepts(context[name]),
      ({ input }) => `The field ${name} must be ${phrase}, not ${shown(input[name])}.`,
    ),
    [name],
  );

/** Unknown fields are properties of the context, so every object is one. */
export const ContextSchema = v.pipe(
  v.custom<SentFields>(isJsonObject, 'an object'),
  contextField('properties', isJsonObject, 'an object'),
  v.metadata({
    type: 'object',
    additionalProperties: true,
    description:
      'Fields of whom or what to evaluate for, such as userId, sessionId and appName. Any other field is a property, as are those below properties.',
  }),
);

export interface SentContext {
  /** Equal only for contexts that are. */
  readonly key: string;
  readonly fields: () => Readonly<Record<string, unknown>>;
  /** The context's place in the request, as a JSON pointer. */
  readonly path: string;
}

/** The context in the body of a request, in the field of that name. */
export function contextInBody(context: Readonly<Record<string, unknown>>): SentContext {
  return { key: JSON.stringify(context), fields: () => context, path: '/body/context' };
}

/** The context in a query string: `userId=1&properties[region]=eu`. A name given twice has its last value. */
export function contextInQuery(rawQuery: string): SentContext {
  return { key: `?${rawQuery}`, fields: () => fieldsInQuery(rawQuery), path: '/query' };
}

/** The input for the context that was sent, with the caller's address and a session of its own where these are missing. */
export function requestInput(
  request: RequestContext<unknown>,
  { fields, path }: SentContext,
): RequestInput | Refusal {
  const given = contextOf(fields());
  const length = contextLength(given);
  const issue = contextIssue(length);
  return issue === null ? new RequestInput(given, length, request) : invalid(issue, path);
}

export class RequestInput implements EvaluationInput {
  readonly context: RequestedContext;
  readonly contextLength: number;
  readonly hostName = null;
  readonly #request: RequestContext<unknown>;
  #hasAsked = false;

  constructor(given: EvaluationContext, givenLength: number, request: RequestContext<unknown>) {
    this.context = new RequestedContext(given, request);
    this.contextLength = givenLength;
    this.#request = request;
  }

  get nowMs(): number {
    this.#hasAsked = true;
    return this.#request.now();
  }

  random(): number {
    this.#hasAsked = true;
    return Math.random();
  }

  /** Whether all rules so far have read only fields that were sent. */
  get isRepeatable(): boolean {
    return !this.#hasAsked && !this.context.hasAsked;
  }
}

/** A context that looks up fields which were not sent only when a rule reads them, which few rules do. */
class RequestedContext implements EvaluationContext {
  readonly userId: string | undefined;
  readonly environment: string | undefined;
  readonly appName: string | undefined;
  readonly currentTime: string | undefined;
  readonly properties: EvaluationContext['properties'];
  readonly #request: RequestContext<unknown>;
  #sessionId: string | undefined;
  #remoteAddress: string | undefined;
  /** Whether a field was read that was not sent. */
  hasAsked = false;

  constructor(given: EvaluationContext, request: RequestContext<unknown>) {
    this.userId = given.userId;
    this.environment = given.environment;
    this.appName = given.appName;
    this.currentTime = given.currentTime;
    this.properties = given.properties;
    this.#sessionId = given.sessionId;
    this.#remoteAddress = given.remoteAddress;
    this.#request = request;
  }

  get sessionId(): string {
    if (this.#sessionId === undefined) {
      this.hasAsked = true;
      this.#sessionId = randomUUID();
    }
    return this.#sessionId;
  }

  get remoteAddress(): string {
    if (this.#remoteAddress === undefined) {
      this.hasAsked = true;
      this.#remoteAddress = callerAddress(this.#request);
    }
    return this.#remoteAddress;
  }
}

/**
 * The first address of X-Forwarded-For, or that of the connection. A false one in that header gains nothing: the
 * context may name any address anyway.
 */
function callerAddress(request: RequestContext<unknown>): string {
  const forwarded = request.header('x-forwarded-for');
  const first = forwarded === '' ? null : canonicalAddress(forwarded.split(',', 1)[0]!.trim());
  return first ?? canonicalAddress(request.remoteAddress()) ?? '';
}

const PROPERTY_PATTERN = /^properties\[(.+)\]$/s;

function fieldsInQuery(rawQuery: string): Readonly<Record<string, unknown>> {
  if (rawQuery === '') return {};
  // Without a prototype, so that __proto__ is a name like any other.
  const fields = Object.create(null) as Record<string, unknown>;
  const properties = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    const property = name.startsWith('properties[') ? PROPERTY_PATTERN.exec(name)?.[1] : undefined;
    if (property === undefined) fields[name] = value;
    else properties[property] = value;
  }
  fields['properties'] = properties;
  return fields;
}
