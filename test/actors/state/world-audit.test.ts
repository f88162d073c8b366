/** Each way in which a state could be broken without anybody noticing is found by going through it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replaceFlag } from '../../../src/domain/state/records.ts';
import {
  type Draft,
  directoryIn,
  draftOf,
  type ProjectDraft,
  projectIn,
  type World,
} from '../../../src/domain/state/world.ts';
import { createFlag, openTestEngine } from '../../support/engine.ts';
import { auditWorld } from '../../support/world-audit.ts';

async function stateWithFlag(): Promise<{ readonly world: World; readonly lastId: number }> {
  const { store, execute } = await openTestEngine({ audit: auditWorld });
  await execute(createFlag('f'));
  return { world: draftOf(store.engine.world), lastId: store.engine.lastId };
}

const project = (draft: Draft): ProjectDraft => projectIn(draft, draft.projects.get('default')!);

const BREAKS: Record<string, { breakIt: (draft: Draft) => void; finds: RegExp }> = {
  'a flag that is newer than its project': {
    breakIt: (draft) => {
      const own = project(draft);
      own.revision -= 1;
      const before = own.flags.get('f')!;
      const { flag } = before;
      replaceFlag(draft, own, before, { flag, revision: own.revision + 1, growth: 0 });
    },
    finds: /flag f is newer than its project/,
  },
  'a project that is newer than the journal': {
    breakIt: (draft) => {
      project(draft).revision += 1;
    },
    finds: /project default is of event \d+, which is newer/,
  },
  'a directory that is newer than the journal': {
    breakIt: (draft) => {
      directoryIn(draft).revision += 1000;
    },
    finds: /the directory is of event/,
  },
  'a taken name that no flag has': {
    breakIt: (draft) => {
      draft.flagProjects = draft.flagProjects.with('ghost', 'default');
    },
    finds: /names of flags that are taken/,
  },
  'a flag whose name is free': {
    breakIt: (draft) => {
      draft.flagProjects = draft.flagProjects.without('f').with('other', 'default');
    },
    finds: /the project that holds flag f/,
  },
  'a member who is no user': {
    breakIt: (draft) => {
      const own = project(draft);
      own.members = own.members.with(999, 4);
    },
    finds: /member 999 of default is no user/,
  },
  'an id that would be given again': {
    breakIt: (draft) => {
      directoryIn(draft).lastUserId = 0;
    },
    finds: /user \d+ is newer than all/,
  },
  'flags that are not counted where they are enabled': {
    breakIt: (draft) => {
      const own = project(draft);
      Object.assign(own.flags, { activeCount: 2 });
    },
    finds: /flags of default that are not archived/,
  },
  'flags that are not counted where they are referred to': {
    breakIt: (draft) => {
      const { flag } = project(draft).flags.get('f')!;
      const strategies = [{ name: 'ghost', segments: [], constraints: [] }];
      const environments = [{ name: 'development', strategies }] as never;
      draft.references = draft.references.replaced(null, { ...flag, environments });
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
      const draft = draftOf(world);
      breakIt(draft);
      assert.throws(() => auditWorld(draft, lastId), { name: 'AssertionError', message: finds });
    });
  }
});
