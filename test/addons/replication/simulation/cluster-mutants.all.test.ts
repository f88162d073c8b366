/** Broken builds of clusters, each of which the simulation has to find out; one more is in cluster-simulation.test.ts. */
// Own process: it takes long.
import { testBroken } from './broken-clusters.ts';

testBroken([
  {
    name: 'takes an unknown outcome for a success',
    file: 'addons/replication/replicated-commit-log.ts',
    find: "if (outcome.kind === 'accepted') {",
    replace: "if (outcome.kind !== 'conflict') {",
  },
  {
    name: 'takes a record of another node for its own',
    file: 'addons/replication/replicated-commit-log.ts',
    find: "if (found !== null) throw new FencedError('another node took over');",
    replace: 'if (found !== null) return true;',
  },
  {
    name: 'leads on without an answer of the log',
    act: 'cutOffLeaders',
    file: 'addons/replication/replica-options.ts',
    find: 'const CUT_OFF_MS = 2_500;',
    replace: 'const CUT_OFF_MS = 250_000;',
  },
  {
    name: 'keeps what the log refused',
    file: 'addons/replication/cluster-node.ts',
    find: '        await cutJournal(fs, folder, place);\n',
    replace: '',
  },
  {
    name: 'has the log forget what is not archived yet',
    file: 'addons/replication/archivist.ts',
    find: 'Math.min(forgettableId(run, archiveMarginBytes), this.#neededFrom)',
    replace: 'this.#options.engine.durableId',
  },
  {
    name: 'decides without asking whether the condition of a change holds',
    file: 'actors/command-decider.ts',
    find: ' ?? submission.precondition?.(world) ?? null;',
    replace: ' ?? null;',
  },
  {
    name: 'shows what the log has not decided yet',
    file: 'actors/store.ts',
    find: 'showsCommittedOnly: options.commitLog !== undefined',
    replace: 'showsCommittedOnly: false',
  },
  {
    name: 'leads on although its disk hangs',
    act: 'hungLeaders',
    file: 'addons/replication/leadership.ts',
    find: 'return Math.max(commitLog.unconfirmedMs, engine.journal.uncommittedMs);',
    replace: 'return Math.max(commitLog.unconfirmedMs, 0 * engine.journal.uncommittedMs);',
  },
  {
    name: 'stands although its disk is full',
    file: 'addons/replication/candidacy.ts',
    find: '|| !journal.writable ||',
    replace: '||',
  },
  {
    name: 'keeps the parts of a batch that its leader did not finish',
    file: 'addons/replication/record-reader.ts',
    find: "this.#leader = by.address === '' ? null : by;\n    this.#parts = [];\n",
    replace: "this.#leader = by.address === '' ? null : by;\n",
  },
  {
    name: 'takes a part of a batch for all of it',
    file: 'addons/replication/record-reader.ts',
    find: 'if (this.#parts.length < record.parts)',
    replace: 'if (this.#parts.length < record.parts - 1)',
  },
  {
    name: 'shows less than a reader asked for',
    file: 'http/serving/cluster.ts',
    find: 'if (id <= this.#engine.durableId) return null;',
    replace: 'if (id <= this.#engine.durableId + 2) return null;',
  },
  {
    name: 'records times that go back when another node leads',
    file: 'actors/engine.ts',
    find: 'return Math.max(this.#options.clock.now(), this.#recorder.lastAt);',
    replace: 'return this.#options.clock.now();',
  },
  {
    name: 'goes on with a log that has lost what was acknowledged',
    act: 'lostTails',
    file: 'addons/replication/log-watch.ts',
    find: 'if (last < known)',
    replace: 'if (last < 0)',
  },
  {
    name: 'leaves a damaged file of journal as it is',
    file: 'addons/replication/mend.ts',
    find: 'await fs.rename(temporary, path);',
    replace: '',
  },
  {
    name: 'skips an archived segment when a node joins',
    file: 'addons/replication/join.ts',
    find: 'await replaceFile(fs, path, content, { durable: true });',
    replace: 'if (reached === from) await replaceFile(fs, path, content, { durable: true });',
  },
]);
