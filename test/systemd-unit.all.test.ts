/** The unit for systemd: the server does its work under the filter of system calls that it ships with. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isTraceable } from './faults/failed-sync.ts';
import { ROOT_FOLDER } from './support/server.ts';

/** Searches of the log, a day of flags, and commands by the socket, on both engines. */
const WORK = [
  'test/http/interface/events.test.ts',
  'test/http/interface/flags.test.ts',
  'test/control/control-server.test.ts',
];

/** Sets of system calls that systemd names with an `@`, the sets in them included. */
function membersOf(set: string): string[] {
  const { stdout } = spawnSync('systemd-analyze', ['syscall-filter', set], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((name) => (name.startsWith('@') ? membersOf(name) : [name]));
}

/** The calls that the unit's filter allows: its lines add to what is allowed, or with `~` take from it, in their order. */
function allowedCalls(): Set<string> {
  const unit = readFileSync(join(ROOT_FOLDER, 'deploy/flagstaff.service'), 'utf8');
  const allowed = new Set<string>();
  for (const [, isDenied, names = ''] of unit.matchAll(/^SystemCallFilter=(~?)(.+)$/gm)) {
    for (const name of names.split(' ').flatMap((one) => (one.startsWith('@') ? membersOf(one) : [one]))) {
      if (isDenied === '~') allowed.delete(name);
      else allowed.add(name);
    }
  }
  return allowed;
}

function missing(): string | false {
  if (!isTraceable()) return 'strace cannot trace here';
  return membersOf('@system-service').length === 0 ? 'systemd-analyze is not here' : false;
}

describe('under the filter of system calls of the systemd unit', { skip: missing() }, () => {
  it('a search may lower its priority', () => {
    assert(allowedCalls().has('setpriority'));
  });

  it('the server starts, searches, changes flags, takes snapshots and stops, also where priorities are denied', () => {
    const allowed = allowedCalls();
    allowed.delete('setpriority');
    // strace does not know all the names that systemd has: `?` lets it ignore those.
    const others = `!${[...allowed].map((name) => `?${name}`).join(',')}`;
    const strace = ['-D', '-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', '-o', '/dev/null'];
    const inject = ['-e', `trace=${others}`, '-e', `inject=${others}:error=EPERM`];
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const run = [process.execPath, '--import', 'tsx', '--test', ...WORK];
    const { status, stdout } = spawnSync('strace', [...strace, ...inject, ...run], {
      cwd: ROOT_FOLDER,
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });
});
