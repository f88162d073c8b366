/**
 * The first reads after a start from a snapshot, whose flags are not decoded yet: between two turns of the event loop no more of them are
 * decoded than a step may. Nothing is timed: each step of work that is cut into turns is made a turn of its own.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { PackedFlags } from '../../../src/actors/state/packed-flags.ts';
import { setTurnMs } from '../../../src/actors/turn.ts';
import { PackedFlag } from '../../../src/domain/flags/packed-flag.ts';
import { DECODED_AT_ONCE } from '../../../src/domain/state/flag-record.ts';
import { FEATURES } from '../../support/interface.ts';
import { ADMIN_TOKEN, startTestServer, type TestServer } from '../../support/server.ts';
import { TestWorld } from '../../support/test-world.ts';

/** Some shelves, the last of which is not full. */
const FLAGS = 300;

const CLIENT_TOKEN = 'default:development.first-reads-client';
const FRONTEND_TOKEN = 'default:development.first-reads-frontend';

const READS: readonly (readonly [path: string, token: string])[] = [
  [`/api/admin${FEATURES}`, ADMIN_TOKEN],
  ['/api/admin/projects', ADMIN_TOKEN],
  ['/api/admin/projects/default', ADMIN_TOKEN],
  ['/api/admin/projects/default/overview', ADMIN_TOKEN],
  ['/api/admin/projects/default/status', ADMIN_TOKEN],
  ['/api/admin/projects/default/insights', ADMIN_TOKEN],
  ['/api/admin/environments', ADMIN_TOKEN],
  ['/api/admin/search/features?query=flag', ADMIN_TOKEN],
  [`/api/admin${FEATURES}/flag-1/parents`, ADMIN_TOKEN],
  ['/api/client/features', CLIENT_TOKEN],
  ['/api/client/delta', CLIENT_TOKEN],
  ['/api/client/streaming', CLIENT_TOKEN],
  ['/api/frontend', FRONTEND_TOKEN],
];

/** Counts the flags that are decoded between two turns of the event loop. */
class Decoded {
  readonly #getter = Object.getOwnPropertyDescriptor(PackedFlag.prototype, 'flag')!;
  #seen = new WeakSet<PackedFlag>();
  #inTurn = 0;
  all = 0;
  most = 0;
  #isOver = false;

  begin(): void {
    const note = (packed: PackedFlag): void => {
      if (this.#seen.has(packed)) return;
      this.#seen.add(packed);
      this.all += 1;
      this.#inTurn += 1;
      this.most = Math.max(this.most, this.#inTurn);
    };
    const { get } = this.#getter;
    Object.defineProperty(PackedFlag.prototype, 'flag', {
      ...this.#getter,
      get(this: PackedFlag) {
        note(this);
        return get!.call(this);
      },
    });
    const turn = (): void => {
      this.#inTurn = 0;
      if (!this.#isOver) setImmediate(turn);
    };
    setImmediate(turn);
  }

  restart(): void {
    this.all = 0;
    this.most = 0;
  }

  end(): void {
    this.#isOver = true;
    Object.defineProperty(PackedFlag.prototype, 'flag', this.#getter);
  }
}

describe('after a start from a snapshot', () => {
  const decoded = new Decoded();
  const { sweep } = PackedFlags.prototype;
  let server: TestServer;

  before(async () => {
    server = await startTestServer({
      env: { INIT_CLIENT_API_TOKENS: CLIENT_TOKEN, INIT_FRONTEND_API_TOKENS: FRONTEND_TOKEN },
    });
    const made = new TestWorld();
    const seeds = made.frames.length;
    for (let at = 0; at < FLAGS; at += 1)
      made.given({
        type: 'create-flag',
        project: 'default',
        name: `flag-${at}`,
        metadata: { type: 'experiment' },
      });
    await server.server.store.engine.record({ name: 'test', userId: -1 }, made.frames.slice(seeds).flat());
    decoded.begin();
    setTurnMs(0);
    // It decodes by time.
    PackedFlags.prototype.sweep = async () => undefined;
  });

  beforeEach(async () => {
    await server.restart();
    decoded.restart();
  });

  after(async () => {
    decoded.end();
    setTurnMs();
    PackedFlags.prototype.sweep = sweep;
    await server.stop();
  });

  for (const [path, token] of READS) {
    it(`GET ${path} decodes a few flags in a turn`, async () => {
      const given = new AbortController();
      const response = await fetch(`${server.origin}${path}`, {
        headers: { authorization: token },
        signal: given.signal,
      });
      assert.equal(response.status, 200);
      if (path.endsWith('streaming')) {
        await response.body!.getReader().read();
        given.abort();
      } else await response.arrayBuffer();
      assert(decoded.all > FLAGS / 2, `${decoded.all} flags were decoded`);
      assert(decoded.most <= DECODED_AT_ONCE, `${decoded.most} of them in one turn`);
    });
  }
});
