import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Flag } from '../../../src/domain/flags/flag.ts';
import type { Strategy } from '../../../src/domain/flags/strategy.ts';
import type { ReferenceKind } from '../../../src/domain/kinds/kind.ts';
import { References } from '../../../src/domain/state/references.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const SEGMENTS = [1, 2, 3];

function flagOf(...lists: readonly (readonly Strategy[])[]): Flag {
  const environments = lists.map((strategies, at) => ({ name: `e${at}`, strategies }));
  return { name: 'f', project: 'p', environments } as unknown as Flag;
}

function countsOf(references: References): string {
  const counts = (kind: ReferenceKind, names: readonly (string | number)[]) =>
    names.map((name) => [kind, name, ...references.flagCounts(kind, name)]);
  return JSON.stringify([
    ...counts('strategy-type', NAMES),
    ...counts('segment', SEGMENTS),
    ...counts('context-field', NAMES),
  ]);
}

it('counts of references, kept up change by change, are those counted from scratch', () => {
  const seed = Number(process.env.SEED ?? Math.trunc(Math.random() * 2 ** 31));
  const random = seededRandom(seed);
  const some = <T>(values: readonly T[]): T[] => values.filter(() => random.chance(0.2));
  const strategy = (): Strategy =>
    ({
      name: NAMES[random.below(NAMES.length)],
      segments: some(SEGMENTS),
      constraints: some(NAMES).map((contextName) => ({ contextName })),
    }) as unknown as Strategy;
  const changed = (list: readonly Strategy[]): readonly Strategy[] => {
    const kept = random.chance(0.5) ? list : list.filter(() => random.chance(0.7));
    const more = random.chance(0.5) ? [strategy()] : [];
    return random.chance(0.3) ? [...more, ...kept].reverse() : [...kept, ...more];
  };
  let references = new References();
  let lists: readonly (readonly Strategy[])[] = [[], []];
  let flag: Flag | null = null;
  for (let round = 0; round < 500; round += 1) {
    lists = lists.map((list) => (random.chance(0.5) ? changed(list) : list));
    const next: Flag | null = random.chance(0.05) ? null : flagOf(...lists);
    references = references.replaced(flag, next);
    flag = next;
    const fresh = new References().replaced(null, flag);
    assert.equal(countsOf(references), countsOf(fresh), `round ${round} of seed ${seed}`);
  }
});

it('a strategy that is added does not make all others be looked through', () => {
  const unread = Array.from({ length: 1000 }, () => ({
    name: 'a',
    get constraints(): never {
      throw new Error('the constraints of another strategy were read');
    },
    segments: [],
  })) as unknown as Strategy[];
  const added = { name: 'a', constraints: [], segments: [] } as unknown as Strategy;
  new References()
    .replaced(null, flagOf([added]))
    .replaced(flagOf(unread), flagOf([...unread, added]))
    .replaced(flagOf([added, ...unread]), flagOf(unread));
});
