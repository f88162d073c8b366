import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SharedUsage, type UsageNote } from '../../../src/addons/usage/shared-usage.ts';
import type { Broadcast } from '../../../src/host/addon.ts';

const MESSAGE_BYTES_MAX = 2 ** 20;

it('a report that the stream would never take is told once, and holds up no others', async () => {
  const taken: UsageNote[] = [];
  const stream: Broadcast = {
    async publish(batch) {
      assert(batch.length <= MESSAGE_BYTES_MAX, 'the stream takes the batch');
      taken.push(...(JSON.parse(batch.toString()) as UsageNote[]));
    },
    read: async () => null,
  };
  const faults: unknown[] = [];
  const usage = new SharedUsage({
    ...{ stream, run: 'once', timer: () => undefined },
    onFault: (error) => faults.push(error),
  });
  // Three bytes each, so that they are counted as bytes.
  for (const appName of [
    'small',
    '€'.repeat(400_000),
    '€'.repeat(300_000),
    'also small',
    'x'.repeat(700_000),
  ])
    usage.send({ kind: 'forgotten', appName });
  await usage.close();
  assert.deepEqual(
    taken.map((note) => (note.kind === 'forgotten' ? note.appName : '')),
    ['small', 'also small', 'x'.repeat(700_000)],
  );
  assert.equal(faults.length, 1);
  assert.match(String(faults[0]), /a report of \d+ bytes, where nodes share 786432 at most, is not counted/);
});

it('a stop while a batch is under way sends each report once', async () => {
  const taken: UsageNote[] = [];
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let take = (): void => undefined;
  const isTaken = new Promise<void>((resolve) => {
    take = resolve;
  });
  let send = (): void => assert.fail('a batch is due');
  const stream: Broadcast = {
    async publish(batch) {
      begin();
      await isTaken;
      taken.push(...(JSON.parse(batch.toString()) as UsageNote[]));
    },
    read: async () => null,
  };
  const usage = new SharedUsage({
    ...{ stream, run: 'once', onFault: assert.fail },
    timer: (_, callback) => {
      send = callback;
    },
  });
  usage.send({ kind: 'forgotten', appName: 'first' });
  send();
  await begun;
  usage.send({ kind: 'forgotten', appName: 'second' });
  const closed = usage.close();
  take();
  await closed;
  assert.deepEqual(taken, [
    { kind: 'forgotten', appName: 'first' },
    { kind: 'forgotten', appName: 'second' },
  ]);
});
