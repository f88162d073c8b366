import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_TYPES } from '../../../src/domain/state/event-types.ts';

test('all 144 event types of the interface are known, each once, and six of this server', () => {
  assert.equal(EVENT_TYPES.length, 150);
  assert.equal(new Set(EVENT_TYPES).size, 150);
});

test('the list of event types starts, ends and is ordered as the interface fixes it', () => {
  assert.equal(EVENT_TYPES[0], 'application-created');
  assert.equal(EVENT_TYPES.at(-1), 'actions-deleted');
  assert.ok(EVENT_TYPES.indexOf('feature-created') < EVENT_TYPES.indexOf('feature-archived'));
  assert.ok(EVENT_TYPES.indexOf('feature-strategy-update') < EVENT_TYPES.indexOf('feature-strategy-add'));
});

test('every type the service records is one of them', () => {
  const recorded = [
    'feature-created feature-metadata-updated feature-stale-on feature-stale-off feature-archived feature-revived',
    'feature-potentially-stale-on feature-completed feature-uncompleted',
    'feature-deleted feature-strategy-add feature-strategy-update feature-strategy-remove strategy-order-changed',
    'feature-environment-enabled feature-environment-disabled feature-variants-updated',
    'feature-environment-variants-updated project-user-added project-user-role-changed project-user-removed',
    'project-created environment-created user-created user-updated api-token-created pat-created',
    'feature-dependency-added',
  ];
  for (const type of recorded.join(' ').split(' '))
    assert.ok(
      EVENT_TYPES.some((known) => known === type),
      type,
    );
});
