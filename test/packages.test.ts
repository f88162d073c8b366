/** The words of `npm ci` to somebody who installs this for the first time: none. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ROOT_FOLDER } from './support/server.ts';

interface LockedPackage {
  readonly engines?: { readonly node?: string };
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(ROOT_FOLDER, name), 'utf8')) as T;
}

const { packages } = readJson<{ packages: Record<string, LockedPackage> }>('package-lock.json');
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Whether one of the alternatives of an `engines` entry, such as `^18.17 || >=20`, lets Node 22 in. */
function admitsNode22(range: string): boolean {
  return range.split('||').some((part) => {
    const [, operator = '', major = ''] = /^\s*([<>=^~]*)\s*v?(\d+|\*)/.exec(part) ?? [];
    if (major === '*') return true;
    return operator.startsWith('>') ? Number(major) <= 22 : Number(major) === 22;
  });
}

it('every locked package takes Node 22, the oldest version that this project supports', () => {
  const refused = Object.entries(packages).filter(
    ([, { engines, optional }]) =>
      optional !== true && engines?.node !== undefined && !admitsNode22(engines.node),
  );
  assert.deepEqual(
    refused.map(([path, { engines }]) => `${nameOf(path)} ${engines?.node}`),
    [],
  );
});

it('uWebSockets.js has the binary for Node 22 that package-lock.json relies on', () => {
  const folder = join(ROOT_FOLDER, 'node_modules', 'uWebSockets.js', 'dist', 'bin');
  assert(readdirSync(folder).includes('uws_linux_x64_127.node'));
});

it('every package with an install script is decided about in allowScripts, and none of them runs', () => {
  const { allowScripts } = readJson<{ allowScripts: Record<string, boolean> }>('package.json');
  const withScripts = Object.entries(packages).filter(
    ([, { hasInstallScript }]) => hasInstallScript === true,
  );
  const names = new Set(withScripts.map(([path]) => nameOf(path)));
  assert.deepEqual(Object.keys(allowScripts), [...names].filter((name) => name !== 'fsevents').sort());
  assert(Object.values(allowScripts).every((isAllowed) => !isAllowed));
});

it('a release has a package for each platform that uWebSockets.js has binaries for, with those of no other', () => {
  const script = readFileSync(join(ROOT_FOLDER, '.ci', 'pack'), 'utf8');
  const packed = /^for platform in (.+); do$/m.exec(script)?.[1]?.split(' ');
  const binaries = readdirSync(join(ROOT_FOLDER, 'node_modules', 'uWebSockets.js', 'dist', 'bin'));
  const platforms = new Set(
    binaries.flatMap((name) => /^uws_(\w+?)_(\w+)_\d+\.node$/.exec(name)?.slice(1).join('-') ?? []),
  );
  // On 32 bits nothing is released but the package for any platform.
  platforms.delete('linux-arm');
  assert.deepEqual(packed, [...platforms].sort());
  assert.match(script, /! -name "uws_\$\{platform\/-\/_\}_127\.node"/, 'the binaries of others go');
});
