/** The scenario of the golden folders is ready for the next release: nothing that the interface can write is missing in it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkCovered, checkRecorded } from '../../golden/coverage.ts';
import { IMPORT_DOCUMENT } from '../../golden/import-document.ts';
import type { EventShown } from '../../golden/picture.ts';
import { runScenario } from '../../golden/scenario.ts';
import { type Call, startTestServer, type TestServer, temporaryFolder } from '../../support/server.ts';

const folder = temporaryFolder();
const IMPORT_FILE = join(folder, 'import.json');
writeFileSync(IMPORT_FILE, JSON.stringify(IMPORT_DOCUMENT));

for (const [start, env] of [
  ['an empty folder', {}],
  ['an imported document', { IMPORT_FILE }],
] as const) {
  describe(`the scenario that fills golden folders, from ${start} on`, () => {
    let server: TestServer;
    const called = new Set<string>();

    before(async () => {
      server = await startTestServer({ env });
      const call: Call = async (method, path, ...more) => {
        const response = await server.call(method, path, ...more);
        if (response.status < 300) called.add(`${method} ${path}`);
        return response;
      };
      await runScenario({ call, snapshot: async () => undefined, moment: async () => undefined });
    });
    after(() => server.stop());

    it('calls every write of the interface', () => {
      checkCovered(called);
    });

    it('records events of every type', async () => {
      checkRecorded(await recorded(server.call));
    });
  });
}

/** All events, in pages, the newest first. */
async function recorded(call: Call): Promise<readonly EventShown[]> {
  const found: EventShown[] = [];
  for (let offset: number | undefined; offset !== 0; ) {
    const { body } = await call('POST', '/events/search', { limit: 100, ...(offset && { offset }) });
    found.push(...body.events);
    assert.ok(found.length <= body.totalEvents, 'no event is listed twice');
    offset = (found.at(-1)?.id ?? 1) - 1;
  }
  return found;
}
