/**
 * Parts of the scenario: what strategies refer to, which are segments, context fields and strategy types, and the export and import of
 * flags with all that.
 */
import type { Call, ReceivedResponse } from '../support/server.ts';

type CheckedCall = (...args: Parameters<Call>) => Promise<ReceivedResponse>;

const IN_LANDS = { contextName: 'land', operator: 'IN', values: ['Österreich', '日本'] };
const OF_AGE = { contextName: 'age', operator: 'NUM_GTE', value: '17.5' };

/** Returns the ids of two segments. */
export async function targeting(call: CheckedCall): Promise<readonly [number, number]> {
  await contextFields(call);
  await strategyTypes(call);
  const made = async (fields: object): Promise<number> => (await call('POST', '/segments', fields)).body.id;
  const lands = await made({ name: 'Länder', description: null, constraints: [IN_LANDS] });
  const adults = await made({ name: 'Erwachsene 大人', project: 'default', constraints: [OF_AGE] });
  await call('PUT', `/segments/${lands}`, {
    name: 'Länder',
    description: 'Größe',
    constraints: [{ ...IN_LANDS, inverted: true }],
  });
  await call('DELETE', `/segments/${await made({ name: 'short-lived', constraints: [] })}`);
  return [lands, adults];
}

async function contextFields(call: CheckedCall): Promise<void> {
  await call('POST', '/context', {
    name: 'land',
    description: 'Größe',
    stickiness: true,
    sortOrder: 2.5,
    legalValues: [{ value: '日本', description: 'Japan' }, { value: 'Österreich' }],
  });
  await call('PUT', '/context/userId', { description: 'Wer es ist', stickiness: false });
  await call('POST', '/context', { name: 'short-lived' });
  await call('DELETE', '/context/short-lived');
}

async function strategyTypes(call: CheckedCall): Promise<void> {
  const parameter = { name: 'größe', type: 'number', description: 'Grad', required: true };
  await call('POST', '/strategies', { name: 'byWeather', description: 'Wetter', parameters: [parameter] });
  await call('PUT', '/strategies/byWeather', { description: 'Bei Regen 雨', parameters: [] });
  await call('POST', '/strategies/byWeather/deprecate');
  await call('POST', '/strategies/byWeather/reactivate');
  await call('POST', '/strategies/byWeather/deprecate');
  await call('POST', '/strategies', { name: 'short-lived' });
  await call('DELETE', '/strategies/short-lived');
}

/** From one environment of the project `default` to another. */
export async function transfer(call: CheckedCall, features: readonly string[]): Promise<void> {
  const { body: data } = await call('POST', '/features-batch/export', {
    environment: 'development',
    features,
  });
  await call('POST', '/features-batch/import', { project: 'default', environment: 'production', data });
  const [flag] = features;
  await call('POST', `/projects/default/features/${flag}/comments`, { text: 'Mitgebracht.\n雨' });
  await call('GET', '/projects/default/flags-as-code?limit=1');
  const change = {
    flag,
    environment: null,
    field: 'tags',
    before: data.featureTags.length === 0 ? [] : null,
  };
  await call('POST', '/projects/default/flags-as-code', {
    changes: [{ ...change, after: [{ type: 'simple', value: 'from-file' }] }],
  });
}
