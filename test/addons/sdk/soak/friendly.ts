/**
 * A client that uses the server as it is meant to be used, and remembers what was acknowledged to it: the number of its last
 * change of a description, and the flags that it made. A refusal is told by 429, 503 or 507, and means that nothing was
 * changed. A request that a kill left without an answer may have been carried out, or not at all.
 */
import assert from 'node:assert/strict';
import { addStrategy, environmentPath, FEATURES, makeFlag } from '../../../support/interface.ts';
import type { SeededRandom } from '../../../support/seeded-random.ts';
import type { Call, ServerProcess } from '../../../support/server.ts';

const REFUSED: ReadonlySet<number> = new Set([429, 503, 507]);

/** So many flags are made at most: they come and go. */
const FLAGS_MAX = 20;

export class FriendlyClient {
  acknowledged = 0;
  refused = 0;
  readonly #flag: string;
  #number = 0;
  readonly #made = new Set<string>();
  /** The flag that was being made or archived when the server was killed. */
  #undecided: string | null = null;
  /** Whether a change of the description had no answer when the server was killed. */
  #isNextOpen = false;
  #madeCount = 0;
  #whenAcknowledged = (): void => undefined;

  constructor(index: number) {
    this.#flag = `friendly-${index}`;
  }

  async prepare(call: Call): Promise<void> {
    await makeFlag(call, this.#flag, { description: '0' });
    await addStrategy(call, this.#flag);
  }

  /** Resolves when the next change is acknowledged. */
  served(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenAcknowledged = resolve;
    });
  }

  #acknowledge(): void {
    this.acknowledged += 1;
    this.#whenAcknowledged();
  }

  /** One request; how long it took, in milliseconds. */
  async act(server: ServerProcess, clientToken: string, random: SeededRandom): Promise<number> {
    const begunAt = performance.now();
    await this.#request(server, clientToken, random.below(6));
    return performance.now() - begunAt;
  }

  async #request({ call, origin }: ServerProcess, clientToken: string, kind: number): Promise<void> {
    const path = `${FEATURES}/${this.#flag}`;
    if (kind === 0) return this.#describe(call);
    if (kind === 1) return this.#makeOrArchive(call);
    if (kind === 2) return this.#switch(call, this.#number % 2 === 0 ? 'on' : 'off');
    if (kind === 3) return void this.#judge((await call('GET', path)).status, 200);
    if (kind === 4) return void this.#judge((await call('GET', FEATURES)).status, 200);
    const response = await fetch(`${origin}/api/client/features`, {
      headers: { authorization: clientToken },
    });
    await response.arrayBuffer();
    this.#judge(response.status, 200);
  }

  /** True when it was acknowledged, false when it was refused. */
  #judge(status: number, expected: number): boolean {
    if (REFUSED.has(status)) {
      this.refused += 1;
      return false;
    }
    assert.equal(status, expected, 'a friendly request is answered or refused');
    return true;
  }

  async #describe(call: Call): Promise<void> {
    const next = this.#number + 1;
    this.#isNextOpen = true;
    const { status } = await call('PUT', `${FEATURES}/${this.#flag}`, { description: `${next}` });
    this.#isNextOpen = false;
    if (!this.#judge(status, 200)) return;
    this.#number = next;
    this.#acknowledge();
  }

  async #makeOrArchive(call: Call): Promise<void> {
    const oldest = this.#made.values().next().value;
    if (this.#made.size < FLAGS_MAX || oldest === undefined) return this.#make(call);
    this.#undecided = oldest;
    const { status } = await call('DELETE', `${FEATURES}/${oldest}`);
    this.#undecided = null;
    if (!this.#judge(status, 202)) return;
    this.#made.delete(oldest);
    this.#acknowledge();
  }

  async #make(call: Call): Promise<void> {
    this.#madeCount += 1;
    const name = `${this.#flag}-made-${this.#madeCount}`;
    this.#undecided = name;
    const { status } = await call('POST', FEATURES, { name });
    this.#undecided = null;
    if (!this.#judge(status, 201)) return;
    this.#made.add(name);
    this.#acknowledge();
  }

  async #switch(call: Call, to: 'on' | 'off'): Promise<void> {
    const { status } = await call('POST', `${environmentPath(this.#flag)}/${to}`);
    if (this.#judge(status, 200)) this.#acknowledge();
  }

  /** Against a server that has just been started again. */
  async check(call: Call): Promise<void> {
    const { status, body } = await call('GET', `${FEATURES}/${this.#flag}`);
    assert.equal(status, 200);
    const found = Number(body.description);
    const isCarriedOut = this.#isNextOpen && found === this.#number + 1;
    assert(isCarriedOut || found === this.#number, `${this.#flag}: ${found}, not ${this.#number}`);
    this.#number = found;
    this.#isNextOpen = false;
    await this.#settle(call);
    for (const name of this.#made) assert(await isThere(call, name), `${name} was made, and not archived`);
  }

  async #settle(call: Call): Promise<void> {
    const name = this.#undecided;
    this.#undecided = null;
    if (name === null) return;
    if (await isThere(call, name)) this.#made.add(name);
    else this.#made.delete(name);
  }
}

async function isThere(call: Call, flag: string): Promise<boolean> {
  const { status, body } = await call('GET', `${FEATURES}/${flag}`);
  return status === 200 && body.archived === false;
}
