/** Made-up commands about change requests among commands of every type, deletions of projects included: what always holds of the state that they leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyRequest } from '../../../src/addons/change-requests/apply-request.ts';
import {
  addChanges,
  addComment,
  discardChange,
  discardRequest,
  editChange,
  type ParsedChange,
  setReviewers,
  setState,
  setTitle,
  WANTED_STATES,
} from '../../../src/addons/change-requests/decisions.ts';
import {
  isOrphan,
  REQUEST,
  requestsIn,
  type StoredRequest,
} from '../../../src/addons/change-requests/kind.ts';
import { pendingChangeRequests } from '../../../src/addons/change-requests/pending.ts';
import { carryOutDue, scheduleRequest } from '../../../src/addons/change-requests/schedule.ts';
import { type Command, type OwnCommand, ownCommand } from '../../../src/domain/decide/decide.ts';
import { registerKinds } from '../../../src/domain/kinds/addon-kind.ts';
import { addonRecordsOf } from '../../../src/domain/state/addon-records.ts';
import type { World } from '../../../src/domain/state/world.ts';
import { checkOwnCommands } from '../../support/own-commands.ts';
import {
  anyStrategy,
  anyText,
  anyVariants,
  ENVIRONMENTS,
  FLAGS,
  pick,
  type ValueRandom,
} from '../../support/random-values.ts';

registerKinds([REQUEST]);

const own = <Sent extends object>(sent: Sent, decide: OwnCommand<Sent>['decide']): Command =>
  ownCommand({ sent, decide });

function anyChange(random: ValueRandom, world: World, project: string): ParsedChange {
  const flags = [...(world.projects.get(project)?.flags.values() ?? [])].map(({ flag }) => flag.name);
  const feature = pick(random, flags.length === 0 ? FLAGS : flags);
  const enabled = { enabled: random.chance(0.5), shouldActivateDisabledStrategies: random.chance(0.5) };
  return pick<ParsedChange>(random, [
    { feature, action: 'updateEnabled', payload: enabled },
    { feature, action: 'addStrategy', payload: anyStrategy(random) },
    { feature, action: 'patchVariant', payload: { variants: anyVariants(random) } },
    {
      feature,
      action: 'addDependency',
      payload: { feature: pick(random, FLAGS), enabled: true, variants: [] },
    },
    { feature, action: 'archiveFeature', payload: null },
    { feature: null, action: 'deleteSegment', payload: { id: 1 + random.below(3) } },
  ]);
}

function anyRequest(random: ValueRandom, world: World): Pick<StoredRequest, 'id' | 'project' | 'changes'> {
  const all = addonRecordsOf(world, REQUEST);
  return all.length === 0 ? { project: 'default', id: 1, changes: [] } : pick(random, all.slice(-5)).data;
}

/** Some seconds ahead: the clock of the state goes on by one for each event. */
function soon({ directory, projects, addonRecords }: World, seconds: number): string {
  const parts = [directory, ...projects.values(), ...addonRecords.values()];
  const lastId = Math.max(...parts.map(({ revision }) => revision));
  return new Date(Date.parse('2024-01-01T00:00:00Z') + (lastId + seconds) * 1_000).toISOString();
}

function choices(random: ValueRandom, world: World): Readonly<Record<string, Command>> {
  const { project, id, changes } = anyRequest(random, world);
  const named = { project, id };
  const place = {
    project: pick(random, [...world.projects.keys()]),
    environment: pick(random, ENVIRONMENTS),
  };
  const change = () => anyChange(random, world, place.project);
  const changeId = changes[0]?.id ?? 0;
  const all = addonRecordsOf(world, REQUEST).map(({ data }) => data);
  const due = all.find((one) => one.schedule?.status === 'pending' || isOrphan(world, one)) ?? named;
  const users = [...world.directory.users.keys()];
  const schedule = own({ ...named, scheduledAt: soon(world, 1 + random.below(8)) }, scheduleRequest);
  const review = own({ ...named, state: 'In review' as const }, setState);
  return {
    add: own({ ...place, changes: [change()], paths: ['/body'] }, addChanges),
    addMore: own({ ...place, changes: [change(), change()], paths: ['', ''] }, addChanges),
    edit: own({ ...named, changeId, parsed: anyChange(random, world, project) }, editChange),
    discardChange: own({ ...named, changeId }, discardChange),
    discard: own(named, discardRequest),
    title: own({ ...named, title: anyText(random).slice(0, 255) }, setTitle),
    reviewers: own({ ...named, reviewers: [pick(random, users)] }, setReviewers),
    comment: own({ ...named, text: anyText(random) }, addComment),
    review,
    reviewAgain: review,
    state: own({ ...named, state: pick(random, WANTED_STATES), comment: anyText(random) }, setState),
    schedule,
    scheduleAgain: schedule,
    apply: own(named, applyRequest),
    due: own(
      { project: due.project, id: due.id, failure: random.chance(0.3) ? 'A limit.' : null },
      carryOutDue,
    ),
  };
}

test('change requests count their memory, keep to their form, are found, and replay to the same state', () =>
  checkOwnCommands({
    numRuns: 150,
    timesMin: 5,
    choices,
    actor: (random, world) => {
      const userId = random.chance(0.6) ? 1 : pick(random, [...world.directory.users.keys()]);
      return { name: String(userId), userId };
    },
    after: ({ world }) => {
      for (const { data } of addonRecordsOf(world, REQUEST))
        assert.deepEqual(REQUEST.issuesOf({ data, secrets: {} }), []);
      const pending = [...requestsIn(world)].filter(
        ({ state }) => state === 'In review' || state === 'Scheduled',
      );
      for (const { project, environment, changes } of pending)
        for (const { feature } of changes.slice(0, 1)) {
          if (feature === null) continue;
          const found = pendingChangeRequests.ofFlag(world, project, feature, environment);
          const expected = pending.filter(
            (one) =>
              one.project === project &&
              one.environment === environment &&
              one.changes.some((change) => change.feature === feature) &&
              !isOrphan(world, one),
          );
          assert.deepEqual(
            found,
            expected.map(({ id }) => id),
          );
        }
    },
  }));
