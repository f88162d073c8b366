/** The steps that give older content the fields that later releases added to flags and to records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlagMetadata } from '../../../src/domain/flags/metadata.ts';
import type { FlagEvent } from '../../../src/domain/state/events.ts';
import { METADATA_EVENT_TYPES, type UpgradeStep, withAdded } from '../../../src/domain/state/upgrade.ts';

const owner = {
  section: 'flags',
  field: { name: 'owner', older: 'unknown' },
  release: '2.0.0',
  documentVersion: 3,
} as const;
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
  const [step, ...more] = withAdded([written], [{ ...owner, contentVersion: 2 }]);
  assert.deepEqual(more, []);
  const upgraded = step?.event?.({ ...event, type: 'older' });
  assert.deepEqual([upgraded?.type, upgraded?.data], ['feature-created', { name: 'f', owner: 'unknown' }]);
  assert.deepEqual(step?.record?.('flags', { flag: { name: 'f' }, revision: 1 }), {
    flag: { name: 'f', owner: 'unknown' },
    revision: 1,
  });
  assert.deepEqual(step?.record?.('users', { id: 1 }), { id: 1 });
});

test('a field of a kind is added to its records and events, and to no others', () => {
  const [step] = withAdded([], [{ ...owner, section: 'segments', contentVersion: 2 }]);
  const about = (type: string) => ({ ...event, type, data: { id: 1 }, preData: null });
  assert.deepEqual(step?.event?.(about('segment-created')).data, { id: 1, owner: 'unknown' });
  assert.equal(step?.event?.(about('segment-created')).preData, null);
  assert.deepEqual(step?.event?.(about('user-created')).data, { id: 1 });
  assert.deepEqual(step?.record?.('segments', { id: 1 }), { id: 1, owner: 'unknown' });
  assert.deepEqual(step?.record?.('users', { id: 1 }), { id: 1 });
});

test('a kind that came in changes no older event and no older record', () => {
  const { field: _, ...kind } = { ...owner, section: 'segments', contentVersion: 2 };
  const [step] = withAdded([], [kind]);
  assert.deepEqual([step?.release, step?.event, step?.record], ['2.0.0', undefined, undefined]);
});

test('a content version to which no step leads is refused', () => {
  assert.throws(
    () => withAdded([], [{ ...owner, contentVersion: 3 }]),
    /no step leads to the content version 2/,
  );
});
