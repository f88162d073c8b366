/** Comments on flags (docs/specification/flags.md#comments). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import {
  addUser,
  archive,
  FEATURES,
  flagEvent,
  invalidAt,
  makeFlag,
  recording,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const VIEWER_ROLE_ID = 3;

describeInterface('comments on a flag', (server) => {
  const comment = (flag: string, body: object) => server().call('POST', `${FEATURES}/${flag}/comments`, body);

  it('are events with their text, whatever it is, and leave the flag and what applications get as it was', async () => {
    await makeRunningFlag(server().call, 'discussed');
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const etags = async () => [
      (await server().call('GET', `${FEATURES}/discussed`)).headers.get('etag'),
      (await server().callBelow('/api/client')('GET', '/features', undefined, { token })).headers.get('etag'),
    ];
    const before = await etags();
    const text = '<img src=x onerror=alert(1)>\n\u202e雨'.padEnd(1_000, 'x');
    const { response, events } = await recording(server(), () => comment('discussed', { text }));
    assert.equal(response.status, 200);
    assert.deepEqual(events, [flagEvent('feature-commented', 'discussed', { data: { text } })]);
    assert.deepEqual(await etags(), before);
    const search = '/search/events?type=IS:feature-commented&feature=IS:discussed';
    assert.equal((await server().call('GET', search)).body.events[0].data.text, text);
  });

  it('are refused without a text, with one that is too long, and of a flag that is not there', async () => {
    await makeFlag(server().call, 'quiet');
    const path = `${FEATURES}/quiet/comments`;
    for (const body of [{}, { text: '' }, { text: 'x'.repeat(1_001) }, { text: 5 }])
      await invalidAt(server(), '/body/text', { method: 'POST', path, body });
    assert.equal((await comment('none', { text: 'Hello' })).status, 404);
  });

  it('may be written about an archived flag, and once where a request is sent again', async () => {
    await makeFlag(server().call, 'gone');
    await archive(server().call, 'gone');
    const again = () =>
      server().call(
        'POST',
        `${FEATURES}/gone/comments`,
        { text: 'Nobody used it.' },
        {
          headers: { 'idempotency-key': 'once' },
        },
      );
    const { events } = await recording(server(), async () => {
      await again();
      return again();
    });
    assert.equal(events.length, 1);
  });

  it('are written by those who may change flags of the project alone', async () => {
    await makeFlag(server().call, 'looked-at');
    const { token } = await addUser(server(), VIEWER_ROLE_ID);
    const path = `${FEATURES}/looked-at/comments`;
    assert.equal((await server().call('POST', path, { text: 'Hello' }, { token })).status, 403);
  });
});
