/** Single damages to the journal of a stopped folder, as disks and people do them, each mended from a copy, or cut out without one. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyOf, flagstaff, type Moment, outputOf, segmentsIn } from '../support/operator.ts';
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts';
import { temporaryFolder } from '../support/server.ts';

const KINDS = ['flipped bits', 'zeros', 'cut off', 'deleted'] as const;
type Kind = (typeof KINDS)[number];

interface SingleDamage {
  readonly kind: Kind;
  readonly file: string;
  readonly at: number;
}

function damage(folder: string, random: SeededRandom): SingleDamage {
  const files = segmentsIn(folder);
  const file = files[random.below(files.length)]!;
  const kind = KINDS[random.below(KINDS.length)]!;
  const bytes = readFileSync(file);
  const at = random.below(bytes.length);
  if (kind === 'flipped bits') bytes[at] = bytes[at]! ^ (1 + random.below(255));
  if (kind === 'zeros') bytes.fill(0, at, Math.min(bytes.length, at + 1 + random.below(512)));
  if (kind === 'deleted') rmSync(file);
  else if (kind === 'cut off') truncateSync(file, at);
  else writeFileSync(file, bytes);
  return { kind, file, at };
}

export interface Whole {
  readonly folder: string;
  readonly lastId: number;
  readonly stateHash: string;
}

/** The contents of a folder that nothing has happened to. */
export async function wholeFolder(folder: string): Promise<Whole> {
  const { deep } = await outputOf(['verify', '--deep', '-d', folder]);
  return { folder, lastId: deep.eventId, stateHash: deep.stateHash };
}

/** All of it is there again, and is what was signed. */
export async function assertMended(
  mended: string,
  { lastId, stateHash }: Whole,
  what: string,
): Promise<void> {
  const { sound, journal, deep } = await outputOf(['verify', '--deep', '-d', mended]);
  assert(sound, what);
  assert.deepEqual(journal.intact, [{ from: 1, to: lastId }], what);
  assert.equal(deep.stateHash, stateHash, what);
  const { proved, signed } = await outputOf(['audit', 'verify', '-d', mended]);
  assert.deepEqual([proved, signed.lastId], [true, lastId], what);
}

/** Damages a copy of the folder once for each seed, and mends it from the folder. */
export async function mendSingleDamages(
  whole: Whole,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<Record<Kind | 'harmless' | 'eventsTaken', number>> {
  const counts = { 'flipped bits': 0, zeros: 0, 'cut off': 0, deleted: 0, harmless: 0, eventsTaken: 0 };
  for (let seed = first; seed < first + count; seed += 1) {
    const folder = copyOf(whole.folder);
    const done = damage(folder, seededRandom(seed));
    const what = `seed ${seed}: ${JSON.stringify(done)}`;
    counts[done.kind] += 1;
    const { code } = await flagstaff(['verify', '-d', folder]);
    if (code === 0) counts.harmless += 1;
    else {
      const { missing } = await outputOf(['repair', '--dry-run', '-d', folder]);
      const { plan } = await outputOf(['repair', '--yes', '--from', whole.folder, '-d', folder]);
      assert.deepEqual(plan.taken, missing, `exactly what is lost is taken: ${what}`);
      for (const { from, to } of plan.taken) counts.eventsTaken += to - from + 1;
    }
    await assertMended(folder, whole, what);
    rmSync(folder, { recursive: true });
  }
  return counts;
}

/**
 * Damages a copy of the folder once for each seed, and repairs it without another one: in one copy what lies before the damage is kept and
 * what lies behind can be restored from what was set aside, in another one the newest state is kept.
 */
export async function cutSingleDamages(
  whole: Whole,
  moments: readonly Moment[],
  { first, count }: { readonly first: number; readonly count: number },
): Promise<Record<Kind | 'harmless' | 'eventsCut', number>> {
  const counts = { 'flipped bits': 0, zeros: 0, 'cut off': 0, deleted: 0, harmless: 0, eventsCut: 0 };
  const states = new Map(moments.map(({ id, stateHash }) => [id, stateHash]));
  for (let seed = first; seed < first + count; seed += 1) {
    const folder = copyOf(whole.folder);
    const done = damage(folder, seededRandom(seed));
    const what = `seed ${seed}: ${JSON.stringify(done)}`;
    counts[done.kind] += 1;
    const { code, json } = await flagstaff(['verify', '--json', '-d', folder]);
    if (code === 0) counts.harmless += 1;
    else {
      const [before] = json.journal.intact;
      const newest = copyOf(folder);
      const { plan, aside } = await outputOf(['repair', '--prefer', 'history', '-d', folder]);
      const keptId: number = plan.stateOfEvent;
      const { sound, journal, deep } = await outputOf(['verify', '--deep', '-d', folder]);
      if (before?.from === 1) {
        assert(sound && keptId >= before.to, what);
        assert.deepEqual(journal.intact, [{ from: 1, to: keptId }], what);
        assert.equal(deep.stateHash, states.get(keptId), what);
        counts.eventsCut += whole.lastId - keptId;
      }
      const to = join(temporaryFolder(), 'restored');
      const at = String(whole.lastId);
      const restored = await outputOf(['restore', aside, '--to', to, '--at', at, '--state-only']);
      assert.equal(restored.stateHash, whole.stateHash, what);
      await outputOf(['repair', '--prefer', 'state', '-d', newest]);
      const kept = await outputOf(['verify', '--deep', '-d', newest]);
      assert.deepEqual([kept.sound, kept.deep.stateHash], [true, whole.stateHash], what);
      rmSync(newest, { recursive: true });
    }
    rmSync(folder, { recursive: true });
  }
  return counts;
}
