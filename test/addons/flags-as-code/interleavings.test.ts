/** Files, their bases, pulls and direct changes in any order: an apply overwrites nothing that somebody else changed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { carryOut } from '../../../src/addons/flags-as-code/carry-out.ts';
import { planFiles } from '../../../src/addons/flags-as-code/plan.ts';
import { readFlagFile } from '../../../src/addons/flags-as-code/read-files.ts';
import { AdminClient } from '../../../src/host/admin-client.ts';
import { addUser } from '../../support/interface.ts';
import { runs } from '../../support/runs.ts';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts';
import { ADMIN_TOKEN, serverFor, type TestServer } from '../../support/server.ts';

const FLAGS = ['a', 'b'] as const;
const FIELDS = ['description', 'enabled', 'strategies'] as const;
type Field = (typeof FIELDS)[number];
/** By field, then flag. */
type Values = Map<string, unknown>;

const VALUES: Readonly<Record<Field, readonly unknown[]>> = {
  description: ['one', 'two', 'three'],
  enabled: [true, false],
  strategies: ['10', '20', '30'],
};
const PLACES = FLAGS.flatMap((flag) => FIELDS.map((field) => ({ flag, field, key: `${flag} ${field}` })));

interface Holder {
  readonly name: string;
  readonly client: AdminClient;
  readonly managed: readonly Field[];
  base: number;
  wanted: Values;
}

/** The last change of each part: by the apply of a holder, or by a person. */
type Last = Map<string, { readonly id: number; readonly by: string }>;

const pick = <T>(random: SeededRandom, from: readonly T[]): T => from[random.below(from.length)] as T;

const rollout = (value: unknown) => ({ name: 'flexibleRollout', parameters: { rollout: value } });

class Run {
  readonly #server: TestServer;
  readonly #project: string;
  readonly now: Values = new Map();
  readonly last: Last = new Map();

  constructor(server: TestServer, project: string) {
    this.#server = server;
    this.#project = project;
  }

