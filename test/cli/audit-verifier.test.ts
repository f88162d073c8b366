/** The verifier of the manual, as whoever mistypes its arguments meets it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { flagstaff, pastFolder } from '../support/operator.ts';
import { ROOT_FOLDER, temporaryFolder } from '../support/server.ts';

test('the verifier of the manual refuses wrong arguments and files that it cannot read, each in one line', async () => {
  const { folder } = await pastFolder();
  const { out: key } = await flagstaff(['audit', 'key', '-d', folder]);
  const script = join(ROOT_FOLDER, 'docs/verify-history.mjs');
  const history = join(temporaryFolder(), 'history.ndjson');
  const { out } = await flagstaff(['audit', 'export', '-d', folder]);
  writeFileSync(history, `${out}\n`);
  const broken = join(temporaryFolder(), 'kept-head');
  writeFileSync(broken, '{\n"head":');
  const [absent, other] = [join(temporaryFolder(), 'absent'), join(temporaryFolder(), 'other')];
  writeFileSync(other, 'of whatever content');
  const refused = {
    'no argument': [[], /^NOT CHECKED: usage: node verify-history.mjs/],
    'an argument too many': [[history, key, broken, broken], /^NOT CHECKED: usage: node verify-history.mjs/],
    'no such file': [[absent, key], /^NOT CHECKED: .*no such file.*absent/],
    'a folder': [[folder, key], /^NOT CHECKED: .*directory/],
    'a key that is none': [[history, 'flagstaff+8a61d99e'], /^NOT CHECKED: the key is not one/],
    'no such head': [[history, key, absent], /^NOT CHECKED: .*no such file.*absent/],
    'a head in a folder': [[history, key, folder], /^NOT CHECKED: .*directory/],
    'a head that is cut off': [[history, key, broken], /^NOT CHECKED: .*JSON/],
    'a head that is none': [[history, key, other], /^NOT CHECKED: .*other holds no signed head/],
  } as const;
  for (const [name, [args, line]] of Object.entries(refused)) {
    const ended = await promisify(execFile)(process.execPath, [script, ...args]).catch((error) => error);
    assert.equal(ended.code, 64, `${name}: ${ended.stderr}`);
    assert.match(ended.stderr, line, name);
    assert.equal(ended.stderr.trimEnd().split('\n').length, 1, `${name}: ${ended.stderr}`);
  }
});
