/**
 * Documents larger than the longest string that JavaScript can hold, about 512 MiB, are read and written part by part. What
 * the process takes for it does not grow with the document.
 */
// Own process: it takes long.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { exportState } from '../../src/actors/state-file.ts';
import { jsonPieces } from '../../src/cli/export.ts';
import { FlagRecord } from '../../src/domain/state/flag-record.ts';
import { projectIn } from '../../src/domain/state/world.ts';
import { readJsonParts } from '../../src/http/body/json-parts.ts';
import { BODY_LIMITS } from '../../src/http/body/json-shape.ts';
import { exportState as exportWhole } from '../support/documents/state-document.ts';
import { liveBytes } from '../support/live-bytes.ts';
import { flagstaff } from '../support/operator.ts';
import { serverFor, temporaryFolder } from '../support/server.ts';
import { TestWorld } from '../support/test-world.ts';

const MIB = 2 ** 20;
const LONGEST_STRING = 2 ** 29;
const FLAGS = 560;
/** A few chunks, and copies of one flag. */
const GROWTH_BYTES_MAX = 16 * MIB;
/** Flags between two looks at the memory in use. */
const LOOK_FLAGS = 40;

async function* hugeDocument(): AsyncGenerator<Uint8Array> {
  const text = 'x'.repeat(MIB);
  yield Buffer.from('{"flags":[');
  for (let index = 0; index < FLAGS; index += 1) {
    yield Buffer.from(`${index === 0 ? '' : ','}{"name":"flag-${index}","description":"${text}"}`);
  }
  yield Buffer.from(']}');
}

describe('a document beyond the longest string', () => {
  it('is read flag by flag', async () => {
    const before = liveBytes();
    let growth = 0;
    let flags = 0;
    let bytes = 0;
    for await (const { path, value } of readJsonParts(hugeDocument(), {
      whole: 'The document',
      isOpened: ({ length }) => length <= 1,
      partBytesMax: 2 * MIB,
      limits: BODY_LIMITS,
    })) {
      if (path.length < 2) continue;
      flags += 1;
      bytes += (value as { description: string }).description.length;
      if (flags % LOOK_FLAGS === 0) growth = Math.max(growth, liveBytes() - before);
    }
    assert.deepEqual([flags, bytes], [FLAGS, FLAGS * MIB]);
    assert(bytes > LONGEST_STRING);
    assert(growth < GROWTH_BYTES_MAX, `reading took ${Math.round(growth / MIB)} MiB`);
  });

  it('is exported flag by flag', () => {
    const state = new TestWorld().given({
      ...{ type: 'create-flag', project: 'default', name: 'one', metadata: {} },
    });
    const { flags } = state.world.projects.get('default')!;
    const [one] = [...flags.values()];
    assert(one !== undefined);
    // All share one text in memory; in the document each has its own.
    const flag = { ...one.flag, description: 'x'.repeat(MIB) };
    state.change((draft) => {
      const project = projectIn(draft, draft.projects.get('default')!);
      for (let index = 0; index < FLAGS; index += 1) {
        const named = { ...flag, name: `flag-${index}` };
        const record = FlagRecord.of({ revision: 1, createdBy: null, flag: named });
        project.flags = project.flags.with(record, null, draft.edit);
      }
    });
    const before = liveBytes();
    let growth = 0;
    let characters = 0;
    let looks = 0;
    for (const piece of jsonPieces(exportState(state.world))) {
      characters += piece.length;
      if (characters < looks * LOOK_FLAGS * MIB) continue;
      growth = Math.max(growth, liveBytes() - before);
      looks += 1;
    }
    assert(characters > LONGEST_STRING);
    assert(growth < GROWTH_BYTES_MAX, `writing took ${Math.round(growth / MIB)} MiB`);
  });
});

describe('a document beyond the limits of a request', () => {
  it('with 12,000 flags in a project, and one nested as deep as a request may be, is imported and exported again', async (t) => {
    const first = await serverFor(t);
    let parameters = {};
    for (let level = 2; level < 63; level += 1) parameters = { parameters };
    const path = '/projects/default/features';
    await first.call('POST', path, { name: 'deep' });
    const strategy = { name: 'default', parameters };
    const added = await first.call('POST', `${path}/deep/environments/production/strategies`, strategy);
    assert.equal(added.status, 200);
    const document = exportWhole(first.server.store.engine.world);
    await first.stop();
    const { flags } = document.projects[0]!;
    const plain = { ...flags[0]!, environments: [] };
    for (let index = 0; index < 12_000; index += 1) flags.push({ ...plain, name: `flag-${index}` });

    const folder = temporaryFolder();
    const [file, again] = [join(folder, 'state.json'), join(folder, 'again.json')];
    writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
    const second = await serverFor(t, { env: { IMPORT_FILE: file } });

    const { code, err } = await flagstaff(['export', '-d', second.folder, '--to', again]);
    assert.equal(code, 0, err);
    assert.deepEqual(exportWhole(second.server.store.engine.world), document);
    const same = await flagstaff(['export', '-d', second.folder]);
    assert.deepEqual(same.json, document);
  });
});
