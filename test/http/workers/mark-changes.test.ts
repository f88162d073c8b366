/** Marks rise with whatever a worker may keep: as a property of random commands, whose events are of all types. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { World } from '../../../src/domain/state/world.ts';
import { NEVER_SEEN } from '../../../src/domain/usage/last-seen.ts';
import { wholeFlag } from '../../../src/http/admin/views/render-flag.ts';
import { flagList, projectOverview } from '../../../src/http/admin/views/render-project.ts';
import { ClientDocument } from '../../../src/http/client-flags/client-document.ts';
import { type ClientQuery, queryOfScope } from '../../../src/http/client-flags/client-query.ts';
import { FlagBlocks } from '../../../src/http/client-flags/flag-blocks.ts';
import { Compressor } from '../../../src/http/coding/compressor.ts';
import type { TaggedResponse } from '../../../src/http/dispatch/json-response.ts';
import { ScopeEvaluator } from '../../../src/http/evaluation/scope-evaluator.ts';
import { bytesOf } from '../../../src/http/transport/response-body.ts';
import {
  ChangeMarks,
  SUBJECTS,
  subjectOfFlag,
  subjectOfProject,
} from '../../../src/http/workers/change-marks.ts';
import { markChanges } from '../../../src/http/workers/mark-changes.ts';
import { createFlag, openTestEngine, settle } from '../../support/engine.ts';
import { commands, withRealIds } from '../../support/every-command.ts';

const documentOf = (world: World, query: ClientQuery): ClientDocument => {
  const compressor = new Compressor();
  const blocks = new FlagBlocks();
  return new ClientDocument({
    world,
    query,
    blocks,
    compressor,
    later: () => undefined,
    onResized: () => undefined,
  });
};

/** Of lists, which show how old flags are. */
const NOW = Date.UTC(2027, 0);

const COMMANDS = 1_500;
const BATCH = 3;

/** What is shown, by what shows it: and which marks tell that it may have changed. */
interface Shown {
  readonly text: string;
  readonly subjects: readonly number[];
}

const SCOPES = ['development', 'production', 'staging'].map((environment) => ({
  projects: '*' as const,
  environment,
}));

const INPUT = {
  context: { userId: '7', properties: new Map() },
  contextLength: 1,
  nowMs: NOW,
  random: () => 0.5,
  hostName: null,
};

function shownIn(world: World, lastId: number): Map<string, Shown> {
  const shown = new Map<string, Shown>();
  for (const project of world.projects.values()) {
    const { id } = project.settings;
    const subjects = [SUBJECTS.lists, subjectOfProject(id)];
    // Of a copy: what is kept is found by the project, and is what is tested.
    const fresh = { ...project };
    const sources = { world, seen: NEVER_SEEN, favorites: null, owner: {}, now: NOW };
    for (const [what, show] of [
      ['list', flagList],
      ['overview', projectOverview],
    ] as const) {
      const made = show(sources, fresh);
      assert.ok(!(made instanceof Promise), 'a short list is made at once');
      const { etag, body } = made.response as TaggedResponse;
      shown.set(`${what} of ${id}`, { text: `${etag} ${Buffer.from(bytesOf(body))}`, subjects });
    }
    for (const record of project.flags.values()) {
      const { etag, body } = wholeFlag({ world, seen: NEVER_SEEN }, project, record);
      const { name } = record.flag;
      const subjects = [SUBJECTS.flags, subjectOfFlag(name)];
      shown.set(`flag ${project.settings.id}/${name}`, { text: `${etag} ${body}`, subjects });
    }
  }
  for (const scope of SCOPES) {
    // Made anew each time: what is kept is what is tested.
    const { builder } = documentOf(world, queryOfScope(scope, false)).next(lastId);
    while (!builder.advance());
    const subjects = [SUBJECTS.documents];
    shown.set(`document of ${scope.environment}`, { text: builder.made?.tag ?? '', subjects });
  }
  const { update } = new ScopeEvaluator(world, SCOPES[0]!).next(lastId);
  while (!update.advance());
  const outcomes = update.evaluator.evaluateAll(INPUT).map(({ toggle, reason }) => ({ toggle, reason }));
  shown.set('evaluations', { text: JSON.stringify(outcomes), subjects: [SUBJECTS.documents] });
  const { apiTokens, personalTokens, users, roles, groups } = world.directory;
  const access = [apiTokens, personalTokens, users, roles, groups].map((map) => [...map.values()]);
  const members = [...world.projects.values()].map((project) => [[...project.members], [...project.groups]]);
  shown.set('who may do what', { text: JSON.stringify([access, members]), subjects: [SUBJECTS.access] });
  return shown;
}

describe('change marks', () => {
  it(`rise with every change of what they stand for, over ${COMMANDS} random commands`, async (t) => {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`SEED=${seed}`);
    const { store, manual, submit } = await openTestEngine();
    const { engine } = store;
    const marks = new ChangeMarks();
    markChanges(marks, engine, { onSeen: () => undefined });
    const read = (subjects: readonly number[]): string => subjects.map((one) => marks.read(one)).join();
    const list = fc.sample(commands, { seed, numRuns: COMMANDS });
    const changes = { seen: 0, quiet: 0 };
    let before = shownIn(engine.world, engine.lastId);
    for (let at = 0; at < list.length; at += BATCH) {
      const marked = new Map([...before].map(([name, { subjects }]) => [name, read(subjects)]));
      for (const command of list.slice(at, at + BATCH)) {
        submit(withRealIds(engine.world, command));
        manual.nowMs += 1;
        manual.runTurns();
      }
      await engine.journal.flush();
      const after = shownIn(engine.world, engine.lastId);
      for (const [name, { text, subjects }] of before) {
        const isSame = after.get(name)?.text === text;
        const hasRisen = read(subjects) !== marked.get(name);
        assert.ok(
          isSame || hasRisen,
          `${name} changed without a mark, SEED=${seed}, before command ${at + BATCH}`,
        );
        if (!isSame) changes.seen += 1;
        else if (!hasRisen) changes.quiet += 1;
      }
      before = after;
    }
    assert.ok(
      changes.seen > 250 && changes.quiet > 250,
      `changes come and stay away: ${JSON.stringify(changes)}`,
    );
  });

  it('rise when a change is durable, and not before; and before anybody who made it hears of it', async () => {
    const { store, gate, manual, submit } = await openTestEngine();
    const marks = new ChangeMarks();
    markChanges(marks, store.engine, { onSeen: () => undefined });
    const subject = subjectOfFlag('a');
    const told: number[] = [];
    gate.close();
    submit(createFlag('a'), { done: () => told.push(marks.read(subject)) });
    manual.runTurns();
    await settle();
    assert.deepEqual([marks.read(subject), told], [0, []], 'the change is not on disk yet');
    gate.open();
    await settle();
    assert.deepEqual(told, [1]);
  });

  it('of one flag and its project rise with its times of use', async () => {
    const { store, manual, submit } = await openTestEngine();
    submit(createFlag('seen'));
    manual.runTurns();
    await store.engine.journal.flush();
    const marks = new ChangeMarks();
    let tell: (flag: string) => void = () => assert.fail('nobody listens');
    markChanges(marks, store.engine, { onSeen: (listener) => (tell = listener) });
    tell('seen');
    tell('deleted');
    const read = [subjectOfFlag('seen'), subjectOfFlag('other'), subjectOfProject('default')];
    assert.deepEqual(
      read.map((subject) => marks.read(subject)),
      [1, 0, 1],
    );
  });
});
