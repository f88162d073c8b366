/**
 * The last act of each life, on a cluster that is well: one trouble alone, so that the time is known within which the nodes have to say
 * what they know, and another one has to lead.
 */
import assert from 'node:assert/strict';
import type { Outcome } from '../../../../src/actors/submission.ts';
import { LAG_MS_MAX } from '../../../../src/addons/replication/node-view.ts';
import { createFlag } from '../../../support/engine.ts';
import type { SeededRandom } from '../../../support/seeded-random.ts';
import { CLUSTER, type TestCluster, type TestNode } from '../test-cluster.ts';
import { setFull } from './leader-watch.ts';
import { Truth } from './truth.ts';

/** A leader that cannot go on says so, */
const SAYS_SO_MS_MAX = 3_000;
/** follows or ends, */
const GIVES_UP_MS_MAX = 6_000;
/** and another node leads: where it is asked to, and where nobody hears of the leader any more. */
const ASKED_MS_MAX = 5_000;
const LEADS_MS_MAX = 8_000;
/** A write under way is answered. */
const ANSWERED_MS_MAX = 6_000;
/** After this, whoever contradicts the log has noticed. */
const CONTRADICTION_MS_MAX = 15_000;
const STEP_MS = 100;

export interface Stage {
  readonly cluster: TestCluster;
  readonly random: SeededRandom;
  /** The last event of all. */
  readonly lastId: number;
  readonly leader: TestNode;
  readonly others: readonly TestNode[];
  /** Nodes at whose addresses nothing responds. */
  readonly unreached: Set<string>;
}

export interface FinalAct {
  readonly name: string;
  readonly nodesMin: number;
  run(stage: Stage): Promise<void>;
}

let flags = 0;

/** A change that nobody else makes; what it was told so far. */
function write({ cluster }: Stage, node: TestNode): { outcome: Outcome<unknown> | null } {
  const told: { outcome: Outcome<unknown> | null } = { outcome: null };
  flags += 1;
  cluster.send(node, createFlag(`final-${flags}`), {}, (outcome) => {
    told.outcome = outcome;
  });
  return told;
}

const isUnavailable = (outcome: Outcome<unknown> | null): boolean =>
  outcome?.kind === 'refusal' && outcome.refusal.name === 'ServiceUnavailableError';

/** Looks again and again; throws where `holds` is not true in time. */
async function within({ cluster }: Stage, msMax: number, what: string, holds: () => boolean): Promise<void> {
  for (let passed = 0; !holds(); passed += STEP_MS) {
    assert(passed < msMax, `within ${msMax} ms: ${what}`);
    await cluster.pass(STEP_MS);
  }
}

const anotherLeads = (stage: Stage, msMax: number): Promise<void> =>
  within(stage, msMax, 'another node leads', () => stage.others.some(({ isLeading }) => isLeading));

const says = (stage: Stage): Promise<void> =>
  within(
    stage,
    SAYS_SO_MS_MAX,
    `${stage.leader.name} says that it does not lead`,
    () => !stage.leader.isLeading,
  );

/** Time passes, and nodes that have ended are started. */
async function supervised({ cluster, random }: Stage, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    await cluster.pass(1_000);
    for (const node of cluster.nodes) if (!node.isRunning && random.chance(0.5)) node.begin();
  }
}

/** Asserts that each node that runs has what the log holds, and that one that knows better does not go on. */
function checkAgreement({ cluster, lastId }: Stage): void {
  const left = new Truth(cluster.log);
  if (left.lastId < lastId)
    assert.deepEqual(cluster.leaders, [], 'nobody leads without what every node has acknowledged');
  if (cluster.leaders.length === 0) return;
  for (const { name, store, place } of cluster.nodes.filter((node) => node.store !== null))
    if (store !== null) left.checkPlace(name, place);
}

/** A node that led and knows nothing new since does not pass for one that is ready. */
const isStale = ({ replica, isRunning }: TestNode): boolean =>
  !isRunning || replica === null || replica.view.lagMs > LAG_MS_MAX || replica.view.problem !== null;

