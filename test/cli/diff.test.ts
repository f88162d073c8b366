/** The difference between two moments. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { difference, type Picture, type ThingChange } from '../../src/operations/diff.ts';
import { contentOf, flagstaff, outputOf, type PastFolder, pastFolder } from '../support/operator.ts';

describe('flagstaff diff', () => {
  let past: PastFolder;
  before(async () => {
    past = await pastFolder();
  });

  const diff = (from: number, to: number, ...more: string[]): Promise<{ changes: ThingChange[] }> =>
    outputOf(['diff', '-d', past.folder, '--from', String(from), '--to', String(to), ...more]);
  /** Ids of the events after the step at `index`, and before it. */
  const step = (index: number): [number, number] => [
    past.moments[index]?.id ?? 0,
    past.moments[index + 1]?.id ?? 0,
  ];

  it('says of each change what an operator would', async () => {
    const kinds = async (index: number) => {
      const { changes } = await diff(...step(index));
      return changes.map(({ kind, project, name, change, fields }) => [
        `${change} ${kind} ${project ?? ''} ${name}`,
        ...fields.map(({ field }) => field.replaceAll(/\[[0-9a-f-]{36}\]/g, '[id]')),
      ]);
    };
    assert.deepEqual(await kinds(0), [['added flag default one', 'createdAt', 'description', 'type']]);
    assert.deepEqual(await kinds(2), [
      [
        'changed flag default one',
        'environments[development].strategies[id].name',
        'environments[development].strategies[id].sortOrder',
      ],
    ]);
    assert.deepEqual(await kinds(3), [['changed flag default one', 'environments[development].enabled']]);
    assert.deepEqual((await kinds(5))[0]?.[0], 'changed flag default two');
    assert.deepEqual(await kinds(8), [['changed flag other three', 'tags[team:blue]']]);
    assert.deepEqual((await kinds(9))[0]?.[0], 'added user  2 (ada)');
    assert.deepEqual(await kinds(10), [['changed project other other', 'members[ada]']]);
    assert.deepEqual(await kinds(12), [['changed project other other', 'environments']]);
    assert.deepEqual(await kinds(14), [
      ['changed flag default one', 'children'],
      ['changed flag default two', 'dependencies[one].enabled'],
    ]);
    assert.deepEqual((await kinds(17))[0]?.[0], 'removed flag default two');
  });

  it('gives values before and after', async () => {
    const { changes } = await diff(...step(5));
    assert.deepEqual(changes[0]?.fields, [
      { field: 'description', before: '', after: 'changed' },
      { field: 'stale', before: false, after: true },
    ]);
    const { out } = await flagstaff([
      'diff',
      '-d',
      past.folder,
      '--from',
      String(step(5)[0]),
      '--to',
      String(step(5)[1]),
    ]);
    assert.match(
      out,
      /^~ flag default\/two changed\n {4}description: "" → "changed"\n {4}stale: false → true$/m,
    );
  });

  it('is the same backwards, with before and after exchanged', async () => {
    const ids = past.moments.map(({ id }) => id);
    const [first = 0, middle = 0, last = 0] = [ids[0], ids[Math.floor(ids.length / 2)], ids.at(-1)];
    for (const [from, to] of [
      [first, last],
      [first, middle],
      [middle, last],
    ] as const) {
      assert.deepEqual((await diff(to, from)).changes, reversed((await diff(from, to)).changes));
    }
  });

  it('finds nothing between a moment and itself, and no project that never was', async () => {
    const [id] = step(7);
    assert.deepEqual((await diff(id, id)).changes, []);
    const none = await flagstaff(['diff', '-d', past.folder, '--from', String(id), '--project', 'nowhere']);
    assert.equal(none.code, 66);
  });

  it('keeps to one project when asked to', async () => {
    const { changes } = await diff(
      past.moments[0]?.id ?? 0,
      past.moments.at(-1)?.id ?? 0,
      '--project',
      'other',
    );
    assert.deepEqual(new Set(changes.map(({ project }) => project)), new Set(['other']));
  });

  it('takes times, and the newest state for a missing end', async () => {
    const { changes, from, to } = await outputOf(['diff', '-d', past.folder, '--from', '2999-01-01']);
    assert.deepEqual([changes, from, to], [[], past.moments.at(-1)?.id, past.moments.at(-1)?.id]);
  });

  it('changes nothing, and refuses moments that make no sense', async () => {
    const content = contentOf(past.folder);
    await diff(...step(3));
    assert.deepEqual(contentOf(past.folder), content);
    assert.equal((await flagstaff(['diff', '-d', past.folder, '--from', 'x'])).code, 64);
    assert.equal((await flagstaff(['diff', '-d', past.folder, '--from', '99999'])).code, 66);
    assert.equal((await flagstaff(['diff', '-d', past.folder])).code, 64);
  });
});

describe('the difference of two pictures', () => {
  const value = fc.oneof(fc.boolean(), fc.integer(), fc.string(), fc.constant(null));
  const named = fc.record({ name: fc.constantFrom('a', 'b', 'c'), weight: fc.integer() });
  const thing = fc.record({
    description: fc.option(fc.string()),
    stale: fc.boolean(),
    variants: fc.uniqueArray(named, { selector: ({ name }) => name }),
    tags: fc.uniqueArray(fc.record({ type: fc.constant('t'), value: fc.constantFrom('x', 'y') }), {
      selector: (tag) => tag.value,
    }),
    parameters: fc.dictionary(fc.constantFrom('k', 'l', '__proto__'), value),
    values: fc.array(fc.string()),
  });
  const picture: fc.Arbitrary<Picture> = fc
    .dictionary(fc.constantFrom('one', 'two', 'three'), thing)
    .map(
      (things) =>
        new Map(
          Object.entries(things).map(([name, flag]) => [
            name,
            { kind: 'flag' as const, name, project: 'default', value: flag },
          ]),
        ),
    );

  it('is symmetrical, and empty only for equal pictures', () => {
    fc.assert(
      fc.property(picture, picture, (a, b) => {
        const there = difference(a, b);
        assert.deepEqual(difference(b, a), reversed(there));
        assert.deepEqual(difference(a, a), []);
        const shown = (things: Picture) => new Map([...things].map(([key, one]) => [key, seen(one.value)]));
        const same = isDeepStrictEqual(shown(a), shown(b));
        assert.equal(there.length === 0, same);
      }),
    );
  });
});

/** A thing as an operator sees it: tags in any order, and a setting that is null or false like one that is not there. */
function seen(thing: object): unknown {
  const { tags, parameters, ...rest } = thing as { tags: { value: string }[]; parameters: object };
  const told = Object.entries(parameters).filter(([, value]) => value !== null && value !== false);
  return { ...rest, tags: tags.map((tag) => tag.value).sort(), parameters: told.sort() };
}

/** The same changes the other way round. */
function reversed(changes: readonly ThingChange[]): ThingChange[] {
  const opposite = { added: 'removed', removed: 'added', changed: 'changed' } as const;
  return changes.map(({ change, fields, ...thing }) => ({
    ...thing,
    change: opposite[change],
    fields: fields.map((one) => ({
      field: one.field,
      ...('after' in one ? { before: one.after } : {}),
      ...('before' in one ? { after: one.before } : {}),
    })),
  }));
}
