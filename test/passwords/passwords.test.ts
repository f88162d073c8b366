/** Signing in by password, on a hash that takes no time; what a real one takes is in the tests of the interface. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatPasswordHash, parsePasswordHash } from '../../src/domain/access/password-hash.ts';
import { passwordIssues } from '../../src/domain/access/password-rules.ts';
import { isRefusal } from '../../src/domain/state/refusal.ts';
import { emptyWorld } from '../../src/domain/state/world.ts';
import { AttemptLimits } from '../../src/passwords/attempt-limits.ts';
import { FROM_ADDRESS, OF_USER, Passwords, USER_FROM_ADDRESS } from '../../src/passwords/passwords.ts';
import { NEW_WAITING_MAX, SCRYPT_COST, ScryptQueue, WAITING_MAX } from '../../src/passwords/scrypt-queue.ts';

/** What a real server hashes with. */
const REAL = new ScryptQueue();
const CHEAP = { ln: 1, r: 1, p: 1 };
const GOOD = 'Correct-horse-7';
const CREATED_AT = '2026-01-01T00:00:00.000Z';

async function setUp() {
  const world = emptyWorld();
  const queue = new ScryptQueue(CHEAP);
  const attempts: [userId: number, succeeded: boolean][] = [];
  const clock = { ms: 0 };
  const passwords = new Passwords({
    world,
    queue,
    monotonicMs: () => clock.ms,
    onAttempt: (...attempt) => attempts.push(attempt),
  });
  const add = async (id: number, username: string, email: string, password: string | null) => {
    const user = { id, name: null, username, email, rootRole: 3, createdAt: CREATED_AT };
    world.directory.users.set(id, user);
    if (password === null) return;
    const hash = await queue.hash(password);
    assert(!isRefusal(hash), 'nobody waits');
    world.directory.passwords.set(id, { userId: id, hash, changedAt: CREATED_AT });
  };
  await add(1, 'ada', 'ada@example.com', GOOD);
  await add(2, 'bob', 'bob@example.com', null);
  const signIn = (name: string, password: string, address = '192.0.2.1') =>
    passwords.signIn({ name, password, address });
  const outcome = async (...sent: Parameters<typeof signIn>): Promise<string | number> => {
    const found = await signIn(...sent);
    return isRefusal(found) ? found.name : found.id;
  };
  return { world, passwords, signIn, outcome, attempts, clock };
}

