/** `flagstaff cluster`: beginning one, what a node knows of it, and handing over. */
import { randomBytes } from 'node:crypto';
import { askRunningServer } from '../../host/ask-running-server.ts';
import {
  type AddCommand,
  type CommandContext,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
  withJson,
} from '../../host/command.ts';
import { CommandFailure, misuse } from '../../host/command-failure.ts';
import { fields, printable } from '../../host/format.ts';
import { OperationError } from '../../operations/operation-error.ts';
import { dataFolder } from '../../persistence/disk/data-folder.ts';
import { lockFolder } from '../../persistence/disk/folder-lock.ts';
import { newHistoryId, readLogHistory, writeLogHistory } from '../../persistence/journal/log-history.ts';
import { type JournalEnd, readJournalEnd } from '../../persistence/recovery/journal-end.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { type ClusterConfig, clusterConfig } from './cluster-config.ts';
import type { ClusterStatus } from './node-parts.ts';
import type { ArchiveView, PeerView, ReplicaView } from './node-view.ts';
import { openLog, type Shared } from './open-cluster.ts';
import { encodeRecord } from './record-format.ts';
import type { ReplicatedLog } from './replicated-log.ts';
import { roleText } from './role-text.ts';

export const addCluster: AddCommand = (program, context) => {
  const cluster = program
    .command('cluster')
    .description('Create a cluster, inspect the cluster of a running server, and hand over.');
  withCommonOptions(cluster.command('status'))
    .description('Show the role of this node, the leader, and the recently seen nodes.')
    .action(async (options: CommonOptions) => {
      const { view, archive } = (await askNode(context, options, 'cluster')) as ClusterStatus;
      printResult(context, options, { ...view, archive }, clusterText(view, archive));
    });
  withCommonOptions(cluster.command('handover'))
    .description('Hand the leadership to another node. This node must be the leader; it then follows.')
    .addHelpText(
      'after',
      `
The command reaches the server through a socket in its data folder. Writes in progress get their responses first;
further ones wait a moment, or get 503 with Retry-After.`,
    )
    .action(async (options: CommonOptions) => {
      await askNode(context, options, 'hand-over');
      printResult(context, options, {}, 'This node has handed over and follows.');
    });
  withJson(cluster.command('init'))
    .description('Create a new cluster: its stream and its own history.')
    .addHelpText('after', INIT_HELP)
    .action((options: CommonOptions) => init(context, options));
  withCommonOptions(cluster.command('republish'))
    .description('Recreate the log of a cluster after the end of this journal, and continue its history.')
    .addHelpText('after', REPUBLISH_HELP)
    .action((options: CommonOptions) => republish(context, options));
};

const INIT_HELP = `
The settings are those of the server, REPLICATION_URL, REPLICATION_CLUSTER and the others. Run it once, then start the
nodes, each with an empty data folder. Servers never create a stream themselves, so a lost one is not recreated by accident.

Example:
  REPLICATION_URL=nats://log-1:4222 REPLICATION_CLUSTER=production flagstaff cluster init`;

const REPUBLISH_HELP = `
The settings are those of the server, REPLICATION_URL, REPLICATION_CLUSTER and the others; the server must be stopped, and
the stream be empty or not there. For a server that ran alone and becomes the first node of a cluster, and after the log was
lost: take the node whose journal ends with the newest event. Start the other nodes on a copy of its data folder, which
"flagstaff backup" makes.

Example:
  REPLICATION_URL=nats://log-1:4222 REPLICATION_CLUSTER=production flagstaff cluster republish -d /srv/flagstaff`;

function settingsOf({ terminal }: CommandContext): ClusterConfig {
  const config = clusterConfig(terminal.env);
  if (config === null) throw misuse('Set REPLICATION_URL to the servers of the log.');
  return config;
}

/** Opens the log, which it makes where there is none, for as long as `use` takes. */
async function withLog<T>(
  { terminal }: CommandContext,
  config: ClusterConfig,
  use: (shared: Shared) => Promise<T>,
): Promise<T> {
  const say = (_: object, message: string): void => terminal.err(message);
  const shared = await openLog(config, { info: say, warn: say }, { make: true });
  try {
    return await use(shared);
  } finally {
    await shared.log.close();
  }
}

async function init(context: CommandContext, options: CommonOptions): Promise<void> {
  const config = settingsOf(context);
  const { cluster } = config;
  await withLog(context, config, async ({ log, archive }) => {
    if (archive !== null && (await archive.list()).length > 0) {
      throw new OperationError(
        'occupied',
        `The archive of the name "${cluster}", the bucket FLAGSTAFF_${cluster}, holds another history already; no history was begun. Name the cluster otherwise, or delete the bucket (nats object del FLAGSTAFF_${cluster}).`,
      );
    }
    const begun = await begin(log, config, { history: newHistoryId(), end: NOTHING });
    const text = `The cluster "${cluster}" begins, with the history ${begun.history}. Start its nodes with empty data folders.`;
    printResult(context, options, begun, text);
  });
}

