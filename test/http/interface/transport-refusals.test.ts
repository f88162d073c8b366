/** A request that the transport refuses before a route sees it gets a refusal that is worded as the surface words its errors. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeEngines, describeInterface } from '../../support/server.ts';

const TOO_LARGE = JSON.stringify({ context: { userId: 'x'.repeat(2 ** 20) } });

describeEngines('refusals of the transport', (server) => {
  it('have the shape of the interface', async () => {
    const { status, body } = await server().call('POST', '/projects/default/features', TOO_LARGE);
    assert.deepEqual([status, body.name], [413, 'PayloadTooLargeError']);
  });
});

describeInterface('the metrics', (server) => {
  it('count what the transport refuses with the requests that no route took', async () => {
    await server().call('POST', '/projects/default/features', TOO_LARGE);
    const page = await (await fetch(`${server().origin}/internal-backstage/prometheus`)).text();
    assert.match(page, /^flagstaff_http_requests_total\{method="",route="none",status="413"\} 1$/m);
  });
});

describeInterface('a path that names nothing', (server) => {
  const messageAt = async (path: string): Promise<string> => {
    const { status, body } = await server().call('GET', path);
    assert.equal(status, 404);
    return body.message;
  };

  it('is told the path that was meant, with another slash or a typing error', async () => {
    assert.match(await messageAt('/projects/'), /Did you mean "\/api\/admin\/projects"\?$/);
    assert.match(
      await messageAt('/projects/default//features'),
      /"\/api\/admin\/projects\/default\/features"/,
    );
    assert.match(await messageAt('/projekts'), /Did you mean "\/api\/admin\/projects"\?$/);
  });

  it('is told it where the path names something that it chose itself, too', async () => {
    for (const [given, meant] of [
      ['/projects/default/feature', '/projects/default/features'],
      [
        '/projects/default/features/x/enviroments/development',
        '/projects/default/features/x/environments/development',
      ],
      ['/project/default/features/x', '/projects/default/features/x'],
    ]) {
      assert.equal(
        await messageAt(given!),
        `There is nothing at the path /api/admin${given}. Did you mean "/api/admin${meant}"?`,
      );
    }
  });

  it('is told nothing where no path is near', async () => {
    assert.match(await messageAt('/entirely-unknown'), /entirely-unknown\.$/);
    assert.match(await messageAt(`/${'/'.repeat(5_000)}`), /…\.$/);
  });
});
