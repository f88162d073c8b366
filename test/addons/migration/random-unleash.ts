/** Random contents of a server of the Unleash Admin API, and random changes of them; all within what its open-source edition offers. */
import { AdminCallError, type AdminClient } from '../../../src/host/admin-client.ts';
import { pick, someOf } from '../../support/random-values.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';

const ENVIRONMENTS = ['development', 'production'];
const COUNTRIES = ['DE', 'FR', 'US', 'it'];
const TYPES = ['release', 'experiment', 'operational', 'kill-switch', 'permission', 'sunset'];
const STICKINESS = ['default', 'userId', 'sessionId', 'random', 'country'];

interface Known {
  readonly name: string;
  isArchived: boolean;
}

/** The tally of a round of changes. */
export interface Changes {
  readonly made: number;
  /** Flags that were switched, or may have been: `name\nenvironment`. */
  readonly switched: ReadonlySet<string>;
}

interface StrategyThere {
  readonly id: string;
}

/** One that no other process changes. */
export class RandomUnleash {
  readonly #client: AdminClient;
  readonly #random: SeededRandom;
  readonly #prefix: string;
  readonly #flags: Known[] = [];
  #segments: number[] = [];
  #count = 0;
  #made = 0;
  #switched = new Set<string>();

  /** Names begin with the prefix, so that several can be in one server. */
  constructor(client: AdminClient, random: SeededRandom, prefix: string) {
    this.#client = client;
    this.#random = random;
    this.#prefix = prefix;
  }

