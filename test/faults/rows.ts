/**
 * Every fault that the server is built to survive: what is promised, and the tests that hold it to that. A test is
 * named by its file and by words of its title, which have to stand in the file: render.ts refuses a page that names
 * a test that is not there.
 */

export interface TestName {
  /** Below `test`. */
  readonly file: string;
  readonly title: string;
}

export interface FaultRow {
  readonly fault: string;
  readonly promise: string;
  readonly tests: readonly TestName[];
  /** The long forms (long-forms.ts) that belong to it. */
  readonly longForms?: readonly string[];
}

const named =
  (file: string) =>
  (...titles: readonly string[]): TestName[] =>
    titles.map((title) => ({ file, title }));

const cluster = named('addons/replication/replica.test.ts');
const simulation = named('simulation/simulation.test.ts');
const powerCut = named('persistence/recovery/power-cut.test.ts');
const tornTail = named('persistence/recovery/torn-tail.test.ts');
const damage = named('persistence/recovery/damaged-journal.test.ts');
const oldHistory = named('actors/history-check.test.ts');
const recovery = named('persistence/recovery/recovery.test.ts');
const snapshot = named('persistence/snapshots/snapshot.test.ts');
const io = named('persistence/journal/io-faults.test.ts');
const zeros = named('persistence/journal/preallocation.test.ts');
const lock = named('persistence/disk/folder-lock.test.ts');
const payload = named('persistence/journal/frame-payload.test.ts');
const engine = named('actors/engine.test.ts');
const states = named('actors/state/equal-states.test.ts');
const durability = named('http/interface/durability.test.ts');
const overload = named('http/interface/overload.test.ts');
const limits = named('http/transport/limits.test.ts');
const framing = named('http/transport/framing.test.ts');
const failures = named('http/transport/failures.test.ts');
const jsonBody = named('http/body/json-body.test.ts');
const jsonPatch = named('domain/json/json-patch.test.ts');
const matcher = named('http/serving/route-matcher.test.ts');

const SEEDS = 'lose nothing that was acknowledged or read, and meet every trouble';

