import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { registerNewProjects } from '../../../src/domain/decide/new-project.ts';
import { TestWorld } from '../../support/test-world.ts';

const create = (...names: readonly string[]): Command => ({
  ...{ type: 'create-project', id: 'new', fields: { name: 'New' } },
  protectedEnvironments: names.map((name) => ({ name })),
});

describe('a new project', () => {
  it('is refused with environments to protect where nothing protects any, and made where it names none', () => {
    registerNewProjects();
    assert.equal(new TestWorld().run(create('production')), 'ValidationError');
    assert.deepEqual(new TestWorld().run(create()), ['project-created']);
  });
});
