/**
 * An event as readers see it. What replay alone needs (`hidden`, an idempotent request's `answer`) is left out
 * here, in the one place that turns a recorded event into a shown one, so that no caller can forget to.
 */
import assert from 'node:assert/strict';
import type { RecordedEvent } from '../../domain/state/events.ts';
import type { Frame } from '../journal/frame.ts';

export interface LoggedEvent {
  readonly id: number;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly type: string;
  readonly createdBy: string;
  readonly createdByUserId: number;
  readonly environment: string | null;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly data: unknown;
  readonly preData: unknown;
  readonly tags: readonly { readonly type: string; readonly value: string }[];
}

export function recordedEvent(frame: Frame, id: number): RecordedEvent {
  const event = frame.events[id - frame.id];
  assert(event !== undefined, `the frame of event ${frame.id} holds event ${id}`);
  return event;
}

export function toLoggedEvent(frame: Frame, id: number): LoggedEvent {
  const event = recordedEvent(frame, id);
  return {
    id,
    createdAt: new Date(frame.at).toISOString(),
    type: event.type,
    createdBy: frame.by,
    createdByUserId: frame.userId,
    environment: event.environment,
    project: event.project,
    featureName: event.featureName,
    data: event.data ?? null,
    preData: event.preData ?? null,
    tags: event.tags ?? [],
  };
}

/** The text of an event's data that a query is looked for in, before case folding. */
export function dataText(data: unknown): string {
  return JSON.stringify(data ?? null);
}
