/** Takes a checked request to its command, into its mailbox, and to the response when its event is durable (invariant 3). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Engine } from '../../actors/engine.ts';
import type { Outcome, Retry, Submission } from '../../actors/submission.ts';
import type { Command } from '../../domain/decide/decide.ts';
import type { Constraint } from '../../domain/flags/constraint.ts';
import { segmentCost } from '../../domain/flags/evaluation-cost.ts';
import { environmentOf } from '../../domain/flags/flag.ts';
import { costOf } from '../../domain/growth/refuse-growth.ts';
import { shown } from '../../domain/json/issues.ts';
import type { Actor } from '../../domain/state/decision.ts';
import { findNamed } from '../../domain/state/directory-records.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { DirectoryState, World } from '../../domain/state/world.ts';
import { bytesOf, NO_HEADERS, ResponseHeaders } from '../transport/response.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';
import { type Caller, secretIn } from './access.ts';
import type { BoundRoute, Call } from './call.ts';
import type { CallerCheck } from './caller-check.ts';
import { type ClusterAccess, EVENT_ID_HEADER } from './cluster.ts';
import { flagPrecondition, recordPrecondition } from './etag.ts';
import { EMPTY_HEADERS, JSON_HEADERS } from './json-response.ts';
import { NOT_WANTED, type ResponseSender } from './response-sender.ts';
import type { WriteRoute } from './route.ts';
import { partSeenBy } from './visible-world.ts';
import { WARNINGS_MAX, type Warning, withWarnings } from './warnings.ts';

export class WritePath {
  readonly #engine: Engine;
  readonly #sender: ResponseSender;
  readonly callers: CallerCheck;
  #eventIdHeader = NO_HEADERS;
  /** The event that the header names. */
  #tellsId = -1;

  constructor(engine: Engine, sender: ResponseSender, callers: CallerCheck) {
    this.#engine = engine;
    this.#sender = sender;
    this.callers = callers;
  }

  get world(): World {
    return this.#engine.world;
  }

  /** `located`: the object that the path names, or why there is none. */
  write(checked: CheckedWrite, located: unknown): void {
    const { call, route } = checked;
    const { directory } = this.world;
    const command = isRefusal(located) ? located : route.command(call, located);
    if (!(command instanceof Promise)) return this.#submit(checked, directory, command);
    this.#sender.later(call, command, (late) => this.#submit(checked, directory, late));
  }

  /** Another node leads: it responds to a write, and decides about everything itself. */
  forward(call: Call, cluster: ClusterAccess): void {
    this.#sender.later(call, cluster.forward(call.request, call.responder.signal), (response) =>
      isRefusal(response) ? this.#sender.refuse(call, response) : this.#sender.send(call, response),
    );
  }

  #submit(checked: CheckedWrite, directory: DirectoryState, command: Command | Refusal): void {
    const { call, route, warnings } = checked;
    const retry = retryOf(call.request, call.caller, route);
    const isUnkeyed = retry === undefined || isRefusal(retry);
    if (isRefusal(command) && isUnkeyed) return this.#sender.refuseSettled(call, command);
    if (isRefusal(retry)) return this.#sender.refuseSettled(call, retry);
    call.trace?.queued();
    this.#engine.submit(new Write({ path: this, call, route, warnings, directory, command, retry }));
  }

  respond(call: Call, outcome: Outcome<HttpResponse>): void {
    if (!call.responder.isWanted) return;
    if (outcome.kind === 'response') this.#sender.send(call, this.#withEventId(outcome.response));
    else if (outcome.kind === 'refusal') this.#sender.refuse(call, outcome.refusal);
    else this.#sender.fail(call, outcome.error);
  }

  /** Adds the event that reads on other nodes, and on edges, must ask for to see the write. Writes of one batch have the same. */
  #withEventId({ status, headers, body }: HttpResponse): HttpResponse {
    const { durableId } = this.#engine;
    if (durableId !== this.#tellsId) {
      this.#eventIdHeader = ResponseHeaders.of(EVENT_ID_HEADER, String(durableId));
      this.#tellsId = durableId;
    }
    return { status, headers: headers.and(this.#eventIdHeader), body };
  }
}

interface CheckedWrite {
  readonly call: Call;
  readonly route: BoundRoute<WriteRoute>;
  /** Likely slips in its body. */
  readonly warnings: readonly Warning[];
}

