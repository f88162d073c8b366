/**
 * A thousand addresses guess passwords and links without pause, at a server that hashes as it does in production. Meanwhile people who
 * have signed in from their address before do so again, each from an address of his own, and get in each time.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Call, caller, spawnServer, temporaryFolder } from '../support/server.ts';

const ADDRESSES = 1_000;
/** Requests of the hostile addresses that are under way at once. */
const HOSTILE_AT_ONCE = 200;
/** A second hardly passes in which an address does not ask: clients on one machine could not do more beside the server. */
const HOSTILE_PAUSE_MS = 500;
const PEOPLE = 4;
const PAUSE_MS = 2_000;

export interface SignInCounts {
  readonly hostile: number;
  readonly hostileBusy: number;
  readonly signIns: number;
  readonly signInP99MsMost: number;
  readonly signInSlowestMs: number;
  /** Sign-ins of people whose address the server has not seen sign in. */
  readonly strangers: number;
  readonly strangersLetIn: number;
}

const passwordOf = (name: string): string => `A long passphrase of ${name}, 7`;

export async function besetSignIns(seconds: number): Promise<SignInCounts> {
  const folder = temporaryFolder();
  const server = await spawnServer(folder, { TRUSTED_PROXIES: '127.0.0.1' });
  const auth = caller(server.origin, '/auth');
  const people = Array.from({ length: PEOPLE }, (_, at) => ({
    name: `person-${at}`,
    address: `198.51.100.${at}`,
  }));
  try {
    for (const { name } of people) {
      const user = { username: name, rootRole: 3, password: passwordOf(name) };
      assert.equal((await server.call('POST', '/user-admin', user)).status, 201);
    }
    for (const one of people) assert.equal(await signIn(auth, one), 200, one.name);
    const end = performance.now() + seconds * 1000;
    const isOver = (): boolean => performance.now() >= end;
    const counts = { hostile: 0, hostileBusy: 0, strangers: 0, strangersLetIn: 0 };
    const took: number[] = [];
    await Promise.all([
      ...Array.from({ length: HOSTILE_AT_ONCE }, (_, at) => beset(auth, { first: at, isOver, counts })),
      ...people.map(async (one) => {
        while (!isOver()) {
          const begun = performance.now();
          assert.equal(await signIn(auth, one), 200, `${one.name} gets in`);
          took.push(performance.now() - begun);
          await delay(PAUSE_MS);
        }
      }),
      comeAnew(auth, { isOver, counts }),
    ]);
    took.sort((a, b) => a - b);
    return {
      ...counts,
      signIns: took.length,
      signInP99MsMost: Math.round(took[Math.floor(took.length * 0.99)] ?? 0),
      signInSlowestMs: Math.round(took.at(-1) ?? 0),
    };
  } finally {
    await server.terminate();
    rmSync(folder, { recursive: true });
  }
}

interface Person {
  readonly name: string;
  readonly address: string;
}

async function signIn(auth: Call, { name, address }: Person): Promise<number> {
  const body = { username: name, password: passwordOf(name) };
  const headers = { 'x-forwarded-for': address };
  return (await auth('POST', '/simple/login', body, { token: null, headers })).status;
}

interface Attack {
  readonly isOver: () => boolean;
  readonly counts: { hostile: number; hostileBusy: number; strangers: number; strangersLetIn: number };
}

/** Guesses as one of the addresses after the other: passwords of the people, of nobody, and links. */
async function beset(
  auth: Call,
  { first, isOver, counts }: Attack & { readonly first: number },
): Promise<void> {
  for (let at = first; !isOver(); at += HOSTILE_AT_ONCE) {
    const number = at % ADDRESSES;
    const options = {
      token: null,
      headers: { 'x-forwarded-for': `203.0.${113 + (number >> 8)}.${number & 255}` },
    };
    const guess = randomBytes(16).toString('base64url');
    const username = at % 3 === 0 ? 'nobody' : `person-${at % PEOPLE}`;
    const { status, body } =
      at % 5 === 0
        ? await auth('GET', `/reset/validate?token=${guess}`, undefined, options)
        : await auth('POST', '/simple/login', { username, password: guess }, options);
    assert([401, 403, 404, 410, 429, 503].includes(status), `${status} ${JSON.stringify(body)}`);
    counts.hostile += 1;
    if (status === 503) counts.hostileBusy += 1;
    await delay(HOSTILE_PAUSE_MS);
  }
}

/** Signs in from addresses that are new to the server, as the Admin's new colleague does. */
async function comeAnew(auth: Call, { isOver, counts }: Attack): Promise<void> {
  for (let at = 0; !isOver(); at += 1) {
    const status = await signIn(auth, { name: `person-${at % PEOPLE}`, address: `192.0.2.${at % 250}` });
    counts.strangers += 1;
    if (status === 200) counts.strangersLetIn += 1;
    await delay(1_000);
  }
}