  async fill(flags: number): Promise<void> {
    const random = this.#random;
    await this.#try('POST', '/context', {
      name: 'country',
      stickiness: true,
      legalValues: COUNTRIES.map((value) => ({ value })),
    });
    const parameters = [{ name: 'tenant', type: 'string', description: '', required: false }];
    await this.#try('POST', '/strategies', { name: 'by-tenant', description: 'For one tenant', parameters });
    for (let count = 0; count < 4; count += 1) await this.#createSegment();
    for (let count = 0; count < flags; count += 1) await this.#createFlag();
    for (let count = 0; count < flags; count += 1) await this.#changeFlag();
    if (random.chance(0.5)) await this.#try('PUT', '/feature-types/release/lifetime', { lifetimeDays: 33 });
  }

  async change(count: number): Promise<Changes> {
    this.#made = 0;
    this.#switched = new Set();
    for (let at = 0; at < count; at += 1) {
      const choice = this.#random.next();
      if (choice < 0.1) await this.#createFlag();
      else if (choice < 0.15) await this.#createSegment();
      else if (choice < 0.2) await this.#changeSegment();
      else await this.#changeFlag();
    }
    return { made: this.#made, switched: this.#switched };
  }

  /** Leaves little for whoever fills the server next: Unleash 6.10 and 8.2 have ended while archived flags were deleted. */
  async clear(): Promise<void> {
    const active = this.#flags.filter(({ isArchived }) => !isArchived).map(({ name }) => name);
    await this.#try('POST', '/projects/default/archive', { features: active });
  }

  /** Leaves out what a version or an edition refuses: it is no part of the contents. */
  async #try(method: string, path: string, body?: unknown, isAgain = false): Promise<unknown> {
    try {
      const response = await this.#client.call(method, path, body);
      this.#made += 1;
      return response;
    } catch (error) {
      if (!(error instanceof AdminCallError)) throw error;
      if (error.status >= 400 && error.status < 500) return null;
      // A server may close an idle connection just when it is used again.
      if (error.status === 0 && !isAgain) return this.#try(method, path, body, true);
      throw error;
    }
  }

  #name(): string {
    this.#count += 1;
    return `${this.#prefix}${pick(this.#random, ['plain', "it's", '(new)', 'a.b~c', '*wow!'])}-${this.#count}`;
  }

  async #createFlag(): Promise<void> {
    const random = this.#random;
    const name = this.#name();
    const created = await this.#try('POST', '/projects/default/features', {
      name,
      type: pick(random, TYPES),
      description: pick(random, ['', 'Shown to few', 'Größe ✓']),
      impressionData: random.chance(0.3),
    });
    if (created === null) return;
    this.#flags.push({ name, isArchived: false });
    for (const environment of ENVIRONMENTS) {
      const path = `${this.#pathOf(name)}/environments/${environment}`;
      for (let count = random.below(3); count > 0; count -= 1)
        await this.#try('POST', `${path}/strategies`, this.#strategy(name));
      if (random.chance(0.6)) await this.#switch(name, environment, 'on');
    }
  }

  readonly #pathOf = (name: string): string => `/projects/default/features/${encodeURIComponent(name)}`;

  async #switch(name: string, environment: string, to: 'on' | 'off'): Promise<void> {
    this.#switched.add(`${name}\n${environment}`);
    await this.#try('POST', `${this.#pathOf(name)}/environments/${environment}/${to}`);
  }

  async #changeFlag(): Promise<void> {
    const random = this.#random;
    const flag = this.#flags[random.below(this.#flags.length)];
    if (flag === undefined) return;
    const { name } = flag;
    const path = this.#pathOf(name);
    const environment = pick(random, ENVIRONMENTS);
    const place = `${path}/environments/${environment}`;
    if (flag.isArchived) {
      for (const one of ENVIRONMENTS) this.#switched.add(`${name}\n${one}`);
      const revived = await this.#try('POST', '/projects/default/revive', { features: [name] });
      flag.isArchived = revived === null && !(await this.#isThere(name));
      return;
    }
    const changes: readonly (() => Promise<unknown>)[] = [
      () => this.#switch(name, environment, 'on'),
      () => this.#switch(name, environment, 'off'),
      () => this.#try('POST', `${place}/strategies`, this.#strategy(name)),
      () => this.#changeStrategy(name, environment),
      () => this.#try('PUT', `${place}/variants`, this.#variants(true)),
      () =>
        this.#try('POST', `/features/${encodeURIComponent(name)}/tags`, {
          type: 'simple',
          value: pick(random, ['red', 'blue', 'team a']),
        }),
      () => this.#try('POST', `${path}/link`, { url: 'https://tracker.example/1', title: 'Ticket' }),
      () =>
        this.#try('POST', `${path}/dependencies`, {
          feature: this.#flags[random.below(this.#flags.length)]?.name,
          enabled: random.chance(0.7),
          variants: [],
        }),
      () =>
        this.#try('PUT', path, {
          name,
          type: pick(random, TYPES),
          description: pick(random, ['', 'Later']),
          stale: random.chance(0.3),
          impressionData: random.chance(0.5),
        }),
      async () => {
        if (random.chance(0.6)) return;
        for (const one of ENVIRONMENTS) this.#switched.add(`${name}\n${one}`);
        await this.#try('DELETE', path);
        flag.isArchived = !(await this.#isThere(name));
      },
    ];
    await pick(random, changes)();
  }

  async #isThere(name: string): Promise<boolean> {
    const { features } = (await this.#client.call('GET', '/projects/default/features')) as {
      features: readonly { name: string }[];
    };
    return features.some((one) => one.name === name);
  }

  /** Changing the last one away switches a flag off in some versions. */
  async #changeStrategy(name: string, environment: string): Promise<void> {
    const path = `${this.#pathOf(name)}/environments/${environment}`;
    const { strategies } = (await this.#client.call('GET', path)) as {
      strategies: readonly StrategyThere[];
    };
    const { id } = strategies[this.#random.below(strategies.length)] ?? {};
    if (id === undefined) return;
    this.#switched.add(`${name}\n${environment}`);
    if (this.#random.chance(0.3)) await this.#try('DELETE', `${path}/strategies/${id}`);
    else await this.#try('PUT', `${path}/strategies/${id}`, this.#strategy(name));
  }

  async #createSegment(): Promise<void> {
    const random = this.#random;
    const segment = await this.#try('POST', '/segments', {
      name: `${this.#prefix}segment ${this.#segments.length}`,
      description: '',
      ...(random.chance(0.4) ? { project: 'default' } : {}),
      constraints: this.#constraints(2),
    });
    if (segment !== null) this.#segments.push((segment as { id: number }).id);
  }

  async #changeSegment(): Promise<void> {
    const at = this.#random.below(this.#segments.length);
    await this.#try('PUT', `/segments/${this.#segments[at]}`, {
      name: `${this.#prefix}segment ${at}`,
      ...(this.#random.chance(0.4) ? { project: 'default' } : {}),
      constraints: this.#constraints(2),
    });
  }

  #constraints(most: number): object[] {
    const random = this.#random;
    const one = (contextName: string, operator: string, parts: object): object => ({
      ...{ contextName, operator, values: [], inverted: random.chance(0.2), caseInsensitive: false },
      ...parts,
    });
    const kinds: readonly (() => object)[] = [
      () =>
        one('country', pick(random, ['IN', 'NOT_IN']), {
          values: [pick(random, COUNTRIES), ...someOf(random, COUNTRIES)],
        }),
      () =>
        one('country', pick(random, ['STR_STARTS_WITH', 'STR_ENDS_WITH', 'STR_CONTAINS']), {
          values: ['d', 'R'],
          caseInsensitive: random.chance(0.5),
        }),
      () =>
        one('age', pick(random, ['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE']), {
          value: pick(random, ['7', '18', '2.5']),
        }),
      () =>
        one('currentTime', pick(random, ['DATE_AFTER', 'DATE_BEFORE']), {
          value: pick(random, ['2020-01-01', '2026-01-01T12:30', '2027-03-01T00:00:00.000Z']),
        }),
      () => one('version', pick(random, ['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_LT']), { value: '1.2.3' }),
    ];
    return Array.from({ length: random.below(most + 1) }, () => pick(random, kinds)());
  }

  #strategy(flag: string): object {
    const random = this.#random;
    const kinds: readonly (() => object)[] = [
      () => ({ name: 'default', parameters: {} }),
      ...[0, 1, 2].map(() => () => ({
        name: 'flexibleRollout',
        parameters: {
          rollout: String(random.below(101)),
          stickiness: pick(random, STICKINESS),
          groupId: pick(random, [flag, 'shared']),
        },
        variants: random.chance(0.4) ? this.#variants(false) : [],
      })),
      () => ({ name: 'userWithId', parameters: { userIds: '1,5, ada' } }),
      () => ({ name: 'remoteAddress', parameters: { IPs: '10.0.0.0/8,192.168.1.7' } }),
      () => ({ name: 'applicationHostname', parameters: { hostNames: 'one,two' } }),
      () => ({ name: 'by-tenant', parameters: { tenant: pick(random, ['a', 'b']) } }),
    ];
    return {
      ...pick(random, kinds)(),
      title: pick(random, ['', 'Slowly']),
      disabled: random.chance(0.15),
      constraints: this.#constraints(3),
      segments: random.chance(0.3) ? [pick(random, this.#segments)] : [],
    };
  }

  #variants(withOverrides: boolean): object[] {
    const random = this.#random;
    const stickiness = pick(random, STICKINESS);
    const payloads = [
      { type: 'string', value: 'blue' },
      { type: 'json', value: '{"a":1}' },
      { type: 'number', value: '5' },
      { type: 'csv', value: 'a,b' },
    ];
    const count = random.below(4);
    // An even split, whose spare thousandths go to one variant or another.
    const weight = Math.floor(1000 / Math.max(count, 1));
    return ['red', 'green', 'blue'].slice(0, count).map((name, at) => ({
      name,
      weight: at === 0 ? 1000 - weight * (count - 1) : weight,
      weightType: 'variable',
      stickiness,
      ...(random.chance(0.5) ? { payload: pick(random, payloads) } : {}),
      ...(withOverrides && random.chance(0.2)
        ? { overrides: [{ contextName: 'userId', values: ['7', 'ada'] }] }
        : {}),
    }));
  }
}