interface WriteParts extends CheckedWrite {
  readonly path: WritePath;
  /** The directory with which the route let the caller in. */
  readonly directory: DirectoryState;
  readonly command: Command | Refusal;
  readonly retry: Retry<HttpResponse> | undefined;
}

/** A command of a request, in its mailbox. One object: a function for each question would take a seventh of a read. */
class Write implements Submission<HttpResponse> {
  readonly command: Command | Refusal;
  readonly actor: Actor;
  readonly retry: Retry<HttpResponse> | undefined;
  readonly precondition: Submission<HttpResponse>['precondition'];
  readonly #parts: WriteParts;

  constructor(parts: WriteParts) {
    const { path, call, route, command, retry } = parts;
    const ifMatch = call.request.header('if-match');
    this.#parts = parts;
    this.command = command;
    const foundActor = isRefusal(command) ? undefined : route.actor?.(path.world, command);
    this.actor = foundActor ?? call.caller.actor;
    this.retry = retry;
    this.precondition =
      flagPrecondition(ifMatch, call.params) ?? recordPrecondition(ifMatch, call.params, route.pinned);
  }

  /**
   * Checks, in the turn of a command, whether its client still waits and its caller still has all rights:
   * reading what a command needs, and its mailbox, may have taken seconds since the route checked the caller. All rights are
   * in the directory, so where it is still the one with which the route did, they are as they were.
   */
  mayStart(world: World): Refusal | null {
    const { path, call, route, directory, command } = this.#parts;
    call.trace?.begun();
    if (!call.responder.isAwaited) return NOT_WANTED;
    const { caller, params } = call;
    const found = world.directory === directory ? caller : path.callers.identify(call.request, route, params);
    if (isRefusal(found)) {
      const former = path.callers.identifyWithoutProject(call.request, route, params);
      return isRefusal(command) && former !== null ? null : found;
    }
    if (!isRefusal(command)) call.caller = found;
    return null;
  }

