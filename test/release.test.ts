/** The refusals of a release: it is made of what is committed, once, and of a version that comes next. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { ROOT_FOLDER, temporaryFolder } from './support/server.ts';

const { version } = JSON.parse(readFileSync(join(ROOT_FOLDER, 'package.json'), 'utf8')) as {
  version: string;
};
const [major = 0, minor = 0] = version.split('.').map(Number);
const NEXT = `${major}.${minor + 1}.0`;

describe('a release', () => {
  const folder = temporaryFolder();
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
  const release = (wanted: string): string => {
    const { stdout, stderr } = spawnSync('bash', ['.ci/release', wanted, '--dry-run'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return stdout + stderr;
  };

  before(() => {
    mkdirSync(join(folder, '.ci'));
    for (const name of ['.ci/release', 'package.json']) cpSync(join(ROOT_FOLDER, name), join(folder, name));
    writeFileSync(
      join(folder, 'CHANGELOG.md'),
      '# Changelog\n\n## Unreleased\n\n### Add\n- One thing.\n\n## 0.1.0\n\n- Another.\n',
    );
    git('init', '--quiet');
    git('add', '-A');
    git('commit', '--quiet', '-m', 'Begin');
  });

  it('takes the next version of a clean tree with a section in the changelog', () => {
    assert.equal(release(NEXT), `v${NEXT} can be released: 1 entries in the changelog\n`);
  });

  it('names one version everywhere', () => {
    const chart = readFileSync(join(ROOT_FOLDER, 'deploy/helm/flagstaff/Chart.yaml'), 'utf8');
    assert.deepEqual(chart.match(/^(?:appV|v)ersion: .*$/gm), [
      `version: ${version}`,
      `appVersion: ${version}`,
    ]);
    const pages = ['README.md', 'docs/operating.md'].map((name) =>
      readFileSync(join(ROOT_FOLDER, name), 'utf8'),
    );
    const named = pages.join('').matchAll(/flagstaff[-:](\d+\.\d+\.\d+)/g);
    assert.deepEqual([...new Set([...named].map(([, one]) => one))], [version]);
  });

  it('refuses what is no later version, and a version that is tagged already', () => {
    for (const wrong of ['', 'next', 'v9.9.9']) assert.match(release(wrong), /name the version/);
    for (const wrong of [version, '0.0.9']) assert.match(release(wrong), /does not come after/);
    git('tag', `v${NEXT}`);
    assert.match(release(NEXT), /the tag v.* exists/);
    git('tag', '--delete', `v${NEXT}`);
  });

  it('refuses a tree with changes, and a changelog that says nothing', () => {
    appendFileSync(join(folder, 'CHANGELOG.md'), 'More.\n');
    assert.match(release(NEXT), /changes that are not committed/);
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- Another.\n');
    git('commit', '--quiet', '-a', '-m', 'Say nothing');
    assert.match(release(NEXT), /has nothing under "Unreleased"/);
  });
});
