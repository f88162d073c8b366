/** Signing in by password, on a hash that takes no time; what a real one takes is in the tests of the interface. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AttemptLimits } from '../../../src/addons/people/attempt-limits.ts';
import {
  FROM_ADDRESS,
  LINKS_FROM_ADDRESS,
  OF_USER,
  Passwords,
  USER_FROM_ADDRESS,
} from '../../../src/addons/people/passwords.ts';
import {
  NEW_WAITING_MAX,
  SCRYPT_COST,
  ScryptQueue,
  WAITING_MAX,
} from '../../../src/addons/people/scrypt-queue.ts';
import { formatPasswordHash, parsePasswordHash } from '../../../src/domain/access/password-hash.ts';
import { passwordIssues } from '../../../src/domain/access/password-rules.ts';
import { networkOf } from '../../../src/domain/flags/address.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { directoryIn, draftOf, emptyWorld } from '../../../src/domain/state/world.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** The queue with which a real server hashes. */
const REAL = new ScryptQueue();
const CHEAP = { ln: 1, r: 1, p: 1 };
const GOOD = 'Correct-horse-7';
const STRANGER = { network: '192.0.2.1', isKnown: false, userId: null };
const SENDER = { address: '192.0.2.1', userId: null };
const CREATED_AT = '2026-01-01T00:00:00.000Z';

async function setUp() {
  const world = draftOf(emptyWorld());
  const directory = directoryIn(world);
  const queue = new ScryptQueue(CHEAP);
  const attempts: [userId: number, succeeded: boolean][] = [];
  const clock = { ms: 0 };
  const passwords = new Passwords(queue, () => clock.ms);
  const signInTried = (...attempt: (typeof attempts)[number]) => void attempts.push(attempt);
  const attempted = { state: { world }, usage: { signInTried } };
  const add = async (id: number, username: string, email: string, password: string | null) => {
    const user = { id, name: null, username, email, rootRole: 3, createdAt: CREATED_AT };
    directory.users = directory.users.with(id, user);
    if (password === null) return;
    const hash = await queue.hash(password, STRANGER);
    assert(!isRefusal(hash), 'nobody waits');
    directory.passwords = directory.passwords.with(id, { userId: id, hash, changedAt: CREATED_AT });
  };
  await add(1, 'ada', 'ada@example.com', GOOD);
  await add(2, 'bob', 'bob@example.com', null);
  const signIn = (name: string, password: string, address = '192.0.2.1') =>
    passwords.signIn(attempted, { name, password, address });
  const outcome = async (...sent: Parameters<typeof signIn>): Promise<string | number> => {
    const found = await signIn(...sent);
    return isRefusal(found) ? found.name : found.id;
  };
  return { directory, passwords, attempted, signIn, outcome, attempts, clock };
}

