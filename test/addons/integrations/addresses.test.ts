import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DestinationError,
  destinationOf,
  hostIn,
  isPublicAddress,
  SYSTEM_NAMES,
} from '../../../src/addons/integrations/addresses.ts';
import { deliver } from '../../../src/addons/integrations/delivery.ts';
import { leadingTo, startReceiver } from './receiver.ts';

const { signal } = new AbortController();
const request = (url: string) => ({ method: 'POST', url, headers: {}, body: '{}' }) as const;

/** Hosts as a URL can spell a private address; PORT is that of a receiver on the loopback. */
const PRIVATE_HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0x7f.1', '017700000001'],
  ...['0177.0.0.1', '0177.0x0.0.01', '127.0.0.1.', '127.255.255.254', '0', '0.0.0.0', '0x0', '①②⑦.⓪.⓪.①'],
  ...['127。0。0。1', '%31%32%37.0.0.1', '10.0.0.1', '0xa000001', '10.1', '167772161', '012.0.0.1'],
  ...['172.16.0.1', '172.31.255.255', '192.168.0.1', '0xc0a80001', '192.168.1', '169.254.169.254'],
  ...['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '100.64.0.1', '100.127.255.255'],
  ...['192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
  ...['255.255.255.255', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::127.0.0.1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[::ffff:0:127.0.0.1]', '[::ffff:10.0.0.1]', '[::ffff:169.254.169.254]'],
  ...['[::ffff:8.8.8.8]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b::8.8.8.8]'],
  ...['[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[fe80::1]'],
  ...[
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    '[::1%lo]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fec0::1]',
    '[ff02::1]',
  ],
  ...['[100::1]', '[2001:db8::1]', '[5f00::1]', 'hooks.example.com@127.0.0.1', 'a:b@127.0.0.1'],
];

test('no spelling of a private address in a URL is connected to', async (t) => {
  const receivers = [await startReceiver(t), await startReceiver(t, undefined, '::1')];
  assert(PRIVATE_HOSTS.length >= 60);
  for (const { port } of receivers) {
    for (const host of PRIVATE_HOSTS) {
      const url = `http://${host}:${port}/`;
      const made = await deliver(request(url), 0, leadingTo([]));
      assert.equal(made.kind, 'failure', url);
    }
  }
  for (const receiver of receivers) assert.equal(receiver.connections(), 0);
});

test('no name that leads to a private address is connected to', async (t) => {
  const receiver = await startReceiver(t);
  const addresses = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1', '10.0.0.1'];
  for (const address of [...addresses, 'fe80::1%lo', '169.254.169.254', 'localhost', '']) {
    for (const name of ['hooks.example.com', 'localhost', 'localhost.', 'LOCALHOST', 'a.localhost']) {
      const made = await deliver(request(`http://${name}:${receiver.port}/`), 0, leadingTo([address]));
      assert.equal(made.kind, 'failure', `${name} at ${address}`);
    }
  }
  assert.equal(receiver.connections(), 0);
});

test('of a name with public and private addresses, only the public ones are used', async () => {
  const names = leadingTo(['10.0.0.1', '192.0.43.7', '::1', '2620:0:2d0:200::7']);
  const chosen = [];
  for (const attempt of [0, 1, 2])
    chosen.push((await destinationOf('https://example.com/', names, { attempt, signal })).address);
  assert.deepEqual(chosen, ['192.0.43.7', '2620:0:2d0:200::7', '192.0.43.7']);
});

test('a name that leads elsewhere after the check is resolved once, and the checked address gets the request', async (t) => {
  const hosts: (string | undefined)[] = [];
  const receiver = await startReceiver(t, (incoming, response) => {
    hosts.push(incoming.headers.host);
    response.end();
  });
  let lookups = 0;
  const made = await deliver(request(`http://rebinding.example:${receiver.port}/`), 0, {
    ...leadingTo([], ['rebinding.example']),
    resolveListed: async () => {
      lookups += 1;
      return [lookups === 1 ? '127.0.0.1' : '127.0.0.2'];
    },
  });
  assert.equal(made.kind, 'response');
  assert.equal(lookups, 1);
  assert.deepEqual(hosts, [`rebinding.example:${receiver.port}`]);
});

test('a private address that the operator lists is connected to, under the spelling that URLs give it', async (t) => {
  const receiver = await startReceiver(t);
  for (const host of ['127.0.0.1', '127.1', '0x7f000001', 'Internal.Example', 'internal.example.']) {
    const url = `http://${host}:${receiver.port}/`;
    const made = await deliver(request(url), 0, leadingTo(['127.0.0.1'], ['127.0.0.1', 'internal.example']));
    assert.equal(made.kind, 'response', host);
  }
});

test('URLs that are no web addresses, or hold credentials, are refused without a look-up', async () => {
  const never = { ...leadingTo([]), resolvePublic: () => assert.fail('resolved') };
  for (const url of [
    '',
    'example.com',
    'ftp://example.com/',
    'file:///etc/passwd',
    'https://a:b@example.com/',
  ])
    await assert.rejects(destinationOf(url, never, { attempt: 0, signal }), DestinationError, url);
});

test('public addresses are public', () => {
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::1'])
    assert(isPublicAddress(address), address);
});

test('a listed host is a name or an address, without scheme, port or path', () => {
  assert.equal(hostIn('Hooks.Internal.'), 'hooks.internal');
  assert.equal(hostIn('10.0.0.7'), '10.0.0.7');
  assert.equal(hostIn('FD00::0:7'), 'fd00::7');
  assert.equal(hostIn('[fd00::7]'), 'fd00::7');
  for (const text of ['', 'http://a', 'a:80', 'a/b', '*', '10.0.0.0/8', 'a@b', '0x7f.1'])
    assert.equal(hostIn(text), null, text);
});

test('a listed name may be one that only the hosts file has', async (t) => {
  const receiver = await startReceiver(t);
  const made = await deliver(request(`http://localhost:${receiver.port}/`), 0, {
    ...SYSTEM_NAMES,
    privateHosts: new Set(['localhost']),
    resolveListed: async (host) =>
      (await SYSTEM_NAMES.resolveListed(host, signal)).filter((address) => address.startsWith('127.')),
  });
  assert.equal(made.kind, 'response');
});
