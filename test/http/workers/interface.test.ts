/**
 * Suites of the interface over two HTTP workers. These are the ones that meet what workers do differently: what they keep, when a change may
 * be seen, streams, bodies and refusals. `TEST_HTTP_WORKERS=2` runs any other suite over workers too.
 */
// Own process: the setting is read where suites are described.
process.env['TEST_HTTP_WORKERS'] = '2';

await import('../interface/durability.test.ts');
await import('../interface/overload.test.ts');
await import('../interface/transport-refusals.test.ts');
await import('../client/flags.test.ts');
await import('../client/streaming.test.ts');
await import('../frontend/toggles.test.ts');
await import('../ofrep/ofrep.test.ts');