describe('signing in with a password', () => {
  it('takes a username or an email in any case, and the password in any way that its letters can be written', async () => {
    const { directory, passwords, outcome, attempts } = await setUp();
    for (const name of ['ada', 'ADA', 'Ada@Example.com']) assert.equal(await outcome(name, GOOD), 1);
    assert.deepEqual(attempts.at(-1), [1, true]);
    const composed = await passwords.hash('Zw\u00f6lf-Apfel-7', SENDER);
    assert(typeof composed === 'string');
    directory.passwords = directory.passwords.with(2, {
      ...{ userId: 2, hash: composed, changedAt: CREATED_AT },
    });
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
    const { directory, passwords, outcome } = await setUp();
    const pending = outcome('ada', GOOD);
    const other = await passwords.hash('Another-horse-8', SENDER);
    assert(typeof other === 'string');
    directory.passwords = directory.passwords.with(1, {
      ...{ userId: 1, hash: other, changedAt: CREATED_AT },
    });
    const slow = outcome('ada', 'Another-horse-8');
    directory.users = directory.users.without(1);
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

  it('tells who sends too many wrong ones from one address to wait, whose IPv6 network counts as one, and lets right ones in', async () => {
    const { outcome } = await setUp();
    for (let i = 0; i < FROM_ADDRESS.burst; i += 1) await outcome(`user ${i}`, 'wrong', `2001:db8:1:2::${i}`);
    assert.equal(await outcome('ada', 'wrong', '2001:db8:1:2:3:4:5:6'), 'TooManyRequestsError');
    assert.equal(await outcome('nobody', 'wrong', '2001:db8:1:2:3:4:5:6'), 'TooManyRequestsError');
    assert.equal(await outcome('ada', 'wrong', '2001:db8:1:3::1'), 'AuthenticationRequired');
    assert.equal(
      await outcome('ada', GOOD, '2001:db8:1:2:3:4:5:6'),
      1,
      'others from there used the address up',
    );
  });

  it('bounds those at one user from all addresses, but not where the user has signed in before', async () => {
    const { outcome } = await setUp();
    assert.equal(await outcome('ada', GOOD, '::ffff:192.0.2.7'), 1);
    for (let i = 0; i < OF_USER.burst; i += 1) await outcome('ada', 'wrong', `198.51.100.${i}`);
    assert.equal(await outcome('ada', GOOD, '203.0.113.1'), 'TooManyRequestsError');
    assert.equal(await outcome('ada', GOOD, '192.0.2.7'), 1);
    for (let i = 0; i < USER_FROM_ADDRESS.burst; i += 1) await outcome('ada', 'wrong', '192.0.2.7');
    assert.equal(await outcome('ada', GOOD, '192.0.2.7'), 'TooManyRequestsError');
  });

  it('counts links apart from passwords', async () => {
    const { passwords, outcome } = await setUp();
    const guess = () => passwords.refuseGuess('192.0.2.1');
    for (let i = 0; i < LINKS_FROM_ADDRESS.burst; i += 1) assert.equal(guess(), null);
    assert.match(guess()?.message ?? '', /Too many wrong links/);
    assert.equal(await outcome('ada', 'wrong'), 'AuthenticationRequired');
  });

  it('hashes with 32 MiB, as a server does that is told nothing else', async () => {
    assert.deepEqual(SCRYPT_COST, { ln: 15, r: 8, p: 3 });
    const hash = parsePasswordHash(String(await REAL.hash(GOOD, STRANGER)));
    assert(hash !== null && (await REAL.matches(GOOD, hash, STRANGER)) === true);
    assert.equal(await REAL.matches('wrong', hash, STRANGER), false);
  });

  it('refuses more than can wait, which counts as no attempt', async () => {
    const { passwords, attempted, attempts } = await setUp();
    const sent = Array.from({ length: WAITING_MAX + 6 }, (_, i) =>
      passwords.signIn(attempted, { name: 'ada', password: GOOD, address: `192.0.2.${i}` }),
    );
    const names = (await Promise.all(sent)).map((one) => (isRefusal(one) ? one.name : 'in'));
    assert.equal(names.filter((name) => name === 'in').length, 1 + WAITING_MAX, 'one is being checked');
    assert.equal(names.filter((name) => name === 'ServiceUnavailableError').length, 5);
    assert.equal(attempts.length, 1 + WAITING_MAX);
  });

  it('lets those in at their turn who have signed in from their address, beside a thousand addresses that have not', async () => {
    const { outcome, passwords } = await setUp();
    const home = '192.0.2.1';
    assert.equal(await outcome('ada', GOOD, home), 1);
    let checked = 0;
    const guesses = Array.from({ length: 1_000 }, async (_, i) => {
      const name = await outcome(`user ${i}`, 'wrong', `10.0.${i >> 8}.${i & 255}`);
      if (name === 'AuthenticationRequired') checked += 1;
      return name;
    });
    const known = Array.from({ length: WAITING_MAX }, () => outcome('ada', GOOD, home));
    assert.deepEqual(await Promise.all(known.slice(0, 1)), [1]);
    assert(checked <= 1, 'behind the one that was being checked');
    assert(typeof (await passwords.hash(GOOD, { address: '10.0.0.1', userId: 2 })) === 'string');
    assert.deepEqual(new Set(await Promise.all(known)), new Set([1]));
    assert(checked <= known.length + 2, `${checked} guesses were checked meanwhile: one for each of theirs`);
    const refused = (await Promise.all(guesses)).filter((name) => name === 'ServiceUnavailableError');
    assert.equal(refused.length, 1_000 - 1 - WAITING_MAX);
  });

  it('gives each address its turn, and a place of an address that has many to one that has fewer', async () => {
    const { outcome } = await setUp();
    const order: string[] = [];
    const sent = async (name: string, address: string) => {
      const result = await outcome(name, GOOD, address);
      order.push(`${address} ${result === 1 ? 'in' : result}`);
    };
    const many = Array.from({ length: WAITING_MAX }, () => sent('ada', '192.0.2.66'));
    await Promise.all([...many, sent('ada', '192.0.2.7'), sent('ada', '192.0.2.8')]);
    const isIn = (one: string) => one.endsWith(' in');
    assert.equal(order.filter(isIn).length, 1 + WAITING_MAX);
    assert.equal(order.filter((one) => one === '192.0.2.66 ServiceUnavailableError').length, 1);
    const ofFew = order.filter(isIn).flatMap((one, index) => (one.startsWith('192.0.2.66') ? [] : [index]));
    assert(Math.max(...ofFew) <= 4, order.join(', '));
  });

  it('lets each in at his turn who has signed in through a proxy, beside a crowd that guesses through it', async () => {
    const { outcome, passwords } = await setUp();
    const proxy = '192.0.2.1';
    assert.equal(await outcome('ada', GOOD, proxy), 1);
    const checked: string[] = [];
    const noted = async (what: string, result: Promise<unknown>): Promise<void> => {
      if ((await result) !== 'ServiceUnavailableError') checked.push(what);
    };
    const guesses = Array.from({ length: 3 * WAITING_MAX }, (_, i) =>
      noted('guess', outcome(`user ${i}`, 'wrong', proxy)),
    );
    await Promise.all([
      ...guesses,
      noted('ada', outcome('ada', GOOD, proxy)),
      noted('guess at ada', outcome('ada', 'wrong', proxy)),
      noted('ada', outcome('ada', GOOD, proxy)),
      noted('password of bob', passwords.hash(GOOD, { address: proxy, userId: 2 })),
    ]);
    assert.deepEqual(checked, [
      // One was being checked, and one was next.
      ...['guess', 'guess'],
      ...['ada', 'password of bob', 'guess', 'guess at ada', 'guess', 'ada'],
      ...Array.from({ length: 3 }, () => 'guess'),
    ]);
  });

  it('lets people sign in, however many new passwords somebody sends', async () => {
    const { passwords, outcome } = await setUp();
    const sent = Array.from({ length: 2 * WAITING_MAX }, () => passwords.hash(GOOD, SENDER));
    assert.equal(await outcome('ada', GOOD), 1);
    const refused = (await Promise.all(sent)).filter(isRefusal);
    assert.equal(refused.length, 2 * WAITING_MAX - NEW_WAITING_MAX);
    assert(!isRefusal(await passwords.hash(GOOD, SENDER)), 'there is room again');
  });
});

const SEED = Number(process.env.SEED ?? 64);
const written = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':');
/** Leaves out the first zeros, as many as follow each other. */
const compressed = (groups: readonly number[]): string => written(groups).replace(/(^|:)0(?::0)+(:|$)/, '::');

describe('an address', () => {
  it('counts with all of its IPv6 network, however it is written, and as itself in IPv4', () => {
    for (const [network, addresses] of [
      ['192.0.2.1', ['192.0.2.1', '::ffff:192.0.2.1', '0000:0000:0000:0000:0000:ffff:c000:0201']],
      ['192.0.2.1', ['::ffff:192.0.2.1%eth0', '::FFFF:C000:201', '64:ff9b::192.0.2.1', '64:ff9b::c000:201']],
      ['64:ff9b:0:1::/64', ['64:ff9b:0:1::192.0.2.1', '64:ff9b:0:1::1']],
      ['fe80::/64', ['fe80::1', 'fe80::2%eth0', 'fe80::3:4%2']],
      ['2001:0:0:1::/64', ['2001::1:0:0:0:1', '2001:0:0:1::', '2001:0:0:1::192.0.2.1']],
      ['::/64', ['::1', '::', '::192.0.2.1']],
      ['2001:db8::/64', ['2001:db8::1', '2001:db8:0:0:1::1', '2001:db8:0:0:0:1:2:3', '2001:0DB8:0:0:f::']],
      ['2001:db8:1:2::/64', ['2001:db8:1:2::', '2001:db8:1:2:3::4', '2001:db8:1:2:3:4:5:6']],
      ['1::/64', ['1::8', '1:0:0:0:5:6:7:8']],
      ['1:2:3:4::/64', ['1:2:3:4:5:6:7:8', '1:2:3:4::']],
      ['', ['']],
    ] as const) {
      for (const address of addresses) assert.equal(networkOf(address), network, address);
    }
    assert.notEqual(networkOf('1:2:3:4::1'), networkOf('1:2:3:5::1'));
  });

  it(`counts with those alone that share its first 64 bits, in each spelling (seed ${SEED})`, () => {
    const random = seededRandom(SEED);
    const groupsOf = (): number[] =>
      Array.from({ length: 8 }, () => (random.chance(0.5) ? 0 : random.below(0x1_0000)));
    for (let round = 0; round < 2_000; round += 1) {
      const one = groupsOf();
      // Beyond the addresses that hold one of IPv4.
      one[0] = 0x2001;
      const at = random.below(8);
      const other = one.with(at, one[at]! ^ (1 << random.below(16)));
      for (const spelling of [written(one), `${written(one)}%eth0`, compressed(one)])
        assert.equal(networkOf(spelling) === networkOf(compressed(other)), at > 3, `${spelling} ${other}`);
    }
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