const NOTHING: JournalEnd = { places: [{ id: 0, chain: 0, boundary: null }], committedId: 0 };

async function republish(context: CommandContext, options: CommonOptions): Promise<void> {
  const config = settingsOf(context);
  const { fs } = context;
  const root = dataDirectory(context, options);
  const lock = lockFolder(root);
  try {
    await withLog(context, config, async ({ log }) => {
      const end = await readJournalEnd(fs, dataFolder(root));
      const id = (await readLogHistory(fs, root))?.id ?? newHistoryId();
      const begun = await begin(log, config, { history: id, end });
      await writeLogHistory(fs, root, { id, decidedBy: 'log' });
      const text = `The log of the cluster "${config.cluster}" begins behind event ${begun.lastId}, with the history ${id}.`;
      printResult(context, options, begun, text);
    });
  } finally {
    lock.release();
  }
}

interface Beginning {
  readonly history: string;
  /** The end of the journal, which has no writer meanwhile. */
  readonly end: JournalEnd;
}

/**
 * Begins an empty log, for a new cluster or behind the end of a journal: for a server that ran alone and becomes the first node of a
 * cluster, and after the log was lost. Nodes whose journals end there, or are copies of this one, go on from it. Resolves with the event
 * that the log begins behind.
 */
export async function begin(
  log: ReplicatedLog,
  { cluster, node }: Pick<ClusterConfig, 'cluster' | 'node'>,
  { history, end }: Beginning,
): Promise<{ readonly history: string; readonly lastId: number }> {
  const by = { node, run: randomBytes(4).toString('hex'), address: '' };
  const { id: previousId, chain: previousChain } = end.places.at(-1) ?? end.places[0];
  const record = encodeRecord({
    ...{ kind: 'take-over', cluster, history, epoch: 1, by, previousId, previousChain },
  });
  const outcome = await log.append(0, record);
  if (outcome.kind === 'accepted') return { history, lastId: previousId };
  if (outcome.kind === 'conflict') {
    throw new OperationError(
      'occupied',
      `The log of the cluster "${cluster}" holds records already; nothing was changed.`,
    );
  }
  throw new OperationError(
    'unsound',
    'The log does not say whether it took the record; run the command again.',
    outcome.cause,
  );
}

/** Asks the running server, which has to be a node of a cluster. */
async function askNode(
  context: CommandContext,
  options: CommonOptions,
  command: 'cluster' | 'hand-over',
): Promise<object> {
  const folder = dataDirectory(context, options);
  const { addons } = await askRunningServer(folder, 'status');
  if (addons.some(({ name }) => name === 'cluster')) return askRunningServer(folder, command);
  throw new CommandFailure(
    EXIT.unavailable,
    'The server runs alone: it was started without REPLICATION_URL.',
  );
}

function clusterText(view: ReplicaView, archive: ArchiveView | null): string {
  const rows: [string, string][] = [['this node', roleText(view)]];
  if (view.history !== null) rows.push(['history', view.history]);
  for (const warning of view.warnings) rows.push(['look at', printable(warning)]);
  if (archive !== null) rows.push(['archive', archiveText(archive)]);
  return [fields(rows), ...nodesText(view)].join('\n');
}

function nodesText({ peers, gone }: ReplicaView): readonly string[] {
  if (peers.length + gone.length === 0) return [];
  const rows = [['node', 'address', 'version', 'state', 'event', 'behind', 'clock', 'seen']];
  for (const peer of [...peers, ...gone]) rows.push(peerRow(peer, gone.includes(peer)));
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

function peerRow(peer: PeerView, isGone: boolean): string[] {
  const { node, address, version, role, durableId, lagRecords, clockMs, isReached, silentMs } = peer;
  const state = isGone ? 'gone' : isReached ? role : `${role}, not reached`;
  const clock = clockMs === null ? '–' : `${clockMs < 0 ? '' : '+'}${(clockMs / 1000).toFixed(1)} s`;
  const behind = `${lagRecords} ${lagRecords === 1 ? 'record' : 'records'}`;
  const seen = `${(silentMs / 1000).toFixed(1)} s ago`;
  return [node, address, version, state, String(durableId), behind, clock, seen].map(printable);
}

function archiveText({
  archivedFrom,
  archivedId,
  snapshotId,
  forgottenId,
  firstPosition,
  problem,
}: ArchiveView): string {
  if (problem !== null) return `stopped: ${printable(problem)}`;
  const held = archivedId === 0 ? 'no events yet' : `events ${archivedFrom} to ${archivedId}`;
  const snapshot = snapshotId === 0 ? 'no snapshot' : `a snapshot of event ${snapshotId}`;
  return `${held}, ${snapshot}; the log begins with position ${firstPosition} and may forget events up to ${forgottenId}`;
}
