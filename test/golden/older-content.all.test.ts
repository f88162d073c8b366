/** A build with newer content and newer rules of replay opens the golden folders; builds that do it wrongly are found out. */
// Own process: it loads several builds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mutant, onChangedBuild, UPGRADE_MUTANTS } from '../simulation/mutants.ts';
import { CHANGED } from './older-content.ts';

const check = (folders: readonly string[], mutants: readonly Mutant[]): Promise<void> =>
  onChangedBuild<typeof import('./older-content.ts'), void>(
    [...CHANGED, ...mutants],
    'test/golden/older-content.ts',
    async ({ checkOlderContent }) => {
      for (const folder of folders) await checkOlderContent(folder);
    },
  );

test('a build with newer content shows golden folders upgraded, and replays them as they ran', async () => {
  await check(['0.1.0/killed', '0.1.0/stopped'], []);
});

for (const mutant of UPGRADE_MUTANTS) {
  test(`a build that ${mutant.name} is found out`, async () => {
    await assert.rejects(check(['0.1.0/killed'], [mutant]), assert.AssertionError);
  });
}
