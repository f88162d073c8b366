/** The steps that give older content the metadata that later releases added. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlagMetadata } from '../../../src/domain/flags/metadata.ts';
import type { FlagEvent } from '../../../src/domain/state/events.ts';
import {
  METADATA_EVENT_TYPES,
  type UpgradeStep,
  withAddedFields,
} from '../../../src/domain/state/upgrade.ts';

const owner = { field: 'owner', release: '2.0.0', documentVersion: 3, older: 'unknown' } as const;
const event = { project: 'p', featureName: 'f', environment: null, data: null, preData: null } as const;

test('the steps know every type of event that holds metadata', () => {
  type Holder = Extract<
    FlagEvent,
    { readonly data: FlagMetadata } | { readonly preData: FlagMetadata }
  >['type'];
  // The compiler rejects a type that is missing here, and one that holds no metadata.
  const holders: Record<Holder, true> = {
    'feature-created': true,
    'feature-metadata-updated': true,
    'feature-deleted': true,
  };
  assert.deepEqual(Object.keys(holders).sort(), [...METADATA_EVENT_TYPES].sort());
});

test('a field that came in with a written step is added to what that step makes', () => {
  const written: UpgradeStep = {
    reason: 'The test says so.',
    release: '2.0.0',
    event: (one) => ({ ...one, type: 'feature-created', data: { name: 'f' } }),
  };
  const [step, ...more] = withAddedFields([written], [{ ...owner, contentVersion: 2 }]);
  assert.deepEqual(more, []);
  const upgraded = step?.event?.({ ...event, type: 'older' });
  assert.deepEqual([upgraded?.type, upgraded?.data], ['feature-created', { name: 'f', owner: 'unknown' }]);
  assert.deepEqual(step?.record?.('flags', { flag: { name: 'f' }, revision: 1 }), {
    flag: { name: 'f', owner: 'unknown' },
    revision: 1,
  });
  assert.deepEqual(step?.record?.('users', { id: 1 }), { id: 1 });
});

test('a content version to which no step leads is refused', () => {
  assert.throws(
    () => withAddedFields([], [{ ...owner, contentVersion: 3 }]),
    /no step leads to the content version 2/,
  );
});
