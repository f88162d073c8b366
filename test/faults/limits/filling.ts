/** Parts of the fillings of at-limits.ts: requests that go on until the server refuses them, and flags with parts. */
import assert from 'node:assert/strict';
import { environmentPath, FEATURES } from '../../support/interface.ts';
import type { Call, ReceivedResponse } from '../../support/server.ts';

/** Statuses that refuse growth, or a request of a list that is too long to be answered. */
export const REFUSALS: ReadonlySet<number> = new Set([400, 409, 413, 507]);

/** Requests under way while the state is filled. */
export const FILLING_AT_ONCE = 8;

export const IS_VERBOSE = process.env.VERBOSE !== undefined;

/** Names in the paths of reads and deletions, by the part of the path. */
export type Names = Readonly<Record<string, string>>;

/** Things that a filling may need beside calls of the administrative interface. */
export interface Surroundings {
  /** Calls another surface, by its prefix. */
  below(prefix: string): Call;
  /** All that there is is read with the token of this user too. */
  readAs(token: string): void;
}

export interface Filling {
  readonly name: string;
  fill(call: Call, surroundings: Surroundings): Promise<void>;
  /** Names of the records it made, where the paths of `NAMES` do not lead to them. */
  readonly names?: Names;
  /** Changes to all of it. They can be refused, and must be answered. */
  readonly changes?: readonly Change[];
}

export type Change = readonly [method: string, path: string, body?: unknown];

export const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Makes one after the other until the server refuses it, or there are so many; how many it took. */
export async function untilRefused(
  most: number,
  make: (index: number) => Promise<ReceivedResponse>,
  atOnce = FILLING_AT_ONCE,
): Promise<number> {
  let [next, made] = [0, 0];
  let refusal = '';
  const work = async (): Promise<void> => {
    while (refusal === '' && next < most) {
      const index = next;
      next += 1;
      const { status, body } = await make(index);
      if (status < 300) made += 1;
      else {
        assert(REFUSALS.has(status), `${status} ${JSON.stringify(body)}`);
        assert(body.message.length > 20, 'a refusal says what is too much');
        refusal = body.message;
      }
    }
  };
  await Promise.all(many(atOnce, work));
  assert(made > 0, refusal);
  if (IS_VERBOSE) console.log(`  ${made}: ${refusal}`);
  return made;
}

export async function all(
  count: number,
  make: (index: number) => Promise<ReceivedResponse>,
  atOnce = FILLING_AT_ONCE,
): Promise<void> {
  assert.equal(await untilRefused(count, make, atOnce), count);
}

export const makeFlag = (call: Call, index: number, fields: object = {}): Promise<ReceivedResponse> =>
  call('POST', FEATURES, { name: `flag-${index}`, ...fields });

/** A flag, and then one strategy of it after the other. */
export async function withStrategies(
  call: Call,
  index: number,
  strategies: readonly object[],
): Promise<ReceivedResponse> {
  let response = await makeFlag(call, index);
  for (const strategy of strategies) {
    if (response.status >= 300) return response;
    const path = `${environmentPath(`flag-${index}`)}/strategies`;
    response = await call('POST', path, { name: 'default', ...strategy });
  }
  return response;
}

/** A filling of flags that all have these strategies. */
export const flagsOf = (name: string, strategies: readonly object[]): Filling => ({
  name,
  async fill(call) {
    await untilRefused(100_000, (index) => withStrategies(call, index, strategies));
  },
});

/** Environments until there are as many as there may be, all of the project `default`; their number. */
export async function allEnvironments(call: Call): Promise<number> {
  const made = await untilRefused(100, (index) =>
    call('POST', '/environments', { name: `environment-${index}`, type: 'development' }),
  );
  await all(made, (index) =>
    call('POST', '/projects/default/environments', { environment: `environment-${index}` }),
  );
  return made;
}

export const values = (count: number, length: number): string[] =>
  many(count, (index) => `${index}`.padStart(length, 'v'));

/** A user, and a token with which to act as one. */
export async function makeUser(
  call: Call,
  username: string,
  rootRole = 3,
): Promise<{ id: number; token: string }> {
  const { body: user } = await call('POST', '/user-admin', { username, rootRole });
  const token = { description: 'of the filling', expiresAt: NEVER };
  const { status, body } = await call('POST', `/user-admin/${user.id}/tokens`, token);
  assert.equal(status, 201, JSON.stringify(body));
  return { id: user.id, token: body.secret };
}

export const NEVER = '2999-01-01T00:00:00.000Z';
