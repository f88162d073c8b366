/** Decisions about many flags are bounded by what they would change, and the refusal says how to go on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FLAG_ENVIRONMENTS_MAX } from '../../../src/domain/decide/archive-commands.ts';
import { FLAGS_DELETED_WITH_PROJECT_MAX } from '../../../src/domain/decide/project-commands.ts';
import { TAG_CHANGES_MAX } from '../../../src/domain/decide/tag-commands.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `flag-${at}`);

function withFlags(project: string, count: number): TestWorld {
  const state = new TestWorld();
  if (project !== 'default') state.given({ type: 'create-project', id: project, fields: { name: project } });
  for (const name of names(count)) state.given({ type: 'create-flag', project, name, metadata: {} });
  return state;
}

describe('changes of the tags of many flags', () => {
  const flags = names(100);
  const tags = names(TAG_CHANGES_MAX / 100).map((value) => ({ type: 'simple', value }));
  const one = { type: 'simple', value: 'one-more' };
  const change = { type: 'change-tags', project: 'default', flags, added: tags, removed: [] } as const;

  it('are carried out up to the limit', () => {
    const types = withFlags('default', 100).run(change);
    assert.equal(types.length, TAG_CHANGES_MAX);
  });

  it('are refused beyond it, whether tags are added or removed', () => {
    const state = withFlags('default', 100);
    for (const command of [
      { ...change, added: [...tags, one] },
      { ...change, removed: [one] },
    ]) {
      const decision = state.decide(command);
      assert(isRefusal(decision));
      assert.match(decision.message, /makes 1100 changes; at most 1000 .* Name fewer tags or fewer flags\.$/);
    }
  });
});

const STRATEGY = {
  ...DEFAULT_STRATEGY,
};

describe('many flags of many environments', () => {
  const state = withFlags('default', 126);
  const environments = names(40).map((name) => `environment-${name}`);
  const most = FLAG_ENVIRONMENTS_MAX / environments.length;
  for (const environment of environments) {
    state.given({ type: 'create-environment', name: environment, fields: { type: 'test' } });
    state.given({ type: 'add-project-environment', project: 'default', environment });
    for (const flag of names(126))
      state.given({ type: 'add-strategy', project: 'default', flag, environment, strategy: STRATEGY });
  }

  it('are archived, revived and deleted as far as they take no longer than a turn', () => {
    for (const type of ['archive-flags', 'revive-flags', 'archive-flags', 'delete-flags'] as const) {
      const decision = state.decide({ type, project: 'default', flags: names(most + 1) });
      assert(isRefusal(decision));
      assert.match(
        decision.message,
        /environments altogether; at most 5000 are changed at once\. Name fewer/,
      );
      assert.equal(state.run({ type, project: 'default', flags: names(most) }).length, most);
    }
  });
});

describe('a project with archived flags', () => {
  const archived = (count: number): TestWorld => {
    const state = withFlags('p', count);
    return state.given({ type: 'archive-flags', project: 'p', flags: names(count) });
  };

  it('is deleted with as many as one change deletes', () => {
    const types = archived(FLAGS_DELETED_WITH_PROJECT_MAX).run({ type: 'delete-project', project: 'p' });
    assert.equal(types.at(-1), 'project-deleted');
    assert.equal(types.length, FLAGS_DELETED_WITH_PROJECT_MAX + 1);
  });

  it('is not deleted with more of them', () => {
    const decision = archived(FLAGS_DELETED_WITH_PROJECT_MAX + 1).decide({
      type: 'delete-project',
      project: 'p',
    });
    assert(isRefusal(decision));
    assert.match(
      decision.message,
      /has 501 archived flags; at most 500 .* POST to .*\/projects\/p\/delete\.$/,
    );
  });
});
