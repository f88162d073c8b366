import assert from 'node:assert/strict';
import { it } from 'node:test';
import { tracingConfig } from '../../../src/addons/tracing/tracing-config.ts';

it('records traces where a collector is named, unless another variable says no', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  assert.equal(tracingConfig({}), null);
  assert.deepEqual(tracingConfig(endpoint), { protocol: 'http/protobuf' });
  for (const no of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])
    assert.equal(tracingConfig({ ...endpoint, ...no }), null);
  for (const [name, value] of [
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector'],
  ] as const)
    assert.throws(() => tracingConfig({ ...endpoint, [name]: value }), new RegExp(`${name} must be`));
});
