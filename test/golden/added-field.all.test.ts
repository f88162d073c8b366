/**
 * The cost of a new field: of a flag's metadata one row of the table, and two lines that the compiler asks for; of a segment,
 * lines in the row of its kind, and nothing else.
 */
// Own process: it holds the responses of builds of its own against their descriptions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mutant, onChangedBuild } from '../simulation/mutants.ts';
import { OWNED_SEGMENT, OWNER_COPIES, OWNER_ROW } from './added-field.ts';

type Checks = typeof import('./added-field.ts');
type Change = Omit<Mutant, 'name'>;
const MODULE = 'test/golden/added-field.ts';

const check = (changes: readonly Change[], folders: readonly string[] = ['0.1.0/killed']): Promise<void> =>
  onChangedBuild<Checks, void>(changes, MODULE, async ({ checkAddedField }) => {
    for (const folder of folders) await checkAddedField(folder);
  });

test('a row alone makes the compiler name the two copies that lack the field, and nothing else', async () => {
  const findings = await onChangedBuild<Checks, readonly string[]>([OWNER_ROW], MODULE, (build) =>
    build.compilerFindings(),
  );
  const lacks = (type: string) =>
    new RegExp(`^src/domain/flags/flag\\.ts: Property 'owner' is missing .*'${type}'`);
  assert.equal(findings.length, 2, findings.join('\n'));
  assert.match(findings[0] ?? '', lacks('Flag'));
  assert.match(findings[1] ?? '', lacks('FlagData'));
});

test('with them the field is in everything that handles flags, and in all that is older', async () => {
  await check([OWNER_ROW, ...OWNER_COPIES], ['0.1.0/killed', '0.1.0/stopped']);
});

test('a field of segments takes lines in one file of the source, and is in all that handles segments', async () => {
  await onChangedBuild<Checks, void>(OWNED_SEGMENT, MODULE, async (build) => {
    assert.deepEqual(await build.compilerFindings(), []);
    await build.checkAddedSegmentField('0.2.0/stopped');
  });
});

test('a build that says nothing of older segments is found out', async () => {
  const changes = OWNED_SEGMENT.filter(({ find }) => !find.includes('defaults'));
  const check = onChangedBuild<Checks, void>(changes, MODULE, (build) =>
    build.checkAddedSegmentField('0.2.0/stopped'),
  );
  await assert.rejects(check, assert.AssertionError);
});

/** Builds that forget the field somewhere. */
const FORGETFUL: readonly { readonly name: string; readonly changes: readonly Change[] }[] = [
  { name: 'copies flags without it', changes: [OWNER_ROW, OWNER_COPIES[1]] },
  { name: 'records events without it', changes: [OWNER_ROW, OWNER_COPIES[0]] },
  {
    name: 'says nothing of older flags',
    changes: [
      { ...OWNER_ROW, replace: OWNER_ROW.replace.replace(/added: .*,\n/, 'added: null,\n') },
      ...OWNER_COPIES,
    ],
  },
  {
    name: 'leaves older events as they are',
    changes: [
      OWNER_ROW,
      ...OWNER_COPIES,
      {
        file: 'domain/state/upgrade.ts',
        find: 'if (added === undefined) return event;',
        replace: 'if (METADATA_EVENTS.size > 0) return event;',
      },
    ],
  },
  {
    name: 'leaves the flags of older snapshots as they are',
    changes: [
      OWNER_ROW,
      ...OWNER_COPIES,
      {
        file: 'domain/state/upgrade.ts',
        find: 'flag: recordWith(held.flag, fields.get(section))',
        replace: 'flag: held.flag',
      },
    ],
  },
];

for (const { name, changes } of FORGETFUL) {
  test(`a build that ${name} is found out`, async () => {
    await assert.rejects(check(changes), assert.AssertionError);
  });
}