  get #lastId(): number {
    return this.#server.server.store.engine.lastId;
  }

  async #done(method: string, path: string, body?: unknown) {
    const response = await this.#server.call(method, path, body);
    assert(response.status < 300, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }

  #path(flag: string): string {
    return `/projects/${this.#project}/features/${this.#project}-${flag}`;
  }

  async begin(): Promise<number> {
    await this.#done('POST', '/projects', { id: this.#project, name: this.#project });
    for (const flag of FLAGS) {
      const body = { name: `${this.#project}-${flag}`, description: 'one' };
      await this.#done('POST', `/projects/${this.#project}/features`, body);
      await this.#done('POST', `${this.#path(flag)}/environments/development/strategies`, rollout('10'));
    }
    for (const { key, field } of PLACES) {
      this.now.set(key, field === 'enabled' ? false : VALUES[field][0]);
      this.last.set(key, { id: this.#lastId, by: 'person' });
    }
    return this.#lastId;
  }

  async changeDirectly(random: SeededRandom): Promise<void> {
    const { flag, field, key } = pick(random, PLACES);
    const value = pick(random, VALUES[field]);
    if (this.now.get(key) === value) return;
    const path = this.#path(flag);
    const here = `${path}/environments/development`;
    if (field === 'description')
      await this.#done('PATCH', path, [{ op: 'replace', path: '/description', value }]);
    else if (field === 'enabled') await this.#done('POST', `${here}/${value === true ? 'on' : 'off'}`);
    else {
      const [strategy] = await this.#done('GET', `${here}/strategies`);
      await this.#done('PUT', `${here}/strategies/${strategy.id}`, rollout(value));
    }
    this.now.set(key, value);
    this.last.set(key, { id: this.#lastId, by: 'person' });
  }

  pull(holder: Holder): void {
    holder.base = this.#lastId;
    holder.wanted = new Map([...holder.wanted.keys()].map((key) => [key, this.now.get(key)]));
  }

  #fileOf({ base, managed, wanted }: Holder) {
    const flags = FLAGS.map((flag) => {
      const part = (field: Field) => wanted.get(`${flag} ${field}`);
      const strategies = part('strategies');
      const environment = {
        name: 'development',
        ...(part('enabled') === undefined ? {} : { enabled: part('enabled') }),
        ...(strategies === undefined ? {} : { strategies: [rollout(strategies)] }),
      };
      const description = part('description');
      const name = `${this.#project}-${flag}`;
      return { name, ...(description === undefined ? {} : { description }), environments: [environment] };
    });
    return readFlagFile('flags.json', JSON.stringify({ project: this.#project, base, managed, flags }));
  }

  /** Returns the number of conflicts. `between` happens after the plan. */
  async apply(holder: Holder, between: (() => Promise<void>) | null): Promise<number> {
    const { client, managed, base, name } = holder;
    const differing = PLACES.filter(
      ({ key, field }) =>
        managed.includes(field) && holder.wanted.has(key) && holder.wanted.get(key) !== this.now.get(key),
    );
    const isOthers = (key: string): boolean => {
      const last = this.last.get(key);
      return last !== undefined && last.id > base && last.by !== name;
    };
    const [plan] = await planFiles(client, [this.#fileOf(holder)], { prunes: false, tell: () => undefined });
    assert(plan !== undefined);
    const nameOf = ({ flag, field }: { flag: string; field: string }) =>
      `${flag.replace(`${this.#project}-`, '')} ${field}`;
    const expected = differing.filter(({ key }) => isOthers(key)).map(nameOf);
    assert.deepEqual(
      plan.conflicts.map(nameOf).sort(),
      expected.sort(),
      'each conflict is named, and no other',
    );
    for (const { field, environment, event } of plan.conflicts) {
      assert.equal(environment, field === 'description' ? null : 'development');
      assert(event !== null && event.id > base);
    }
    const rest = differing.filter(({ key }) => !isOthers(key)).map(nameOf);
    assert.deepEqual(plan.changes.map(nameOf).sort(), rest.sort(), 'all the rest is planned');
    const seen = new Map(this.now);
    await between?.();
    const planned = plan.changes.map(nameOf);
    const changed = planned.some((key) => seen.get(key) !== this.now.get(key));
    const carried = carryOut(client, '', plan, () => undefined);
    if (changed)
      await assert.rejects(carried, ({ exitCode }: { exitCode: number } & Error) => exitCode === 2);
    else {
      await carried;
      for (const key of planned) {
        this.now.set(key, holder.wanted.get(key));
        this.last.set(key, { id: this.#lastId, by: name });
      }
    }
    await this.check();
    return plan.conflicts.length;
  }

  async check(): Promise<void> {
    for (const flag of FLAGS) {
      const { description, environments } = await this.#done('GET', this.#path(flag));
      const { enabled, strategies } = environments.find(
        (one: { name: string }) => one.name === 'development',
      );
      assert.deepEqual(
        [description, enabled, strategies[0].parameters.rollout],
        FIELDS.map((field) => this.now.get(`${flag} ${field}`)),
        'nothing was overwritten, and nothing was left out',
      );
    }
  }
}

it('an apply overwrites nothing that others changed, and names each conflict by flag, environment and field', async (t) => {
  const server = await serverFor(t);
  const first = Number(process.env['SEED'] ?? 1) * 10_000;
  const clients = [ADMIN_TOKEN, (await addUser(server, 1)).token].map(
    (token) => new AdminClient({ url: server.origin, token }),
  );
  let [applies, conflicts] = [0, 0];
  for (let at = 0; at < runs(15, 1_000); at += 1) {
    const seed = first + at;
    const random = seededRandom(seed);
    const run = new Run(server, `p${seed}`);
    const id = await run.begin();
    const holders = clients.map((client, which): Holder => {
      const wanted = new Map(
        PLACES.filter(() => random.chance(0.8)).map(({ key }) => [key, run.now.get(key)]),
      );
      const managed = random.chance(0.5) ? FIELDS : FIELDS.filter(() => random.chance(0.6));
      return { name: `holder ${which}`, client, managed, base: random.chance(0.8) ? id : 0, wanted };
    });
    try {
      for (let step = 0; step < 12; step += 1) {
        const holder = pick(random, holders);
        const what = random.below(10);
        if (what < 3) await run.changeDirectly(random);
        else if (what < 6) {
          const { key, field } = pick(random, PLACES);
          if (holder.wanted.has(key)) holder.wanted.set(key, pick(random, VALUES[field]));
        } else if (what < 7) run.pull(holder);
        else {
          applies += 1;
          const between = random.chance(0.2) ? () => run.changeDirectly(random) : null;
          conflicts += await run.apply(holder, between);
        }
      }
      await run.check();
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  t.diagnostic(`${applies} applies, ${conflicts} conflicts`);
  assert(conflicts > 5 && applies > 20, `${applies} applies, ${conflicts} conflicts`);
});