export const FINAL_ACTS: readonly FinalAct[] = [
  {
    name: 'lostTails',
    nodesMin: 1,
    async run(stage) {
      const { log } = stage.cluster;
      log.loseTail(1 + stage.random.below(Math.min(3, log.last)));
      await supervised(stage, CONTRADICTION_MS_MAX);
      checkAgreement(stage);
    },
  },
  {
    name: 'lies',
    nodesMin: 1,
    async run(stage) {
      const { log } = stage.cluster;
      const { stops } = stage.leader;
      log.lies = 1 + stage.random.below(3);
      for (let count = log.lies; count >= 0; count -= 1) write(stage, stage.leader);
      await supervised(stage, CONTRADICTION_MS_MAX);
      checkAgreement(stage);
      assert(stops.length > 0, 'whoever was lied to has ended');
    },
  },
  {
    name: 'strangers',
    nodesMin: 1,
    async run(stage) {
      const { cluster, leader } = stage;
      const { lastId: previousId, chain: previousChain } = leader.place;
      const { epoch } = leader.replica!.view;
      cluster.log.makeAnew();
      cluster.log.begin(CLUSTER, 'd'.repeat(32), { previousId, previousChain, epoch: epoch + 1 });
      await supervised(stage, CONTRADICTION_MS_MAX);
      assert.deepEqual(cluster.leaders, [], 'nobody goes on with the history of a stranger');
    },
  },
  {
    name: 'lostLogs',
    nodesMin: 1,
    async run(stage) {
      const { cluster } = stage;
      cluster.log.lose();
      await cluster.pass(LEADS_MS_MAX);
      assert.deepEqual(cluster.leaders, [], 'nobody leads without a log');
      const serving = cluster.nodes.filter(({ store }) => store !== null);
      assert.equal(serving.length, cluster.nodes.length, 'nodes whose log is lost serve reads');
      for (const { name, replica } of serving)
        assert.match(replica!.view.warnings.join(), /republish/, `${name} says what to do`);
    },
  },
  {
    name: 'unreachedLeaders',
    nodesMin: 2,
    async run(stage) {
      stage.unreached.add(stage.leader.name);
      await anotherLeads(stage, LEADS_MS_MAX);
    },
  },
  {
    name: 'hungLeaders',
    nodesMin: 2,
    async run(stage) {
      stage.leader.hangDisk();
      write(stage, stage.leader);
      await says(stage);
      await anotherLeads(stage, ASKED_MS_MAX - SAYS_SO_MS_MAX);
    },
  },
  {
    name: 'hungSuccessors',
    nodesMin: 3,
    async run(stage) {
      const { cluster, leader, others, random } = stage;
      const hung = others[random.below(others.length)]!;
      hung.hangDisk();
      for (let passed = 0; passed < 4; passed += 1) {
        write(stage, leader);
        await cluster.pass(1_000);
      }
      const [successor] = others.filter((node) => node !== hung);
      leader.crash();
      await within(stage, LEADS_MS_MAX, 'a node leads whose disk responds', () => successor!.isLeading);
      assert.equal(new Truth(cluster.log).leader, successor!.name, 'a node whose disk hangs does not stand');
    },
  },
  {
    name: 'fullLeaders',
    nodesMin: 2,
    async run(stage) {
      setFull(stage.leader, true);
      // The first writes find out.
      for (let passed = 0; passed < 3; passed += 1) {
        write(stage, stage.leader);
        await stage.cluster.pass(1_000);
      }
      await anotherLeads(stage, ASKED_MS_MAX);
    },
  },
  {
    name: 'cutOffLeaders',
    nodesMin: 2,
    async run(stage) {
      const { leader, cluster } = stage;
      leader.link!.isCut = true;
      const isUnderWay = stage.random.chance(0.5);
      const told = isUnderWay ? write(stage, leader) : { outcome: null };
      await says(stage);
      const later = write(stage, leader);
      await cluster.pass(1);
      assert(isUnavailable(later.outcome), 'what cannot be decided is refused at once');
      await cluster.pass(GIVES_UP_MS_MAX - SAYS_SO_MS_MAX);
      assert.notEqual(leader.replica?.view.role, 'cutOff', `${leader.name} follows, or has ended`);
      assert.equal(leader.isRunning, !isUnderWay, 'it ends where a change is undecided');
      assert(isStale(leader), `${leader.name} is ready, and knows nothing of the others`);
      if (isUnderWay) assert(told.outcome === null || isUnavailable(told.outcome), 'nobody decides it');
      await anotherLeads(stage, LEADS_MS_MAX - GIVES_UP_MS_MAX);
    },
  },
  {
    name: 'cutOffFollowers',
    nodesMin: 2,
    async run(stage) {
      const [follower] = stage.others;
      follower!.link!.isCut = true;
      await stage.cluster.pass(GIVES_UP_MS_MAX);
      assert(isStale(follower!), `${follower!.name} is ready, and hears of nobody`);
    },
  },
  {
    name: 'zombies',
    nodesMin: 2,
    async run(stage) {
      const { leader, cluster } = stage;
      leader.freeze();
      await anotherLeads(stage, LEADS_MS_MAX);
      await cluster.pass(stage.random.below(LEADS_MS_MAX));
      leader.thaw();
      assert(!leader.isLeading, 'who stood still does not lead when it goes on');
      assert(leader.replica!.view.lagMs > SAYS_SO_MS_MAX - 500, 'and says how old its state is');
      const told = write(stage, leader);
      await cluster.pass(ANSWERED_MS_MAX);
      assert(told.outcome === null || told.outcome.kind !== 'fault', 'it is refused, or handed on');
      const isFollower = leader.replica?.view.role === 'following' && leader.replica.view.lagRecords === 0;
      assert(
        !leader.isRunning || isFollower,
        'who was deposed ends, or follows where all that it decided was',
      );
    },
  },
  {
    name: 'stillLogs',
    nodesMin: 1,
    async run(stage) {
      const { cluster, leader } = stage;
      cluster.log.pause();
      const told = write(stage, leader);
      await within(stage, ANSWERED_MS_MAX, 'a write under way is answered', () => told.outcome !== null);
      assert(isUnavailable(told.outcome), 'nobody knows what became of it');
      assert.match(JSON.stringify(told.outcome), /may have happened/);
      if (!leader.isRunning) return;
      const later = write(stage, leader);
      await cluster.pass(1);
      assert(isUnavailable(later.outcome), 'what cannot be decided is refused at once');
    },
  },
  {
    name: 'jumpedClocks',
    nodesMin: 1,
    async run(stage) {
      const { leader, cluster, others } = stage;
      leader.clockOffsetMs += 60_000;
      assert(!leader.isLeading, 'a leader whose clock has jumped decides nothing');
      if (others.length < 2) {
        await within(stage, LEADS_MS_MAX, 'it leads again', () => cluster.leaders.length === 1);
      } else await anotherLeads(stage, LEADS_MS_MAX);
    },
  },
  {
    name: 'deadLeaders',
    nodesMin: 2,
    async run(stage) {
      stage.leader.crash();
      await anotherLeads(stage, ASKED_MS_MAX - SAYS_SO_MS_MAX);
    },
  },
  {
    name: 'rollingUpgrades',
    nodesMin: 3,
    async run(stage) {
      const { cluster } = stage;
      const [leader, follower, other] = [stage.leader, ...stage.others] as [TestNode, TestNode, TestNode];
      const upgrade = async (node: TestNode): Promise<void> => {
        if (node.isRunning) node.crash();
        node.isOld = false;
        node.begin();
        await within(
          stage,
          LEADS_MS_MAX,
          `${node.name} follows`,
          () => node.replica?.view.role === 'following',
        );
      };
      await upgrade(follower);
      await cluster.pass(2_000);
      leader.crash();
      await within(stage, LEADS_MS_MAX, 'a node leads', () => cluster.leaders.length === 1);
      assert(other.isLeading, 'the newer one lets that lead which cannot read what it writes');
      // The older one that leads dies too: the newer one leads, and the one that is left of the old follows no further.
      leader.begin();
      await cluster.pass(2_000);
      await within(
        stage,
        LEADS_MS_MAX,
        `${leader.name} follows`,
        () => leader.replica?.view.role === 'following',
      );
      leader.link!.isCut = true;
      other.crash();
      await within(stage, 3 * LEADS_MS_MAX, 'the newer one leads', () => follower.isLeading);
      await cluster.pass(1);
      const told = write(stage, follower);
      await within(stage, ANSWERED_MS_MAX, 'it is answered', () => told.outcome?.kind === 'response');
      leader.link!.isCut = false;
      await within(stage, LEADS_MS_MAX, 'the old one says why it follows no further', () => {
        const { replica } = leader;
        return (
          replica !== null && replica.view.problem !== null && /newer version/.test(replica.view.problem)
        );
      });
      assert(leader.store !== null && leader.isRunning, 'and stays readable');
      for (const node of [leader, other]) await upgrade(node);
      await cluster.caughtUp();
      assert.deepEqual(leader.place, follower.place, 'upgraded, it has what the others have');
    },
  },
];
