/** Tags of a new flag, and links of flags. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { FEATURES, invalidAt, makeFlag, recording, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('tags', (server) => {
  it('are given to a flag where it is created, each once, in one change, or the flag is not created', async () => {
    const { call } = server();
    const wide = { type: 'team', value: 'search' };
    const body = { name: 'born', tags: [wide, { value: 'blue', color: 'x' }, wide] };
    const { events } = await recording(server(), () => call('POST', FEATURES, body));
    const blue = { type: 'simple', value: 'blue' };
    assert.deepEqual(
      events.map(({ type, data }) => (type === 'feature-created' ? type : data)),
      ['feature-created', wide, blue],
    );
    const shown = [wide, blue].map((one) => ({ ...one, color: null }));
    assert.deepEqual((await call('GET', '/features/born/tags')).body.tags, shown);
    const wrong = { name: 'unborn', tags: [{ value: 'x' }] };
    await invalidAt(server(), '/body/tags/0/value', { method: 'POST', path: FEATURES, body: wrong });
    const many = Array.from({ length: 51 }, (_, at) => ({ value: `tag ${at}` }));
    const full = { method: 'POST', path: FEATURES, body: { name: 'unborn', tags: many } };
    await refused(server(), 400, 'ValidationError', full);
    assert.equal((await call('GET', `${FEATURES}/unborn`)).status, 404);
  });
});

describeInterface('links of a flag', (server) => {
  const LINK = `${FEATURES}/linked/link`;
  const links = async (flag = 'linked') => (await server().call('GET', `${FEATURES}/${flag}`)).body.links;

  it('are added, replaced and removed, and are metadata of the flag', async () => {
    const { call } = server();
    assert.deepEqual((await makeFlag(call, 'linked')).links, []);
    await call('POST', LINK, { url: 'https://tracker.example/1', title: 'The ticket' });
    await call('POST', LINK, { url: 'https://design.example/a?b#c' });
    const [ticket, design] = await links();
    assert.deepEqual([ticket.url, ticket.title], ['https://tracker.example/1', 'The ticket']);
    assert.deepEqual([design.url, design.title], ['https://design.example/a?b#c', null]);
    const changed = { url: 'https://tracker.example/2', title: null };
    assert.equal((await call('PUT', `${LINK}/${ticket.id}`, { url: changed.url })).status, 204);
    await server().restart();
    assert.deepEqual(await links(), [{ id: ticket.id, ...changed }, design]);
    const typed = 'design.example:8443/b';
    assert.equal((await call('PUT', `${LINK}/${design.id}`, { url: typed })).status, 204);
    assert.equal((await links())[1].url, `https://${typed}`, 'one without a scheme is reached by HTTPS');
    assert.equal((await call('DELETE', `${LINK}/${design.id}`)).status, 204);
    const remove = [{ op: 'remove', path: '/links/0' }];
    assert.deepEqual((await call('PATCH', `${FEATURES}/linked`, remove)).body.links, []);
    const junk = [{ op: 'add', path: '/links/-', value: { ...ticket, junk: 'x'.repeat(1000) } }];
    assert.deepEqual((await call('PATCH', `${FEATURES}/linked`, junk)).body.links, [ticket]);
    await call('POST', `${FEATURES}/linked/clone`, { name: 'unlinked' });
    assert.deepEqual(await links('unlinked'), []);
    await call('DELETE', `${FEATURES}/linked`);
    const { id } = ticket;
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path: `${LINK}/${id}` });
  });

  it('are bounded, and are nothing that a browser would run', async () => {
    const { call } = server();
    await makeFlag(call, 'bounded');
    const path = `${FEATURES}/bounded/link`;
    const misleading = [
      'https://good.example\\@evil.example',
      'https://good.example@evil.example',
      'https://a/\0',
      'https://a/\u202emoc',
    ];
    for (const url of misleading)
      await invalidAt(server(), '/body/url', { method: 'POST', path, body: { url } });
    assert.equal((await call('POST', path, { url: 'https://a.example/@user?to=b@c#@' })).status, 204);
    const tooLong = 'x'.repeat(2_000);
    for (const url of ['javascript:alert(1)', '', `https://a/${tooLong}`, tooLong, 'https://a b', '/a', 7])
      await invalidAt(server(), '/body/url', { method: 'POST', path, body: { url } });
    for (let count = 0; count < 20; count += 1) await call('POST', path, { url: 'http://a' });
    await refused(server(), 409, 'InvalidOperationError', {
      method: 'POST',
      path,
      body: { url: 'http://a' },
    });
    const none = { method: 'PUT', path: `${path}/none`, body: { url: 'http://a' } };
    await refused(server(), 404, 'NotFoundError', none);
    const twice = [1, 2].map(() => ({ id: 'same', url: 'http://a', title: null }));
    const update = { method: 'PUT', path: `${FEATURES}/bounded`, body: { links: twice } };
    await invalidAt(server(), '/body/links/1/id', update);
  });
});
