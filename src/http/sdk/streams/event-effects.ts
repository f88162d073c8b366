/** Which flags and segments events may have changed in what a query shows. Too many is harmless: each is looked at. */
import type { Change } from '../../../actors/change-feed.ts';
import type { DomainEvent } from '../../../domain/state/events.ts';
import { type ClientQuery, coversProject } from '../documents/client-query.ts';

/** Ids of the newest events. */
export interface EventEffects {
  /** By name. */
  readonly flags: ReadonlyMap<string, number>;
  /** By id. */
  readonly segments: ReadonlyMap<number, number>;
  /** The id of an event that may have changed every flag; null where there was none. */
  readonly everything: number | null;
}

export function effectsOf(changes: readonly Change[], query: ClientQuery): EventEffects {
  const flags = new Map<string, number>();
  const segments = new Map<number, number>();
  let everything: number | null = null;
  for (const change of changes) {
    for (const [at, recorded] of change.events.entries()) {
      const event = recorded as DomainEvent;
      const eventId = change.id + at;
      if (event.featureName !== null) {
        if (isInScope(event, query)) flags.set(event.featureName, eventId);
      } else if (touchesEverything(event, query)) {
        everything = eventId;
      } else {
        const segment = segmentOf(event);
        if (segment !== null) segments.set(segment, eventId);
      }
    }
  }
  return { flags, segments, everything };
}

function isInScope(event: Extract<DomainEvent, { featureName: string }>, query: ClientQuery): boolean {
  const isOfEnvironment = event.environment === null || event.environment === query.environment;
  return isOfEnvironment && coversProject(query, event.project);
}

function touchesEverything(event: DomainEvent, query: ClientQuery): boolean {
  switch (event.type) {
    case 'environment-created':
    case 'environment-updated':
    case 'environment-deleted':
      return event.environment === query.environment;
    case 'project-environment-added':
    case 'project-environment-removed':
      return event.environment === query.environment && coversProject(query, event.project);
    case 'project-deleted':
      return coversProject(query, event.project);
    default:
      return false;
  }
}

function segmentOf(event: DomainEvent): number | null {
  switch (event.type) {
    case 'segment-created':
    case 'segment-updated':
      return event.data.id;
    case 'segment-deleted':
      return event.preData.id;
    default:
      return null;
  }
}