export const FAULT_ROWS: readonly FaultRow[] = [
  {
    fault: 'The process is killed under load',
    promise: 'Nothing acknowledged is lost.',
    tests: [
      ...named('faults/kill.test.ts')('nothing acknowledged is lost when the process is killed under load'),
    ],
    longForms: ['kills'],
  },
  {
    fault: 'The power is cut: unsynced data is kept, lost, or torn',
    promise: 'Every such disk recovers all that was acknowledged or read.',
    tests: [
      ...powerCut(
        'the power cut at any call, unsynced writes',
        'life after life cut short, also while recovering',
      ),
      ...simulation(SEEDS),
    ],
    longForms: ['simulation', 'power cuts'],
  },
  {
    fault: 'The power is cut after a restart has read the unsynced tail of a killed process',
    promise: 'Recovery makes the tail durable before it can be read.',
    tests: [
      ...powerCut(
        'nor does a power cut right after the restart',
        'lives on a little, and a power cut then loses nothing',
      ),
      ...simulation('is found out'),
    ],
    longForms: ['broken builds'],
  },
  {
    fault: 'A write is torn, at any byte',
    promise: 'The exact prefix is recovered, and a second restart is identical.',
    tests: tornTail('a journal cut at any byte', 'a batch torn page by page'),
  },
  {
    fault: "Bits flip in the zeros ahead of the journal's end",
    promise: 'The zeros are cut off; zeros in place of data are refused.',
    tests: zeros(
      'a killed process leaves zeros, which the next start cuts off',
      'a bit that flips in the zeros loses nothing',
      'zeros over what had been on disk are damage',
      'a batch that reaches into zeros being written waits for them',
    ),
  },
  {
    fault: 'Bits flip in the journal; frames or segments are dropped, doubled, swapped or restored',
    promise: 'Refused, naming the place; never a smaller or another state.',
    tests: [
      ...damage(
        'every single bit flip in a cleanly closed journal is refused',
        'a frame dropped, doubled, zeroed or swapped with the next is refused',
        'two segments that swapped their names are refused',
      ),
      ...simulation(SEEDS),
    ],
    longForms: ['simulation'],
  },
  {
    fault: 'Bits flip in old history',
    promise:
      'Found in the background: the server continues, names the place, and shows nothing of that file. A missing, cut or swapped file, or damage after the snapshot, refuses the start.',
    tests: [
      ...oldHistory(
        'is served on where a bit has flipped, and the check names the place, after each start',
        'is searched where it is whole, and the events of a damaged file are named as left out',
        'is read again at each interval, and says what has gone bad or missing since the start',
        'keeps the server from starting where a file is missing, cut, or another one',
        'does not reach behind the snapshot: damage there keeps the server from starting',
      ),
      ...named('main.test.ts')(
        'serves on with damage in old history that the snapshot holds, and says so on /health',
      ),
      ...simulation(SEEDS),
    ],
    longForms: ['simulation'],
  },
  {
    fault: 'A damaged frame with good ones after it',
    promise: 'Refused: it is no torn tail.',
    tests: damage('a zeroed frame with good batches after it is damage even when there is no mark'),
  },
  {
    fault: 'A damaged snapshot',
    promise: 'An older one and the journal give the same state, or the start is refused.',
    tests: [
      ...snapshot(
        'every flipped bit of a snapshot shows',
        '10,000 random flips in a larger snapshot show',
        'a snapshot cut at any length shows',
      ),
      ...recovery(
        'any bit flipped in the newest snapshot is noticed',
        'a damaged snapshot is set aside under another name',
      ),
    ],
  },
  {
    fault: 'A snapshot is interrupted',
    promise: 'The old ones stay until the new one was read back.',
    tests: snapshot(
      'a snapshot interrupted at any call leaves the old ones good',
      'the power cut at any call of a snapshot',
    ),
  },
  {
    fault: 'The disk is full',
    promise: 'Writes are refused while there is a reserve; past it the process ends.',
    tests: [
      ...io('a disk of any size that fills up never acknowledges falsely'),
      ...overload('a disk that is almost full refuses writes and answers reads'),
      ...named('faults/full-disk.test.ts')(
        'stops the store at the first short write',
        'under a real process is refused by the reserve',
      ),
    ],
    longForms: ['full disk'],
  },
  {
    fault: 'A call to the disk fails, also during recovery',
    promise: 'The process ends; the next start misses nothing acknowledged.',
    tests: [
      ...io('an I/O error at any call'),
      ...named('faults/failed-deletion.test.ts')('a segment whose deletion failed is the first to go'),
      ...simulation(SEEDS),
    ],
    longForms: ['simulation'],
  },
  {
    fault: 'A call to the disk fails during a start',
    promise: 'It ends with 74, or 65 for a damaged file, and names the file; the next start serves.',
    tests: [...named('persistence/disk/failing-start.test.ts')('ends with 74 and the name of the file when')],
    longForms: ['failing start'],
  },
  {
    fault: 'A full disk, a kill or a power cut at any write of the first start',
    promise: 'The next start serves and signs.',
    tests: [...named('addons/audit/interrupted-start.test.ts')('may end at any write on')],
    longForms: ['interrupted start'],
  },
  {
    fault: 'A sync fails, and the next one would succeed',
    promise: 'The batch is never answered or retried; exit code 74.',
    tests: [
      ...named('persistence/journal/journal.test.ts')('ends the journal: no acknowledgement, no retry'),
      ...io('a sync that fails once and would succeed the next time acknowledges nothing'),
      ...named('faults/failed-sync.test.ts')(
        'leaves its batch and all after it without a response',
        'takes nothing back that a restart then shows, not even by a power cut',
        'ends with 74, says where, and has answered no write of the batch',
      ),
    ],
    longForms: ['failed sync'],
  },
  {
    fault: 'The disk hangs',
    promise: 'Reads continue; queues are bounded; writes that wait too long get 503.',
    tests: [
      ...named('faults/stalled-sync.test.ts')('answers settled reads at once, and 503 with Retry-After'),
      ...engine('does not begin a command that waited too long'),
      ...simulation(SEEDS),
    ],
  },
  {
    fault: 'The clock jumps back, far ahead, or stops',
    promise: 'Events are ordered by id, and their times never go back.',
    tests: [
      ...engine(
        'never records a time before that of the event before',
        'measures waiting by a clock that does not jump',
      ),
      ...named('actors/store.test.ts')('never goes back in time after a restart, though the clock did'),
      ...simulation(SEEDS),
    ],
    longForms: ['simulation'],
  },
  {
    fault: 'Two processes want one data folder',
    promise: 'The second ends with 75 before it touches a byte; a dead one leaves no lock.',
    tests: [
      ...lock('a killed process leaves no lock behind, again and again'),
      ...named('main.test.ts')(
        'ends with 75, before touching a byte',
        'ends with 75 when a server runs on the folder whose lock file somebody deleted',
      ),
      ...named('faults/restart-races.test.ts')('of two servers that race for the folder of a killed one'),
    ],
    longForms: ['restart races'],
  },
  {
    fault: 'Files are missing, foreign, renamed, or of a newer format',
    promise: 'A precise refusal; never a fresh start over what was lost.',
    tests: recovery(
      'recovery knows the case',
      'a journal file or snapshot that was renamed is refused',
      'files of a newer format are refused',
    ),
  },
  {
    fault: 'The oldest journal files, the whole journal, or its open file is deleted',
    promise: 'A start is refused; a server stops within a second of writes.',
    tests: [
      ...recovery(
        'recovery knows the case',
        'the whole journal gone, its mark included, is no fresh start',
        'a folder without a record of where its log begins starts and gets one',
        'every bit flip in the record of where the log begins is noticed',
      ),
      ...named('persistence/journal/presence.test.ts')(
        'the first write after a second is not acknowledged, and the journal ends',
        'a segment that is gone is noticed when the next one begins, however soon',
      ),
      ...named('main.test.ts')('ends with 74 and one line in the log when somebody deletes'),
    ],
  },
  {
    fault: 'A server deletes files that a command reads, or does not respond to it',
    promise: 'The result is whole and begins later; the command gives up after 10 seconds.',
    tests: [
      ...named('cli/vanishing-files.test.ts')('backup copies those that are kept, and the copy starts'),
      ...named('control/control-server.test.ts')('nobody waits for it for ever, nor for its snapshot'),
    ],
  },
  {
    fault: 'Retention deletes events',
    promise: 'Every moment of the kept days can be restored.',
    tests: named('persistence/event-log/retention.test.ts')(
      'can be gone back to, each of them, while journal and snapshots stay bounded',
    ),
  },
  {
    fault: 'A crash during recovery',
    promise: 'Recovery can begin again, any number of times.',
    tests: [...powerCut('life after life cut short, also while recovering'), ...simulation(SEEDS)],
    longForms: ['simulation'],
  },
  {
    fault: 'Hostile content under valid checksums',
    promise:
      'Refused with its place; no crash, no memory spent on claims. What a start takes, a replay takes, with the same state.',
    tests: [
      ...recovery('hostile content with valid checksums is refused with its place'),
      ...payload('hostile content with a valid checksum is refused by what is wrong with it'),
      ...named('faults/sealed-changes.test.ts')(
        'takes or refuses content that was changed under right checksums, and never fails by itself',
      ),
    ],
    longForms: ['changes under right checksums'],
  },
  {
    fault: 'Live state and recovered state differ',
    promise: 'Hashes are equal after any commands; values that cannot be restored exactly are refused.',
    tests: [
      ...states('is the same live, replayed from nothing, from snapshot and journal'),
      ...named('addons/edge/hostile-values.test.ts')(
        'are kept exactly where they can be',
        'are refused with 400 where they cannot',
        'are kept or refused, any of them',
      ),
      ...simulation(SEEDS),
    ],
    longForms: ['simulation'],
  },
  {
    fault: 'A read shows what a crash takes back',
    promise: 'No read and no refusal shows what is not on disk.',
    tests: [
      ...durability(
        'a change is not answered, and not seen by any read, before it is on disk',
        'refusals and responses without change wait for what they depend on',
      ),
      ...simulation(SEEDS),
    ],
    longForms: ['simulation'],
  },
  {
    fault: 'Clients that do not read',
    promise: 'Memory is bounded, and others are served.',
    tests: [
      ...limits('responses that nobody reads cost no memory each'),
      ...named('http/transport/byte-budget.test.ts')(
        'those made for one request each stay within the limit',
        'a body that is shared costs its size once',
      ),
      ...named('faults/slow-readers.test.ts')('readers who never read cost no copy of the response each'),
    ],
    longForms: ['slow readers'],
  },
  {
    fault: 'A thousand clients at once after a start',
    promise: 'No turn of the event loop takes 20 ms; searches beyond the limit get 503.',
    tests: [
      ...named('http/transport/request-rounds.test.ts')(
        'is taken a few requests at a time, and each gets its response',
      ),
      ...named('actors/turn.test.ts')(
        'lets those who waited for the same thing go on a few in a round, in their order',
      ),
    ],
    longForms: ['request storms'],
  },
  {
    fault: 'Hostile callers of every kind, little memory, and kills',
    promise: 'Others are served, nothing acknowledged is lost, and every start succeeds.',
    tests: named('addons/sdk/soak/soak.all.test.ts')('friendly clients among hostile ones lose nothing'),
    longForms: ['soak'],
  },
  {
    fault: 'Clients that do not send',
    promise: 'Closed at a deadline for the whole request.',
    tests: limits(
      'a body that arrives too slowly is refused with 408',
      'a head that does not arrive ends the connection',
      'a connection idle after a response is closed',
    ),
  },
  {
    fault: 'Large bodies that are never finished',
    promise: 'Callers without the right use no memory; the caller that has held most longest gives way.',
    tests: [
      ...named('faults/unfinished-bodies.test.ts')('of callers without a token are refused by their heads'),
      ...named('http/transport/bodies.test.ts')(
        'the one that has held most for longest gives way',
        'a client that spreads its bytes over many connections gives way to one with more on a single one',
        'large bodies do not keep small ones out',
      ),
    ],
  },
  {
    fault: 'Bodies, heads, paths and patches beyond their limits',
    promise: '413, 431, 414 or 400, with memory flat.',
    tests: [
      ...limits(
        'body is taken up to 1 MiB and refused with 413',
        'a head of 15 KiB is taken',
        'a path and query are taken up to their limit',
        'a chunked body that goes on and on is cut off',
      ),
    ],
  },
  {
    fault: 'Flags that grow without end',
    promise: '400; what is beyond the limit stays and can shrink.',
    tests: [
      ...named('faults/limits/growth.test.ts')(
        'is refused with 400 whichever way it comes',
        'is refused in a rollback and in its dry run',
        'hinders nobody to read, switch and shrink what is there',
      ),
    ],
  },
  {
    fault: 'A state that fits in memory only while flags share parts',
    promise: '507 in time; what was accepted loads with the same settings.',
    tests: [
      ...named('faults/limits/memory.test.ts')(
        'refuses what makes it larger with 507',
        'refuses clones before a restart could not load them any more',
      ),
      ...named('domain/decide/random-commands.test.ts')(
        'the memory of the state is what counting it anew gives',
      ),
      ...named('domain/json/memory-size.test.ts')('grows by the difference of the sizes'),
      ...simulation(SEEDS),
    ],
    longForms: ['simulation'],
  },
  {
    fault: 'An import or export larger than the memory',
    promise: 'Read and written flag by flag.',
    tests: [
      ...named('actors/large-documents.test.ts')(
        'is read flag by flag',
        'is exported flag by flag',
        'with 12,000 flags in a project, and one nested as deep as a request may be',
      ),
      ...named('http/body/json-parts.test.ts')('is refused with place and reason'),
    ],
  },
  {
    fault: 'Malformed framing, with a request hidden behind it',
    promise: 'The hidden request never runs.',
    tests: framing(
      'neither it nor a canary in the same packet runs',
      'a canary that comes later does not run either',
      'the canary does run behind a well-formed request',
    ),
  },
  {
    fault: 'A hostile value in any field',
    promise: 'Refused with its field; what is accepted can be loaded, served, exported and imported.',
    tests: [
      ...named('addons/edge/hostile-values.test.ts')('are accepted or refused with the field'),
      ...named('addons/sdk/frontend-origins.test.ts')(
        'are ignored and named in the log where a folder has some',
      ),
    ],
    longForms: ['hostile fields'],
  },
  {
    fault: 'Deep or hostile JSON',
    promise: '400, and alive.',
    tests: jsonBody(
      'nesting is read up to the limit and refused beyond it, also a million levels deep',
      'a name given twice in one object is refused',
      'bytes that are not UTF-8 are refused',
      'what could not be kept is refused with its path',
    ),
  },
  {
    fault: 'Prototype pollution by patches and names',
    promise: '400; nothing inherited is reached.',
    tests: jsonPatch(
      'no operation may name the way to a prototype, in any position of path or from',
      'nothing inherited can be read, moved, tested or built upon',
      'the library alone would be led to the prototype of all objects, the guard is not',
    ),
  },
  {
    fault: 'Tricks with paths',
    promise: 'Each resource has one spelling; names never reach the file system.',
    tests: matcher('another spelling of a path names nothing', 'a parameter with bad encoding says so'),
  },
  {
    fault: 'Guessed tokens',
    promise: 'Unknown, cut, expired and revoked ones get the same response, on every route.',
    tests: named('faults/token-guessing.test.ts')(
      'get the same response on every route, whatever is wrong with them',
    ),
  },
  {
    fault: 'A thousand addresses guess passwords and links',
    promise: 'Whoever has signed in from an address gets in; others may wait.',
    tests: named('addons/people/password-checks.test.ts')(
      'beside a thousand addresses that have not',
      'bounds those at one user from all addresses, but not where the user has signed in before',
      'counts links apart from passwords',
    ),
    longForms: ['hostile sign-ins'],
  },
  {
    fault: 'Header injection',
    promise: 'Nothing that a client sends becomes a header.',
    tests: [
      ...named('faults/header-injection.test.ts')('is not possible by paths, queries, headers or names'),
      ...failures('is never sent: the client gets 500'),
    ],
  },
  {
    fault: 'A flood of writes while the disk hangs',
    promise: 'What waits is bounded and answered afterwards; the rest gets 503.',
    tests: [
      ...named('faults/stalled-sync.test.ts')(
        'writes offered while the disk hangs some wait, the rest is refused',
      ),
      ...overload('a full mailbox refuses at once, for its project alone'),
    ],
    longForms: ['stalled sync'],
  },
  {
    fault: 'A dependency throws behind a route',
    promise: '500 with an id for the log; nothing changes or hangs.',
    tests: [
      ...named('faults/throwing-dependencies.test.ts')('is a 500, and nothing hangs'),
      ...failures('answers 500, and the connection goes on'),
    ],
  },
  {
    fault: 'The process is asked to stop under load',
    promise: 'It ends with 0, and nothing answered is lost.',
    tests: named('faults/shutdown.test.ts')(
      'nothing answered is lost when the process is asked to stop under load',
    ),
    longForms: ['shutdown'],
  },
  {
    fault: 'A snapshot cannot be decoded or loaded',
    promise: 'None gets its name before it was decoded. A start uses an older one, or the journal.',
    tests: [
      ...snapshot(
        'a snapshot whose checksums are right and whose records cannot be decoded is not a good one',
        'a block with an outline whose checksums are right and whose parts do not fit',
        'a snapshot gets its name only when every record in it decodes to what was written',
      ),
      ...recovery('a snapshot that verifies and cannot be loaded leads to the older one'),
    ],
  },
  {
    fault: 'A sector of any file cannot be read',
    promise:
      'An older snapshot is used; a journal file is refused with its place; `verify` names every place.',
    tests: [
      ...named('persistence/recovery/unreadable-sectors.test.ts')(
        'in a segment: the start is refused with file, offset and last good event',
        'in a segment: verifying names every one of several places',
        'in the newest snapshot: an older one is used',
        'in the durable mark: one slot is enough',
      ),
      ...named('persistence/event-log/unreadable-events.test.ts')(
        'are named with file and offset to whoever asks for',
        'do not keep the others from being shown',
      ),
      ...named('cli/unreadable-sectors.test.ts')(
        'in a journal file: restore and backup refuse with file, offset and last good event',
        'in an old journal file of a running server: backup says which file it could not copy',
        'restore uses an older one, and comes to the same state',
      ),
      ...named('addons/repair/repair.test.ts')(
        'keeps the newest state where the disk cannot read a sector of',
      ),
    ],
  },
  {
    fault: 'A command reads a damaged or incomplete folder',
    promise: 'It refuses as a start does: 0 means that nothing was missing.',
    tests: named('cli/damaged-folders.test.ts')('is refused by every reading command when'),
  },
  {
    fault: 'The clock is wrong by ten years, for less than a day',
    promise: 'Retention deletes nothing by it.',
    tests: named('persistence/event-log/retention.test.ts')(
      'deletes nothing by one reading, nor after a restart',
    ),
  },
  {
    fault: 'A change is too large for a frame, or looks like code to an encoder',
    promise: 'Refused before anything is applied; the process continues.',
    tests: [
      ...engine(
        'refuses a change of more bytes than the journal takes before anything of it happens',
        'refuses a bulk change of more values than a frame may hold, and carries it out in parts',
        'refuses to let a flag grow beyond what a snapshot can hold',
        'keeps what looks like code in data as data',
      ),
    ],
  },
  {
    fault: 'Callers with few rights ask for much',
    promise: 'Few run at a time, in turn; the rest gets 503.',
    tests: [
      ...named('http/interface/log-reads.test.ts')(
        'end when they reach their bytes, and say where the next one starts',
        'of one caller leave room for another one, whose read does not wait behind them',
        'beyond the queue are refused with 503 and Retry-After, those of the busiest caller first',
      ),
      ...named('actors/fair-queue.test.ts')('one caller never has all places'),
      ...limits('connections beyond their budget are closed, with one warning'),
      ...named('http/serving/probes.test.ts')('the metrics are made once for all who ask within a second'),
    ],
  },
  {
    fault: 'Callers whose requests take long, each within its limits',
    promise: 'Together they get a fifth of the time; others do not wait.',
    tests: [
      ...named('http/interface/long-requests.test.ts')('gets its responses in turn'),
      ...named('actors/long-requests.test.ts')(
        'run one in a round of the event loop, callers in turn',
        'are refused when too many bytes wait',
        'are not begun when their clients have left',
      ),
      ...named('actors/loop-accounts.test.ts')('charge who holds the loop for long, and nobody else'),
      ...named('actors/scheduler.test.ts')('ends a turn that has lasted long enough'),
    ],
    longForms: ['soak'],
  },
  {
    fault: 'The most expensive rules and contexts that are allowed',
    promise:
      'Costs are bounded, and authors warned; no turn of the event loop takes 20 ms of processor time.',
    tests: [
      ...named('addons/sdk/evaluation/cost.test.ts')(
        'are tested in steps on every surface, whatever the context',
      ),
      ...named('http/serving/rule-warnings.test.ts')('may take 30 ms to evaluate for the longest context'),
      ...named('domain/growth/refuse-growth.test.ts')(
        'bounds what all strategies of a flag in an environment may take together',
      ),
    ],
    longForms: ['slow rules'],
  },
  {
    fault: 'All budgets are used at once',
    promise: 'The process stays within [the sum](docs/limits.md#sum-of-the-memory), and serves others.',
    tests: [
      ...named('limits/everything-full.all.test.ts')(
        'read by everybody at once and by most never to the end',
      ),
    ],
    longForms: ['everything full'],
  },
  {
    fault: 'Each limit is filled',
    promise: 'What was accepted can be read, exported, imported, loaded after a kill, changed and deleted.',
    tests: [
      ...named('addons/edge/hostile-values.test.ts')('give the same state after a restart from the journal'),
    ],
    longForms: ['rows of the limits'],
  },
  {
    fault: 'A migration from Unleash is killed at any step, or the source changes meanwhile',
    promise:
      'No flag is on for fewer users, nor switched where the source did not; run again, it does the rest.',
    tests: [
      ...named('addons/migration/random-runs.test.ts')(
        'makes nothing less on, and ends equal',
        'only where the source did, once, and end equal',
      ),
      ...named('addons/migration/migrate.test.ts')(
        'leaves a flag on that is on where what it should become is refused',
        'reads a source in which flags vanish meanwhile',
      ),
    ],
    longForms: ['migration from Unleash', 'migration each minute'],
  },
  {
    fault: "A cluster's log is lost or recreated, or a node belongs to another cluster",
    promise: 'Nobody leads on another history, and each node says what to do.',
    tests: [
      ...named('addons/replication/history.test.ts')(
        'while nodes run: none leads, each says what to do, and none makes it anew',
        'and begun anew by somebody else: the nodes that ran before end, and do not start on it',
        'is refused by the data folder of another one, which nothing changes',
        'keeps what it acknowledged meanwhile: it refuses to join, and cuts nothing off',
      ),
      ...named('addons/replication/faults/wrong-setups.test.ts')(
        'have no stream of its cluster is refused, and makes none',
      ),
    ],
  },
  {
    fault: "A node's clock is wrong, nobody reaches it, or an older version cannot read what it writes",
    promise: 'It says so, and lets the others lead.',
    tests: [
      ...named('addons/replication/eligibility.test.ts')(
        'makes a leader hand over, and keeps the node from leading until it is right',
        'is named by the node and by the others, and a leader with one hands over',
        'goes first, so that nothing is written that it cannot read, unless it hands over',
      ),
    ],
  },
  {
    fault: 'A follower is read, and a disk is lost',
    promise: 'Limits count the caller, and every node all reports, once.',
    tests: [
      ...named('addons/replication/cluster.test.ts')(
        'count wrong passwords by the caller, whichever node he asks',
      ),
      ...named('addons/replication/faults/shared-usage.test.ts')(
        'every node tells of all reports, also after its disk was lost',
      ),
    ],
  },
  {
    fault: 'A data folder is restored or copied, and continues',
    promise: 'New events have other ETags: no stale 304, no lost update under If-Match.',
    tests: named('http/interface/conditional.test.ts')(
      'a copy of a data folder gives its own events other ETags',
      'a folder put back in place answers no stale 304, and If-Match loses no update',
    ),
  },
  {
    fault: 'The client, the deadline or the rights of waiting work are gone',
    promise: 'It is not begun.',
    tests: [
      ...engine('does not begin a command that waited too long'),
      ...named('http/interface/late-commands.test.ts')(
        'is refused when its user was deleted meanwhile, and changes nothing',
        'is not carried out when its client has gone',
      ),
      ...named('http/interface/log-reads.test.ts')(
        'are not begun, or not gone on with, for a client that has left',
        'for a rollback end with the client, and nothing is changed',
      ),
    ],
  },
  {
    fault: 'A leader is cut off from the log, its disk hangs or is full, or its event loop is blocked',
    promise:
      'Within 5 seconds it does not lead, and is not ready unless it follows; another node takes writes within 8.',
    tests: [
      ...cluster(
        'says so within 3 seconds, and decides nothing any more',
        'follows after 5 seconds, in the same process',
        'that hangs makes another node lead within 8 seconds, and nothing is lost',
        'that is full makes it hand over to a node that has room',
      ),
      ...named('addons/replication/simulation/cluster-mutants.all.test.ts')(
        'leads on although its disk hangs',
      ),
    ],
    longForms: ['stricken leaders'],
  },
  {
    fault: 'Leaders are killed or struck again and again',
    promise:
      'Nothing acknowledged is lost, doubled or reordered, nothing shown is taken back; writes succeed within 2 seconds (median), 5 at worst.',
    tests: [
      ...named('addons/replication/faults/cluster.test.ts')(
        'nothing acknowledged is lost or there twice when leaders are killed under load',
      ),
      ...named('addons/replication/simulation/cluster-simulation.test.ts')(
        'show one history on all nodes, and meet every trouble',
      ),
    ],
    longForms: ['killed leaders', 'mixed faults of clusters', 'simulation of clusters'],
  },
  {
    fault: 'Most servers of the replicated log are down',
    promise:
      'Nodes show the last committed state without waiting; each write hears within 5 seconds whether it may have happened, and is there once or never.',
    tests: [
      ...cluster(
        'keeps no read waiting: every node shows the last decided state',
        'leaves no write without a word',
        'has the write in doubt once when it is back, or never',
      ),
      ...named('actors/uncommitted.test.ts')(
        'shows the decided state before, between and after the turns of any commands',
      ),
    ],
    longForms: ['lost quorum'],
  },
  {
    fault: 'A single damage to the journal, with a copy at hand',
    promise: '`repair --from` takes exactly what is lost, and keeps the rest.',
    tests: named('addons/repair/mend.test.ts')(
      'loses no event, whatever single damage a copy is at hand for',
      'takes from an old backup what is lost, and keeps what came after the backup',
      'refuses a copy that lacks what is lost, and one of another history',
    ),
    longForms: ['single damages'],
  },
  {
    fault: 'The same, without a copy',
    promise: '`repair` keeps the newest state, or everything before the damage; the rest is set aside.',
    tests: named('addons/repair/repair.test.ts')(
      'keeps one side of a single damage, whatever it is, and the other can be restored from what was set aside',
    ),
    longForms: ['single damages without a copy'],
  },
  {
    fault: 'The same, on a cluster node with an archive',
    promise: '`repair --from archive` takes exactly what is lost.',
    tests: named('addons/replication/faults/archive-repair.test.ts')(
      'takes what an old file has lost, is what was signed, and the node goes on',
      'needs no log: the archive alone has what is lost',
    ),
  },
  {
    fault: 'An attacker changes history and recomputes checksums',
    promise: 'The public key and one signed head kept elsewhere show it.',
    tests: named('addons/audit/command.test.ts')(
      'finds another author, which no checksum shows',
      'finds that the oldest events were deleted, where no signed head says so',
      'finds the folder of last week in place of that of today',
      'who has the private key too cannot change what a kept head stands for',
    ),
  },
];