  seenBy(world: World): World | null {
    return partSeenBy(world, this.#parts.call.caller);
  }

  get guard(): Submission<HttpResponse>['guard'] {
    const { call, route, command } = this.#parts;
    const { guard } = route;
    if (guard === undefined || isRefusal(command)) return undefined;
    return (world, events) => guard(world, call.caller, events, command);
  }

  respond(world: World, events: readonly DomainEvent[]): HttpResponse {
    const { call, route, command } = this.#parts;
    assert(!isRefusal(command), 'a refusal changes nothing');
    call.trace?.appended();
    const response = route.respond(call, events, command);
    const warnings = [...this.#parts.warnings, ...ruleWarnings(world, events)].slice(0, WARNINGS_MAX);
    return warnings.length === 0 ? response : withWarnings(response, warnings);
  }

  done(outcome: Outcome<HttpResponse>): void {
    this.#parts.path.respond(this.#parts.call, outcome);
  }
}

// `Idempotency-Key` (docs/specification/common.md#idempotency-key): a write that is sent again because its response
// was lost gets the first response and changes nothing twice, for 24 hours and across restarts. Only successes that
// changed something are kept: a refusal changed nothing, and its cause may have ended.

/** Visible ASCII. Long enough for any UUID or hash, short enough to be kept. */
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

/**
 * Undefined without the header. `secretField`: what a response shows only once. `secretsInBody`: fields of the request's body
 * that do not tell requests apart, because a digest of them could be guessed.
 */
function retryOf(
  request: TransportRequest,
  caller: Caller,
  { secretField, secretsInBody = [] }: Pick<WriteRoute, 'secretField' | 'secretsInBody'>,
): Retry<HttpResponse> | Refusal | undefined {
  const header = request.header('idempotency-key');
  if (header === '') return undefined;
  if (!KEY_PATTERN.test(header)) {
    return invalid(
      'The header Idempotency-Key must be 1 to 255 visible ASCII characters.',
      '/headers/idempotency-key',
    );
  }
  const target = request.query === '' ? request.path : `${request.path}?${request.query}`;
  return {
    key: sha256(JSON.stringify([...credentialsOf(request, caller), header])),
    // Without a query it is the one that release 0.1.0 recorded, whose requests may be retried after an upgrade.
    fingerprint: sha256(`${request.method} ${target}\n`, comparedBody(request.body, secretsInBody)),
    toRemember: ({ status, body }) => ({
      status,
      body:
        body === null
          ? null
          : withoutSecret(
              typeof body === 'string' ? body : Buffer.from(bytesOf(body)).toString(),
              secretField,
            ),
    }),
    fromMemory: ({ status, body }) => ({
      status,
      headers: body === null ? EMPTY_HEADERS : JSON_HEADERS,
      body,
    }),
  };
}

/** Credentials, and not the name of the caller, because two tokens may have the same name, and sessions end. */
function credentialsOf(request: TransportRequest, { user, token }: Caller): readonly unknown[] {
  const secret = secretIn(request.header('authorization'));
  if (secret !== null || (user === null && token === null)) return [secret];
  return ['session', user?.id ?? token?.digest];
}

/** The body has been read, so it is JSON. */
function comparedBody(body: Uint8Array, secrets: readonly string[]): string | Uint8Array {
  if (secrets.length === 0) return body;
  const value = JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
  return JSON.stringify({ ...value, ...Object.fromEntries(secrets.map((name) => [name, null])) });
}

function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

function withoutSecret(body: string, secretField: WriteRoute['secretField']): string {
  if (secretField === undefined) return body;
  const shown = JSON.parse(body) as Record<string, unknown>;
  for (const field of [secretField].flat()) if (field in shown) shown[field] = null;
  return JSON.stringify(shown);
}

// Warnings to the author of rules that are taken all the same: fields that no application may know, values that are none of
// the legal ones, and much time that an evaluation may take (docs/specification/strategies.md#warnings).

/** The least cost that is warned about, in microseconds at worst: some turns of the event loop. */
const TOLD_COST_MIN = 20_000;

/** Warns of the rules that `events`, applied already, have put into the state. */
function ruleWarnings(world: World, events: readonly DomainEvent[]): readonly Warning[] {
  const warnings: Warning[] = [];
  for (const event of events) {
    if (warnings.length >= WARNINGS_MAX) break;
    switch (event.type) {
      case 'feature-strategy-add':
      case 'feature-strategy-update':
        warnings.push(...constraintWarnings(world, event.data.constraints));
        warnings.push(...flagCostWarnings(world, event));
        break;
      case 'segment-created':
      case 'segment-updated':
        warnings.push(...constraintWarnings(world, event.data.constraints));
        warnings.push(
          ...costWarnings(`The segment ${shown(event.data.name)}`, segmentCost(event.data).worst),
        );
        break;
      default:
    }
  }
  return warnings;
}

function constraintWarnings(world: World, constraints: readonly Constraint[]): readonly Warning[] {
  const warnings: Warning[] = [];
  for (let at = 0; at < constraints.length && warnings.length < WARNINGS_MAX; at += 1) {
    const { contextName, operator, values } = constraints[at]!;
    const field = findNamed(world, 'contextFields', contextName);
    if (field === undefined) {
      const message = `There is no context field ${shown(contextName)}: the constraint meets those contexts alone in which applications send it.`;
      warnings.push({ path: `/constraints/${at}/contextName`, message });
      continue;
    }
    if (field.legalValues.length === 0 || (operator !== 'IN' && operator !== 'NOT_IN')) continue;
    const legal = new Set(field.legalValues.map(({ value }) => value));
    const other = values.findIndex((value) => !legal.has(value));
    if (other === -1) continue;
    const message = `${shown(values[other])} is none of the legal values of the context field ${shown(contextName)}.`;
    warnings.push({ path: `/constraints/${at}/values/${other}`, message });
  }
  return warnings;
}

function flagCostWarnings(
  world: World,
  {
    project,
    featureName,
    environment,
  }: { readonly project: string; readonly featureName: string; readonly environment: string },
): readonly Warning[] {
  const flag = world.projects.get(project)?.flags.get(featureName)?.flag;
  if (flag === undefined) return [];
  const { strategies } = environmentOf(flag, environment);
  const subject = `The flag "${featureName}" in the environment "${environment}"`;
  return costWarnings(subject, costOf(world, strategies));
}

function costWarnings(subject: string, cost: number): readonly Warning[] {
  if (cost < TOLD_COST_MIN) return [];
  const milliseconds = Math.round(cost / 1_000);
  return [
    { path: '', message: `${subject} may take ${milliseconds} ms to evaluate for the longest context.` },
  ];
}
