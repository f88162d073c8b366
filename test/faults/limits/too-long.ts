/**
 * Lists and documents that are too long to be sent: their 413 says what to do, and comes before they are built. The memory of the process
 * tells: the kernel knows the most that it ever was.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { STATE_FORMAT_VERSION } from '../../../src/domain/desired/state-document.ts';
import { digestOf } from '../../../src/http/serving/access.ts';
import { caller, type ServerProcess, spawnServer, temporaryFolder } from '../../support/server.ts';
import { many } from './filling.ts';

const createdAt = '2024-01-01T00:00:00.000Z';

export const CLIENT_TOKEN = 'default:development.client-of-all';

/** Flags of each project, of some 60 KB each where they are served, and a sixth of that as they are kept. */
const FLAGS_EACH = 200;
const PROJECTS = many(5, (index) => `project-${index}`);

const USERS = many(900, (index) => index + 2);

const flagOf = (project: string, index: number): object => ({
  ...{ name: `${project}-flag-${index}`, type: 'release', description: '\u0001'.repeat(9_900) },
  ...{ stale: false, impressionData: false, links: [], tags: [], dependencies: [] },
  ...{ createdAt, archivedAt: null, lastSeenAt: null },
  environments: [],
});

const projectOf = (id: string, flags: readonly object[] = []): object => ({
  ...{ id, name: id, description: null, mode: 'open', defaultStickiness: 'default' },
  ...{ createdAt, updatedAt: createdAt, environments: ['development'], members: [], flags },
});

const tokenOf = (secret: string, tokenName: string, projects: readonly string[]): object => ({
  digest: digestOf(secret),
  ...{ tokenName, type: 'client', environment: 'development', projects, createdAt, expiresAt: null },
});

/** A state whose lists and documents are many times as long as may be sent. */
function longState(): object {
  const empty = many(100, (index) => projectOf(`empty-${index}-`.padEnd(100, 'e')));
  const namesOfEmpty = many(100, (index) => `empty-${index}-`.padEnd(100, 'e'));
  return {
    formatVersion: STATE_FORMAT_VERSION,
    environments: [
      { name: 'development', type: 'development', enabled: true, protected: false, sortOrder: 1 },
    ],
    users: [
      { id: 1, name: null, username: 'admin', email: null, rootRole: 'Admin', createdAt },
      ...USERS.map((id) => ({
        ...{ id, name: null, username: `${id}`.padEnd(200, 'u'), email: null, rootRole: 'Viewer', createdAt },
      })),
    ],
    groups: many(400, (index) => ({
      ...{ id: index + 1, name: `group ${index}`, description: null, rootRole: null, mappingsSSO: [] },
      ...{ createdAt, createdBy: 'admin', users: USERS },
    })),
    projects: [
      projectOf('default'),
      ...PROJECTS.map((id) =>
        projectOf(
          id,
          many(FLAGS_EACH, (index) => flagOf(id, index)),
        ),
      ),
      ...empty,
    ],
    credentials: {
      apiTokens: [
        tokenOf(CLIENT_TOKEN, 'all', PROJECTS),
        ...many(1_200, (index) => tokenOf(`secret-${index}`, `token ${index}`, namesOfEmpty)),
      ],
      personalTokens: [],
    },
  };
}

/** Bytes beyond what the process takes beforehand: the garbage of some lists, but none of those that would be built. */
const MORE_BYTES_MAX = 96 * 2 ** 20;

/** `paths` of a server with that state, each with the token that it is asked with; undefined: that of an Admin. */
export function describeTooLong(
  subject: string,
  paths: readonly (readonly [path: string, token?: string])[],
): void {
  describe(subject, { timeout: 300_000 }, () => defineTooLong(paths));
}

function defineTooLong(paths: Parameters<typeof describeTooLong>[1]): void {
  const folder = temporaryFolder();
  let server: ServerProcess;
  before(async () => {
    const file = join(folder, 'state.json');
    writeFileSync(file, JSON.stringify(longState()));
    server = await spawnServer(join(folder, 'data'), {
      NODE_OPTIONS: '--max-old-space-size=512 --max-semi-space-size=16',
      IMPORT_FILE: file,
    });
  });
  after(async () => {
    await server.kill();
  });

  const statusOf = (field: string): number => {
    const text = readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1]) * 1024;
  };

  for (const [path, token] of paths)
    it(`is refused before it takes memory, and says what to ask for: ${path}`, async () => {
      const options = token === undefined ? {} : { token };
      const before = statusOf('VmRSS');
      writeFileSync(`/proc/${server.child.pid}/clear_refs`, '5');
      const { status, body } = await caller(server.origin, '')('GET', path, undefined, options);
      assert.equal(status, 413, JSON.stringify(body).slice(0, 200));
      assert.match(body.message, /\?limit=\d+&offset=0|tokens for fewer projects/);
      const more = statusOf('VmHWM') - before;
      assert(more <= MORE_BYTES_MAX, `${Math.round(more / 2 ** 20)} MiB more`);
    });
}
