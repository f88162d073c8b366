/** A request on its way to its response, and the route that it takes. */
import type { Responder, TransportRequest, TransportRequestHead } from '../transport/transport.ts';
import type { Caller } from './access.ts';
import type { RouteMeter } from './meters.ts';
import { type ParamName, type Params, paramNamesOf } from './params.ts';
import type { ServedRequest } from './request-log.ts';
import { type PlainRoute, type Route, routeInFull } from './route.ts';
import type { Surface } from './surface.ts';

export interface Call {
  readonly request: TransportRequest;
  readonly responder: Responder;
  readonly startedAt: number;
  /** Null where no traces are recorded. */
  readonly trace: RequestTrace | null;
  /** The time of its response; -1 before that, and where it is not measured. */
  endedAt: number;
  /** The meter of the route; that of unknown paths until a route is found. */
  meter: RouteMeter;
  /** The surface that the path belongs to. */
  surface: Surface | null;
  /** The parameters of the path, once a route has been found. */
  params: Params | null;
  /** Once it is known. */
  caller: Caller | null;
}

/** The call's fields in the log. */
export function servedBy({ request, caller }: Call): Pick<ServedRequest, 'head' | 'actor'> {
  return { head: request, actor: caller?.actor.name };
}

/** A route with all that can be computed before a request comes. */
export interface BoundRoute {
  readonly surface: Surface;
  readonly route: Route | PlainRoute;
  readonly meter: RouteMeter;
  readonly paramNames: readonly ParamName[];
  /** Position of `:projectId` among the parameters; -1 without one. */
  readonly projectAt: number;
  /** Position of `:featureName`, which determines the project when the path does not name it; -1 without one. */
  readonly flagAt: number;
  /** Position of `:environment`; -1 without one. */
  readonly environmentAt: number;
}

export function bindRoute(surface: Surface, route: Route | PlainRoute, meter: RouteMeter): BoundRoute {
  const paramNames = paramNamesOf(route.path);
  return {
    surface,
    route: routeInFull(route),
    meter,
    paramNames,
    projectAt: paramNames.indexOf('projectId'),
    flagAt: paramNames.indexOf('featureName'),
    environmentAt: paramNames.indexOf('environment'),
  };
}

// The events of a request that are reported to a tracer. Without a tracer a request costs one more comparison with null.

export interface Tracer {
  begin(head: TransportRequestHead): RequestTrace;
}

/** Called in this order. A request that is no command is only ended, and one that is refused may end at any point. */
export interface RequestTrace {
  /** The command is in its mailbox. */
  queued(): void;
  /** Its turn has come. */
  begun(): void;
  /** Its events are appended, and its response waits until they are durable. */
  appended(): void;
  /** `route`: the pattern that the path matched; `none` where it matched none. */
  ended(route: string, status: number): void;
}
