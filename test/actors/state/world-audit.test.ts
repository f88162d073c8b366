/** Each way in which a state could be broken without anybody noticing is found by going through it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditWorld } from '../../../src/actors/state/world-audit.ts';
import type { World } from '../../../src/domain/state/world.ts';
import { createFlag, openTestEngine } from '../../support/engine.ts';

async function stateWithFlag(): Promise<{ readonly world: World; readonly lastId: number }> {
  const { store, execute } = await openTestEngine({ audited: true });
  await execute(createFlag('f'));
  return { world: store.engine.world, lastId: store.engine.lastId };
}

const BREAKS: Record<string, { breakIt: (world: World) => void; finds: RegExp }> = {
  'a flag that is newer than its project': {
    breakIt: ({ projects }) => {
      const project = projects.get('default')!;
      project.revision -= 1;
      const record = project.flags.get('f')!;
      record.replace({ flag: record.flag, revision: project.revision + 1, growth: 0 });
    },
    finds: /flag f is newer than its project/,
  },
  'a project that is newer than the journal': {
    breakIt: ({ projects }) => {
      projects.get('default')!.revision += 1;
    },
    finds: /project default is of event \d+, which is newer/,
  },
  'a directory that is newer than the journal': {
    breakIt: ({ directory }) => {
      directory.revision += 1000;
    },
    finds: /the directory is of event/,
  },
  'a taken name that no flag has': {
    breakIt: ({ directory }) => directory.flagProjects.set('ghost', 'default'),
    finds: /names of flags that are taken/,
  },
  'a flag whose name is free': {
    breakIt: ({ directory }) => directory.flagProjects.delete('f'),
    finds: /the project that holds flag f/,
  },
  'a member who is no user': {
    breakIt: ({ projects }) => projects.get('default')!.members.set(999, 4),
    finds: /member 999 of default is no user/,
  },
  'an id that would be given again': {
    breakIt: ({ directory }) => {
      directory.lastUserId = 0;
    },
    finds: /user \d+ is newer than all/,
  },
  'flags that are not counted where they are enabled': {
    breakIt: ({ projects }) => {
      const { flags } = projects.get('default')!;
      const { flag } = flags.get('f')!;
      flags.counted(null, flag);
    },
    finds: /flags of default that are not archived/,
  },
  'flags that are not counted where they are referred to': {
    breakIt: ({ references, projects }) => {
      const { flag } = projects.get('default')!.flags.get('f')!;
      const strategies = [{ name: 'ghost', segments: [], constraints: [] }];
      references.replace(null, { ...flag, environments: [{ name: 'development', strategies }] as never });
    },
    finds: /what flags refer to/,
  },
};

describe('going through the state', () => {
  it('finds nothing wrong with one that events led to', async () => {
    const { world, lastId } = await stateWithFlag();
    auditWorld(world, lastId);
  });

  for (const [what, { breakIt, finds }] of Object.entries(BREAKS)) {
    it(`finds ${what}`, async () => {
      const { world, lastId } = await stateWithFlag();
      breakIt(world);
      assert.throws(() => auditWorld(world, lastId), { name: 'AssertionError', message: finds });
    });
  }
});
