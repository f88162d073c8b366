/** The verifier of the manual, which has no line of ours in it. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { headsPath } from '../../../src/addons/audit/heads-file.ts';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { forge, framesOf } from '../../support/forged-folder.ts';
import { copyOf, flagstaff, pastFolder, segmentsIn, verifyAlone } from '../../support/operator.ts';
import { ROOT_FOLDER, temporaryFolder } from '../../support/server.ts';
import { headsOf } from './audit-fixture.ts';

describe('the verifier of the manual', () => {
  let folder: string;
  let key: string;
  let head: string;

  before(async () => {
    ({ folder } = await pastFolder());
    key = (await flagstaff(['audit', 'key', '-d', folder])).out;
    head = join(temporaryFolder(), 'kept-head');
    writeFileSync(head, (await headsOf(realFileSystem, folder)).at(-1)!.note);
  });

  it('proves a history, with the heads of the folder, and with a kept one alone', async () => {
    const lines = readFileSync(join(ROOT_FOLDER, 'docs/verify-history.mjs'), 'utf8').split('\n').length;
    assert(lines <= 300, 'an auditor can read it');
    const { code, said } = await verifyAlone([folder, key]);
    assert.deepEqual([code, /^The events from 1 to \d+ are what was signed/.test(said)], [0, true]);
    const headless = copyOf(folder);
    rmSync(headsPath(headless));
    assert.equal((await verifyAlone([headless, key, head])).code, 0);
  });

  it('prints each frame as it was signed', async () => {
    const { said } = await verifyAlone(['--print', folder, key]);
    const printed = said
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const frames = await framesOf(folder);
    assert.deepEqual(
      printed.map(({ id, by }) => [id, by]),
      frames.map(({ id, by }) => [id, by]),
    );
  });

  it('finds a change, a beginning and an end that are cut off, each with the key and a head alone', async () => {
    const cut = copyOf(folder);
    rmSync(segmentsIn(cut)[0]!);
    const forgeries: Readonly<Record<string, string>> = {
      'a change': await forge(folder, (frames) =>
        frames.map((one, at) => (at === 12 ? { ...one, by: 'x' } : one)),
      ),
      'the beginning cut off': cut,
      'the end cut off': await forge(folder, (frames) => frames.slice(0, -2)),
    };
    for (const [name, forged] of Object.entries(forgeries)) {
      for (const hasHeads of [true, false]) {
        if (!hasHeads) rmSync(headsPath(forged));
        const { code, said } = await verifyAlone([forged, key, head]);
        assert.deepEqual([code, /^NOT PROVED: /.test(said)], [1, true], `${name}: ${said}`);
      }
    }
  });

  it('refuses wrong arguments and files that it cannot read, each in one line', async () => {
    const broken = join(temporaryFolder(), 'kept-head');
    writeFileSync(broken, '{\n"head":');
    const [absent, other] = [join(temporaryFolder(), 'absent'), join(temporaryFolder(), 'other')];
    writeFileSync(other, 'of whatever content');
    const empty = join(temporaryFolder(), 'empty');
    mkdirSync(join(empty, 'journal'), { recursive: true });
    const refused: Readonly<Record<string, readonly [readonly string[], RegExp]>> = {
      'no argument': [[], /^NOT CHECKED: usage: node verify-history.mjs/],
      'an argument too many': [[folder, key, head, key, key], /^NOT CHECKED: usage: node verify-history.mjs/],
      'no such folder': [[absent, key], /^NOT CHECKED: .*no such file.*absent/],
      'a folder without a journal': [[empty, key], /^NOT CHECKED: .*empty holds no journal/],
      'a key that is none': [[folder, 'flagstaff+8a61d99e'], /^NOT CHECKED: the key is not one/],
      'no such head': [[folder, key, absent], /^NOT CHECKED: .*no such file.*absent/],
      'a head in a folder': [[folder, key, folder], /^NOT CHECKED: .*directory/],
      'a head that is cut off': [[folder, key, broken], /^NOT CHECKED: .*JSON/],
      'a head that is none': [[folder, key, other], /^NOT CHECKED: .*other holds no signed head/],
    };
    for (const [name, [args, line]] of Object.entries(refused)) {
      const { code, said } = await verifyAlone(args);
      assert.equal(code, 64, `${name}: ${said}`);
      assert.match(said, line, name);
      assert.equal(said.trimEnd().split('\n').length, 1, `${name}: ${said}`);
    }
  });
});
