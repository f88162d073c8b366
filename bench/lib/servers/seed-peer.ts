/** Gives a server that is reached over HTTP alone the flags that the operations need, once. */
import { inParallel, request } from '../load/client.ts';
import type { Target } from '../measurement.ts';
import { FLAG_ENVIRONMENT, flagName } from './data-set.ts';

const seeded = new Map<string, Promise<void>>();

export function seedPeer(peer: Target, flags: number): Promise<void> {
  const known = seeded.get(peer.origin);
  if (known !== undefined) return known;
  const numbers = Array.from({ length: flags }, (_, number) => number);
  const seeding = inParallel(numbers, (number) => seedFlag(peer, flagName(number)));
  seeded.set(peer.origin, seeding);
  return seeding;
}

/** A flag that is there from an earlier run is taken as it is. */
async function seedFlag(peer: Target, name: string): Promise<void> {
  const features = '/projects/default/features';
  const known = await request(peer, { method: 'GET', path: `${features}/${name}` }).catch(() => null);
  if (known !== null) return;
  await request(peer, { method: 'POST', path: features, body: { name, description: 'One of many' } });
  for (const rollout of ['25', '75']) {
    const path = `${features}/${name}/environments/${FLAG_ENVIRONMENT}/strategies`;
    const body = {
      name: 'flexibleRollout',
      parameters: { rollout, stickiness: 'default', groupId: name },
      constraints: [{ contextName: 'country', operator: 'IN', values: ['AT', 'CH', 'DE'] }],
    };
    await request(peer, { method: 'POST', path, body });
  }
}
