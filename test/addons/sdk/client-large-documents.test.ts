/** More flags than one document may have, as older releases let them come about. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { INITIAL_METADATA } from '../../../src/domain/flags/metadata.ts';
import { SYSTEM } from '../../../src/domain/state/decision.ts';
import type { DomainEvent } from '../../../src/domain/state/events.ts';
import { addToken } from '../../support/applications.ts';
import { addProject } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const createdAt = '2024-01-01T00:00:00.000Z';

/** A flag of 4 MiB as kept, whose control characters take six bytes each where they are served. */
function largeFlag(name: string, project: string): DomainEvent {
  const description = '\u0001'.repeat(2 ** 20);
  const metadata = { ...INITIAL_METADATA, description };
  const data = { ...metadata, name, project, createdAt, lastSeenAt: null, variants: null, archived: false };
  return { type: 'feature-created', project, featureName: name, environment: null, data, preData: null };
}

describeInterface('more flags than a document may have', (server) => {
  it('get a 413 that says what can be done, and the other projects are read as ever', async () => {
    const { engine } = server().server.store;
    await addProject(server(), 'small');
    await server().call('POST', '/projects/small/features', { name: 'little' });
    for (let count = 0; count < 6; count += 1)
      await engine.record(SYSTEM, [largeFlag(`large-${count}`, 'default')]);
    const read = async (path: string, projects: string[]) => {
      const token = await addToken(server(), { type: 'client', environment: 'development', projects });
      return server().callBelow('/api/client')('GET', path, undefined, { token });
    };
    for (const path of ['/features', '/delta', '/streaming', '/features?namePrefix=large']) {
      const { status, body } = await read(path, ['default', 'small']);
      assert.equal(status, 413, path);
      assert.match(
        body.message,
        /would take 3\d\.\d MiB, their segments inlined; a document may take 32\.0 MiB/,
      );
      assert.match(body.message, /tokens for fewer projects\.$/);
    }
    assert.equal((await read('/features', ['small'])).status, 200);
    assert.equal((await read('/features?namePrefix=little', ['default', 'small'])).body.features.length, 1);
    assert.equal((await server().call('DELETE', '/projects/default/features/large-0')).status, 202);
    assert.equal((await read('/features', ['default', 'small'])).status, 200);
  });
});
