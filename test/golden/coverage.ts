/** The things that the scenario has to cover: every write of the interface, and events of every type. */
import assert from 'node:assert/strict';
import type { DomainEvent, RecordEvent } from '../../src/domain/state/events.ts';
import { ADMIN_ROUTES } from '../support/surfaces.ts';
import type { EventShown } from './picture.ts';

/**
 * A new event type does not compile until it is listed here, and `checkRecorded` then fails until the scenario records it.
 * False is for what no request records: what the server does by itself, for flags of a certain age, a minute after a start, and
 * what only earlier releases record.
 */
const EVENT_TYPES: { readonly [T in Exclude<DomainEvent['type'], RecordEvent['type']>]: boolean } = {
  'feature-created': true,
  'feature-project-change': true,
  'features-exported': true,
  'features-imported': true,
  'features-applied': true,
  'feature-metadata-updated': true,
  'feature-stale-on': true,
  'feature-stale-off': true,
  'feature-potentially-stale-on': false,
  'feature-potentially-stale-soon': false,
  'feature-archived': true,
  'feature-revived': true,
  'feature-completed': true,
  'feature-uncompleted': true,
  'feature-deleted': true,
  'feature-strategy-add': true,
  'feature-strategy-update': true,
  'feature-strategy-remove': true,
  'strategy-order-changed': true,
  'feature-environment-enabled': true,
  'feature-environment-disabled': true,
  'feature-variants-updated': true,
  'feature-environment-variants-updated': true,
  'feature-favorited': true,
  'feature-unfavorited': true,
  'feature-commented': true,
  'feature-tagged': true,
  'feature-untagged': true,
  'feature-dependency-added': true,
  'feature-dependency-removed': true,
  'feature-dependencies-removed': true,
  'project-created': true,
  'project-updated': true,
  'project-deleted': true,
  'project-environment-added': true,
  'project-environment-removed': true,
  'default-strategy-updated': true,
  'project-favorited': true,
  'project-unfavorited': true,
  'project-user-added': true,
  'project-user-role-changed': true,
  'project-user-removed': true,
  'project-group-added': true,
  'project-group-role-changed': true,
  'project-group-removed': true,
  'environment-created': true,
  'environment-updated': true,
  'environment-deleted': true,
  'segment-created': true,
  'segment-updated': true,
  'segment-deleted': true,
  'context-field-created': true,
  'context-field-updated': true,
  'context-field-deleted': true,
  'strategy-created': true,
  'strategy-updated': true,
  'strategy-deprecated': true,
  'strategy-reactivated': true,
  'strategy-deleted': true,
  'tag-type-created': true,
  'tag-type-updated': true,
  'tag-type-deleted': true,
  'tag-created': false,
  'tag-deleted': false,
  'setting-created': true,
  'setting-updated': true,
  'feature-type-updated': true,
  'public-signup-token-created': true,
  'public-signup-token-updated': true,
  'public-signup-token-user-added': true,
  'service-account-created': true,
  'service-account-updated': true,
  'service-account-deleted': true,
  'user-created': true,
  'user-updated': true,
  'user-deleted': true,
  'api-token-created': true,
  'api-token-updated': true,
  'api-token-deleted': true,
  'role-created': true,
  'role-updated': true,
  'role-deleted': true,
  'group-created': true,
  'group-updated': true,
  'group-deleted': true,
  'pat-created': true,
  'pat-deleted': true,
};

/** Throws unless every route that changes the state was called successfully. */
export function checkCovered(called: ReadonlySet<string>): void {
  const writes = ADMIN_ROUTES.filter(({ kind }) => kind === 'write').map(
    ({ method, path }) => `${method} ${path}`,
  );
  const missing = writes.filter((write) => {
    const pattern = new RegExp(`^${write.replaceAll(/:[^/]+/g, '[^/]+')}$`);
    return ![...called].some((one) => pattern.test(one));
  });
  assert.deepEqual(missing, [], 'the scenario calls every write');
}

export function checkRecorded(events: readonly EventShown[]): void {
  const recorded = new Set(events.map(({ type }) => type));
  const missing = Object.entries(EVENT_TYPES)
    .filter(([type, isAsked]) => isAsked && !recorded.has(type))
    .map(([type]) => type);
  assert.deepEqual(missing, [], 'the scenario records events of every type');
}
