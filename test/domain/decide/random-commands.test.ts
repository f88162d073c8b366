/** Whatever commands come, in whatever order: what always holds of the state that they leave. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { OWNER_ROLE_ID } from '../../../src/domain/access/roles.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { EVENT_TYPES } from '../../../src/domain/state/event-types.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import type { ProjectState, World } from '../../../src/domain/state/world.ts';
import { recountStateBytes } from '../../simulation/recounted-memory.ts';
import { exportState, planImport } from '../../support/documents/state-document.ts';
import { COMMAND_TYPES, commandRuns, commandsOn } from '../../support/random-commands.ts';
import { TestWorld } from '../../support/test-world.ts';

const SEED = Number(process.env.SEED ?? Math.trunc(Math.random() * 2 ** 31));
const RUNS = 100;

/** Holds for many runs of commands, each on a state of its own. */
const check = (holds: (state: TestWorld, commands: Generator<Command>) => void): void =>
  fc.assert(
    fc.property(commandRuns(20, 120), (run) => {
      const state = new TestWorld();
      holds(state, commandsOn(state, run));
    }),
    { seed: SEED, numRuns: RUNS },
  );

function runAll(state: TestWorld, commands: Generator<Command>): void {
  for (const command of commands) state.run(command);
}

function assertFlags(world: World, project: ProjectState): void {
  const { id, environments } = project.settings;
  for (const [name, { flag }] of project.flags) {
    assert.equal(flag.name, name);
    assert.equal(world.flagProjects.get(name), id, 'the directory knows where the flag is');
    if (flag.archivedAt !== null) assert.deepEqual([...flag.dependencies, ...flag.children], []);
    assert(flag.dependencies.length === 0 || flag.children.length === 0, 'dependencies go one level deep');
    for (const { feature } of flag.dependencies) {
      assert(project.flags.get(feature)?.flag.children.includes(name), 'the parent knows its child');
    }
    for (const child of flag.children) {
      const of = project.flags.get(child)?.flag.dependencies ?? [];
      assert(
        of.some((one) => one.feature === name),
        'the child knows its parent',
      );
    }
    for (const part of flag.environments) {
      assert(environments.includes(part.name), 'a flag has only environments of its project');
      assert(!part.enabled || part.strategies.length > 0, 'nothing is enabled without strategies');
    }
  }
}

function assertInvariants(world: World): void {
  const { directory, projects } = world;
  const environments = new Set(directory.environments.map((one) => one.name));
  assert.equal(environments.size, directory.environments.length);
  let flagCount = 0;
  for (const project of projects.values()) {
    flagCount += project.flags.size;
    assertFlags(world, project);
    assert(project.settings.environments.every((name) => environments.has(name)));
    for (const userId of project.members.keys()) assert(directory.users.has(userId), 'members exist');
  }
  assert.equal(world.flagProjects.size, flagCount, 'no name is taken by a flag that is gone');
  for (const { projects: ids, environment } of directory.apiTokens.values()) {
    assert(environments.has(environment) && ids.length > 0 && ids.every((id) => projects.has(id)));
  }
  for (const { userId } of directory.personalTokens.values()) assert(directory.users.has(userId));
  assert(projects.has('default'));
}

describe('after any commands', () => {
  it('the state is consistent, and a project that had an owner still has one', () => {
    check((state, commands) => {
      const owned = new Set<ProjectState>();
      for (const command of commands) {
        state.run(command);
        assertInvariants(state.world);
        for (const project of state.world.projects.values()) {
          const held = [...project.members.values(), ...project.groups.values()];
          const hasOwner = held.includes(OWNER_ROLE_ID);
          assert(hasOwner || !owned.has(project), 'an owner is always left');
          if (hasOwner) owned.add(project);
        }
      }
    });
  });

  it('deciding changed nothing, and a refusal says what is wrong in a sentence', () => {
    check((state, commands) => {
      for (const command of commands) {
        const before = stateHash(state.world);
        const decision = state.decide(command);
        assert.equal(stateHash(state.world), before);
        if (isRefusal(decision)) assert.match(decision.message, /^[A-Z].*[.!t=]/s);
        else state.record(decision);
      }
    });
  });

  it('the memory of the state is what counting it anew gives', () => {
    check((state, commands) => {
      for (const command of commands) {
        state.run(command);
        assert.equal(stateBytes(state.world), recountStateBytes(state.world), command.type);
      }
    });
  });

  it('the same command again records nothing, is refused, or names something new', () => {
    const repeatable = new Set<Command['type']>([
      'add-strategy',
      'change-link',
      'comment-on-flag',
      'create-user',
      'create-service-account',
      'create-personal-token',
      'create-api-token',
      'create-project',
      'patch-flag',
      'patch-strategy',
      'patch-variants',
      'own',
    ]);
    check((state, commands) => {
      for (const command of commands) {
        const first = state.run(command);
        if (repeatable.has(command.type) || typeof first === 'string') continue;
        const second = state.run(command);
        assert(typeof second === 'string' || second.length === 0, `${command.type} twice: ${second}`);
      }
    });
  });

  it('replaying the events as they come back from JSON gives the same state', () => {
    check((state, commands) => {
      runAll(state, commands);
      assert(state.frames.flat().every((event) => EVENT_TYPES.some((type) => type === event.type)));
      const replayed = new TestWorld([]);
      for (const frame of JSON.parse(JSON.stringify(state.frames))) replayed.record(frame);
      assert.equal(stateHash(replayed.world), stateHash(state.world));
    });
  });

  it('exporting the state and importing it gives a state with the same export', () => {
    check((state, commands) => {
      runAll(state, commands);
      const exported = exportState(state.world, { credentials: true });
      const plan = planImport(JSON.parse(JSON.stringify(exported)));
      assert(plan.ok, JSON.stringify(plan));
      const imported = new TestWorld(plan.events);
      assertInvariants(imported.world);
      assert.deepEqual(exportState(imported.world, { credentials: true }), exported);
    });
  });

  it('each type of command has been carried out, and most have been refused: the names are few enough to meet', () => {
    const [carriedOut, refused] = [new Set<string>(), new Set<string>()];
    for (const run of fc.sample(commandRuns(20, 120), { seed: 2, numRuns: 800 })) {
      const state = new TestWorld();
      for (const command of commandsOn(state, run)) {
        const outcome = state.run(command);
        if (typeof outcome === 'string') refused.add(command.type);
        else if (outcome.length > 0) carriedOut.add(command.type);
      }
    }
    // Flags get no older here, and maintenance is switched off only, where it is off.
    const idle = ['note-potentially-stale', 'set-maintenance'];
    assert.deepEqual(
      COMMAND_TYPES.filter((type) => !carriedOut.has(type)),
      idle,
    );
    const neverRefused = COMMAND_TYPES.filter((type) => !refused.has(type));
    assert(neverRefused.length < COMMAND_TYPES.length / 6, `never refused: ${neverRefused}`);
  });
});
