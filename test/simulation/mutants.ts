/**
 * Builds that are broken on purpose: one line of the source is changed in a copy of the tree, and the simulation has
 * to find that out. A simulation that nothing can fail proves nothing.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeSource } from '../support/compile.ts';
import { runnable } from '../support/source.ts';
import type { RunOptions, RunResult } from './run-seeds.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The part of the tree that the tests of changed builds need. */
const COPIED = ['package.json', 'tsconfig.json', 'src', 'web', 'test'] as const;

export interface Mutant {
  /** The wrong that it does, as the end of "a build that …". */
  readonly name: string;
  /** Below `src`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** The ones that the tests run each time. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'answers before the sync',
    file: 'persistence/journal/file-journal.ts',
    find: 'writeFullyDurably(file,',
    replace: 'writeFully(file,',
  },
  {
    name: 'does not check that a frame follows the one before it',
    file: 'persistence/journal/segment-scan.ts',
    find: 'previous !== chain',
    replace: 'false',
  },
  {
    name: 'does not sync the folder after beginning a segment',
    file: 'persistence/journal/file-journal.ts',
    find: '    await this.#options.fs.syncFolder(this.#options.folder);\n',
    replace: '',
  },
  {
    name: 'goes on behind a tail that was read and never synced',
    file: 'persistence/recovery/recovery.ts',
    find: '    await rewriteTail(fs, { path, from: lastBatchAt, to: end.offset });\n',
    replace: '    void path;\n',
  },
  {
    name: 'shows what was read before it is durable',
    file: 'actors/durability-waiters.ts',
    find: 'if (id <= this.#durableId) {',
    replace: 'if (id > 0) {',
  },
  {
    name: 'tells listeners of changes before they are durable',
    file: 'actors/change-feed.ts',
    find: '    this.#pending.push({ change, bytes });',
    replace:
      '    this.#pending.push({ change, bytes });\n    tellListeners(this.#listeners, [change], this.#onFault);',
  },
];

/** More of them, for the long form. */
export const MORE_MUTANTS: readonly Mutant[] = [
  {
    // No response shows it before a segment or strategy type is to be deleted: going through the state does.
    name: 'counts what strategies refer to only when a flag comes, goes or changes as a whole',
    file: 'domain/state/records.ts',
    find: '  draft.references = draft.references.replaced(before, after, draft.edit);\n',
    replace:
      '  if (before === null) draft.references = draft.references.replaced(before, after, draft.edit);\n',
  },
  {
    name: 'leaves a project with the revision that it had before a change of a flag',
    file: 'domain/state/apply-flag.ts',
    find: '  project.revision = stamp.id;\n',
    replace: '',
  },
  {
    name: 'forgets the newest id of the records of an add-on',
    file: 'domain/state/addon-records.ts',
    find: 'lastId: Math.max(lastId, id),',
    replace: 'lastId: Math.min(lastId, id),',
  },
  {
    name: 'does not count the memory of the records of add-ons that it loads',
    file: 'domain/state/addon-records.ts',
    find: '  draft.memoryBytes += growthOf(null, saved);\n',
    replace: '',
  },
  {
    name: 'miscounts the commands that wait',
    file: 'actors/scheduler.ts',
    find: '      this.#queuedCount -= 1;\n',
    replace: '      if (mailbox.length !== 1) this.#queuedCount -= 1;\n',
  },
  {
    name: 'syncs a tail whose sync had failed, without writing it again',
    file: 'persistence/recovery/journal-end.ts',
    find: 'await writeFully(file, bytes, at);',
    replace: 'void writeFully;',
  },
  {
    name: 'begins a segment without syncing its header',
    file: 'persistence/journal/file-journal.ts',
    find: '    await file.sync();\n',
    replace: '',
  },
  {
    name: 'goes on after a failed write',
    file: 'persistence/journal/file-journal.ts',
    find: '(cause: unknown) => this.#fail(this.#pathOf(batch.place.segment), batch.place.offset, cause)',
    replace: '() => this.#settle(batch)',
  },
  {
    name: 'writes a batch while zeros are being written in its place',
    file: 'persistence/journal/file-journal.ts',
    find: 'if (zeros !== null) await zeros;',
    replace: 'void zeros;',
  },
  {
    name: 'writes zeros over the batches under way',
    file: 'persistence/journal/preallocation.ts',
    find: 'const from = Math.max(this.#end, offset);',
    replace: 'const from = this.#end;',
  },
  {
    name: 'takes a short write for a whole one',
    file: 'persistence/disk/write-fully.ts',
    find: 'if (written !== wanted)',
    replace: 'if (written > wanted)',
  },
  {
    name: 'leaves a torn tail where it is',
    file: 'persistence/recovery/journal-end.ts',
    find: '    await file.truncate(to);\n',
    replace: '',
  },
  {
    name: 'does not cut a tail again whose cut may not have reached the disk',
    file: 'persistence/recovery/journal-end.ts',
    find: '    await file.truncate(to);\n',
    replace: '    if ((await file.size()) !== to) await file.truncate(to);\n',
  },
  {
    name: 'publishes a snapshot that is ahead of the journal',
    file: 'persistence/snapshots/snapshot-writer.ts',
    find: '  await options.durable();\n',
    replace: '',
  },
  {
    name: 'publishes a snapshot without syncing it',
    file: 'persistence/snapshots/snapshot-writer.ts',
    find: '    await file.sync();\n',
    replace: '',
  },
  {
    name: 'forgets the responses of retries at a crash',
    file: 'actors/engine.ts',
    find: 'response === undefined ? payload : this.#encoder.addResponse(response)',
    replace: 'payload',
  },
  {
    name: 'forgets remembered responses in snapshots',
    file: 'actors/state/world-snapshot.ts',
    find: "{ name: 'answers', records: [...directory.responses.values()] },",
    replace: '',
  },
  {
    name: 'records times that go backwards with the clock',
    file: 'actors/engine.ts',
    find: 'return Math.max(this.#options.clock.now(), this.#recorder.lastAt);',
    replace: 'return this.#options.clock.now();',
  },
  {
    name: 'states in the mark what is not durable yet',
    file: 'persistence/journal/file-journal.ts',
    find: 'durable: () => this.#durable,',
    replace:
      'durable: () => ({ ...this.#durable, offset: this.#offset, chain: this.#appendedChain, lastId: this.#appendedId }),',
  },
  {
    name: 'loses a switch at replay',
    file: 'actors/state/state-loader.ts',
    find: 'frame.events as readonly DomainEvent[],',
    replace: "(frame.events as DomainEvent[]).filter(({ type }) => type !== 'feature-environment-enabled'),",
  },
];

/** On a build whose content and rules of replay have changed (older-content.ts): each breaks what keeps old content readable. */
export const UPGRADE_MUTANTS: readonly Mutant[] = [
  {
    name: 'does not upgrade events',
    file: 'persistence/journal/frame-payload.ts',
    find: "upgradeEvents(value.events as Frame['events'], contentVersion)",
    replace: "(upgradeEvents, value.events as Frame['events'])",
  },
  {
    name: 'does not upgrade the records of snapshots',
    file: 'persistence/snapshots/snapshot-reader.ts',
    find: 'upgradeRecord(section, record, this.#contentVersion)',
    replace: '(upgradeRecord, record)',
  },
  {
    name: 'leaves out the first step of an upgrade',
    file: 'domain/state/upgrade.ts',
    find: 'UPGRADE_STEPS.slice(contentVersion - 1)',
    replace: 'UPGRADE_STEPS.slice(contentVersion)',
  },
  {
    name: 'upgrades what is of the newest version already',
    file: 'persistence/journal/frame-format.ts',
    find: 'PayloadStamp = { contentVersion: CONTENT_VERSION,',
    replace: 'PayloadStamp = { contentVersion: 1,',
  },
  {
    name: 'searches the bytes of old events for what their upgrade says',
    file: 'persistence/event-log/text-scan.ts',
    find: 'changesEvents(await oldestContent(segment, format)) ? null : this.#prefilter',
    replace: 'this.#prefilter',
  },
  {
    name: 'shows flags of the past by the newest rules',
    file: 'actors/flag-history.ts',
    find: 'const { rules } = frame;',
    replace: 'const rules = 2;',
  },
  {
    name: 'replays old frames by the newest rules',
    file: 'actors/state/state-loader.ts',
    find: 'const { rules, lineage } = frame;',
    replace: 'const { lineage } = frame;\n  const rules = 2;',
  },
];

/** The file as the change leaves it. Throws where the source is not what the change expects any more. */
export function changedSource({ file, find, replace }: Omit<Mutant, 'name'>, tree = ROOT): string {
  const source = readFileSync(join(tree, 'src', file), 'utf8');
  // No AssertionError, which tests of broken builds take for what the build did wrong.
  if (source.split(find).length !== 2) throw new Error(`"${find}" has to stand once in ${file}`);
  return source.replace(find, () => replace);
}

/** Imports a module of a copy of the tree that has been changed, and calls `use` with it. */
export async function onChangedBuild<T, R>(
  changes: readonly Omit<Mutant, 'name'>[],
  module: string,
  use: (exported: T) => Promise<R>,
): Promise<R> {
  const tree = mkdtempSync(join(tmpdir(), 'flagstaff-mutant-'));
  try {
    for (const path of COPIED) cpSync(join(ROOT, path), join(tree, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    for (const change of changes) {
      writeSource(join(tree, 'src', change.file), changedSource(change, tree));
    }
    return await use((await import(pathToFileURL(runnable(join(tree, module))).href)) as T);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Runs the simulation on a build with one line changed; the failure that it finds is the result. */
export function runMutant(mutant: Mutant, options: RunOptions): Promise<RunResult> {
  return onChangedBuild<typeof import('./run-seeds.ts'), RunResult>(
    [mutant],
    'test/simulation/run-seeds.ts',
    ({ runSeeds }) => runSeeds(options),
  );
}