describe('signing in with a password', () => {
  it('takes a username or an email in any case, and the password in any way that its letters can be written', async () => {
    const { world, passwords, outcome, attempts } = await setUp();
    for (const name of ['ada', 'ADA', 'Ada@Example.com']) assert.equal(await outcome(name, GOOD), 1);
    assert.deepEqual(attempts.at(-1), [1, true]);
    const composed = await passwords.hash('Zw\u00f6lf-Apfel-7');
    assert(typeof composed === 'string');
    world.directory.passwords.set(2, { userId: 2, hash: composed, changedAt: CREATED_AT });
    assert.equal(await outcome('bob', 'Zwo\u0308lf-Apfel-7'), 2);
  });

  it('tells nobody what was wrong: the password, the user, or that the user has no password', async () => {
    const { signIn, attempts } = await setUp();
    const refusals = [
      await signIn('ada', 'wrong'),
      await signIn('nobody', GOOD),
      await signIn('bob', ''),
      await signIn('ada', GOOD.repeat(100)),
      await signIn('__proto__', GOOD),
    ];
    for (const refusal of refusals) assert.deepEqual(refusal, refusals[0]);
    assert.deepEqual(
      attempts,
      [
        [1, false],
        [2, false],
        [1, false],
      ],
      'what is counted is about users who exist',
    );
  });

  it('fails when the password changes while it is checked', async () => {
    const { world, passwords, outcome } = await setUp();
    const pending = outcome('ada', GOOD);
    const other = await passwords.hash('Another-horse-8');
    assert(typeof other === 'string');
    world.directory.passwords.set(1, { userId: 1, hash: other, changedAt: CREATED_AT });
    const slow = outcome('ada', 'Another-horse-8');
    world.directory.users.delete(1);
    assert.deepEqual([await pending, await slow], [1, 'AuthenticationRequired']);
  });

  it('bounds wrong passwords by user and address, and forgets them with time; good ones count nothing', async () => {
    const { outcome, clock } = await setUp();
    for (let i = 0; i < 3 * USER_FROM_ADDRESS.burst; i += 1) assert.equal(await outcome('ada', GOOD), 1);
    for (let i = 0; i < USER_FROM_ADDRESS.burst; i += 1) {
      assert.equal(await outcome('ada', 'wrong'), 'AuthenticationRequired');
    }
    assert.equal(await outcome('ADA@example.com', GOOD), 'TooManyRequestsError', 'not even the good one');
    assert.equal(await outcome('ada', GOOD, '192.0.2.2'), 1, 'from elsewhere');
    clock.ms += USER_FROM_ADDRESS.refillMs;
    assert.equal(await outcome('ada', GOOD), 1);
  });

  it('bounds those of one address at all users, whose IPv6 network counts as one, and those at one user', async () => {
    const { outcome } = await setUp();
    for (let i = 0; i < FROM_ADDRESS.burst; i += 1) await outcome(`user ${i}`, 'wrong', `2001:db8:1:2::${i}`);
    assert.equal(await outcome('ada', GOOD, '2001:db8:1:2:3:4:5:6'), 'TooManyRequestsError');
    assert.equal(await outcome('ada', GOOD, '2001:db8:1:3::1'), 1);
    assert.equal(await outcome('ada', GOOD, '::ffff:192.0.2.7'), 1);
    for (let i = 0; i < OF_USER.burst; i += 1) await outcome('ada', 'wrong', `192.0.2.${i}`);
    assert.equal(await outcome('ada', GOOD, '198.51.100.1'), 'TooManyRequestsError');
  });

  it('hashes with 32 MiB, as a server does that is told nothing else', async () => {
    assert.deepEqual(SCRYPT_COST, { ln: 15, r: 8, p: 3 });
    const hash = parsePasswordHash(String(await REAL.hash(GOOD)));
    assert(hash !== null && (await REAL.matches(GOOD, hash)) === true);
    assert.equal(await REAL.matches('wrong', hash), false);
  });

  it('refuses more than can wait, which counts as no attempt', async () => {
    const { passwords, attempts } = await setUp();
    const sent = Array.from({ length: WAITING_MAX + 5 }, (_, i) =>
      passwords.signIn({ name: 'ada', password: GOOD, address: `192.0.2.${i}` }),
    );
    const names = (await Promise.all(sent)).map((one) => (isRefusal(one) ? one.name : 'in'));
    assert.equal(names.filter((name) => name === 'in').length, WAITING_MAX);
    assert.equal(names.filter((name) => name === 'ServiceUnavailableError').length, 5);
    assert.equal(attempts.length, WAITING_MAX);
  });

  it('lets people sign in, however many new passwords somebody sends', async () => {
    const { passwords, outcome } = await setUp();
    const sent = Array.from({ length: 2 * WAITING_MAX }, () => passwords.hash(GOOD));
    assert.equal(await outcome('ada', GOOD), 1);
    const refused = (await Promise.all(sent)).filter(isRefusal);
    assert.equal(refused.length, 2 * WAITING_MAX - NEW_WAITING_MAX);
    assert(!isRefusal(await passwords.hash(GOOD)), 'there is room again');
  });
});

describe('limits on attempts', () => {
  it('take a bounded number of entries, and forget the one that was used least recently', () => {
    const limits = new AttemptLimits(() => 0, 10);
    const limit = { burst: 1, refillMs: 1000 };
    const take = (under: string) => limits.take([{ limit, under }]);
    assert.deepEqual([take('kept'), take('kept')], [0, 1000]);
    for (let i = 0; i < 100; i += 1) {
      take(`other ${i}`.repeat(1000));
      assert.equal(take('kept'), 1000, 'what is used again is not forgotten');
    }
    assert.equal(limits.size, 10);
  });
});

describe('a password', () => {
  it('has ten characters of four kinds, or twenty, and no run of one character', () => {
    for (const good of [
      GOOD,
      'Größe-Über-7',
      'correct horse battery staple',
      '密'.concat('码x').repeat(10),
    ]) {
      assert.deepEqual(passwordIssues(good), [], good);
    }
    for (const [bad, pattern] of [
      ['Short-7', /at least 10 characters/],
      ['no-capital-7', /needs an uppercase letter\./],
      ['OnlyLetters', /needs a digit and a character of another kind/],
      ['Aaaaaa-aaa-7', /2 times in a row/],
      [`${GOOD.repeat(35)}`, /at most 512 bytes/],
    ] as const) {
      assert.match(passwordIssues(bad).join(' '), pattern);
      assert(!passwordIssues(bad).join(' ').includes(bad), 'what is said of it does not repeat it');
    }
  });

  it('is kept with its parameters, which are bounded, so that no import can stop the server', () => {
    const salt = Buffer.alloc(16, 1);
    const key = Buffer.alloc(32, 2);
    const text = formatPasswordHash({ cost: { ln: 15, r: 8, p: 3 }, salt, key });
    assert.deepEqual(parsePasswordHash(text), { cost: { ln: 15, r: 8, p: 3 }, salt, key });
    for (const cost of ['ln=20,r=8,p=1', 'ln=15,r=8,p=99', 'ln=0,r=8,p=1', 'ln=15,r=0,p=1']) {
      assert.equal(parsePasswordHash(text.replace('ln=15,r=8,p=3', cost)), null, cost);
    }
    for (const other of ['', 'password', text.slice(0, -30), `${text}\n`])
      assert.equal(parsePasswordHash(other), null);
  });
});
