/** `flagstaff cluster`: what the node of a cluster knows of it, and handing over. */
import { randomBytes } from 'node:crypto';
import { encodeRecord, type NodeIdentity } from '../addons/replication/record-format.ts';
import type { ReplicatedLog } from '../addons/replication/replicated-log.ts';
import { OperationError } from '../operations/operation-error.ts';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import { lockFolder } from '../persistence/disk/folder-lock.ts';
import type { ArchiveView, PeerView, ReplicaView } from '../persistence/journal/node-view.ts';
import { type JournalEnd, readJournalEnd } from '../persistence/recovery/journal-end.ts';
import { EXIT } from '../process/exit-codes.ts';
import { openLog } from '../start/cluster.ts';
import { clusterConfig } from '../start/cluster-config.ts';
import {
  type AddCommand,
  type CommandContext,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from './command.ts';
import { CommandFailure, misuse } from './failure.ts';
import { fields, printable } from './format.ts';
import { askRunningServer } from './running-server.ts';

export const addCluster: AddCommand = (program, context) => {
  const cluster = program
    .command('cluster')
    .description('Look at the cluster of a running server, and hand over.');
  withCommonOptions(cluster.command('status'))
    .description('Show the role of this node, who leads, and the nodes that were heard of lately.')
    .action(async (options: CommonOptions) => {
      const { view, archive } = await viewsOf(context, options);
      printResult(context, options, { ...view, archive }, clusterText(view, archive));
    });
  withCommonOptions(cluster.command('handover'))
    .description('Let another node lead; this one, which has to be the leader, follows.')
    .addHelpText(
      'after',
      `
The command reaches the server through a socket in its data folder. Writes that are under way get their responses first;
further ones wait a moment, or get 503 with Retry-After.`,
    )
    .action(async (options: CommonOptions) => {
      await askRunningServer(dataDirectory(context, options), 'hand-over');
      printResult(context, options, {}, 'This node has handed over and follows.');
    });
  withCommonOptions(cluster.command('republish'))
    .description('Begin an empty log behind the end of this journal.')
    .addHelpText('after', REPUBLISH_HELP)
    .action((options: CommonOptions) => republish(context, options));
};

const REPUBLISH_HELP = `
The settings are those of the server, REPLICATION_URL and the others; the server must be stopped, and the log empty. For a
server that ran alone and becomes the first node of a cluster, and after the log was lost: take the node whose journal
ends with the newest event. Start the other nodes on a copy of its data folder, which "flagstaff backup" makes.

Example:
  REPLICATION_URL=nats://log-1:4222 flagstaff cluster republish -d /srv/flagstaff`;

async function republish(context: CommandContext, options: CommonOptions): Promise<void> {
  const { terminal, fs } = context;
  const config = clusterConfig(terminal.env);
  if (config === null) throw misuse('Set REPLICATION_URL to the servers of the log.');
  const root = dataDirectory(context, options);
  const lock = lockFolder(root);
  const say = (details: object, message: string): void =>
    terminal.err('err' in details ? `${message}: ${details.err}` : message);
  const log = await openLog(config, { info: say, warn: say });
  try {
    const { cluster, node } = config;
    const end = await readJournalEnd(fs, dataFolder(root));
    const by = { node, run: randomBytes(4).toString('hex'), address: '' };
    const outcome = await beginLog({ log, cluster, by, end });
    if (outcome.kind === 'occupied')
      throw new OperationError(
        'occupied',
        `The log of the cluster "${cluster}" holds records already; nothing was changed.`,
      );
    if (outcome.kind === 'unknown')
      throw new OperationError(
        'unsound',
        'The log does not say whether it took the record; run the command again.',
        outcome.cause,
      );
    printResult(
      context,
      options,
      outcome,
      `The log of the cluster "${cluster}" begins behind event ${outcome.lastId}.`,
    );
  } finally {
    await log.close();
    lock.release();
  }
}

interface Views {
  readonly view: ReplicaView;
  readonly archive: ArchiveView | null;
}

async function viewsOf(context: CommandContext, options: CommonOptions): Promise<Views> {
  const { cluster, archive } = await askRunningServer(dataDirectory(context, options), 'status');
  if (cluster !== null) return { view: cluster, archive };
  throw new CommandFailure(
    EXIT.unavailable,
    'The server runs alone: it was started without REPLICATION_URL.',
  );
}

/** The role, the epoch, who leads, and how far this node is behind, in one line. */
export function roleText({ role, epoch, leader, isLeading, lagMs, problem }: ReplicaView): string {
  if (problem !== null) return `${role}, stopped: ${problem}`;
  if (isLeading) return `leading, epoch ${epoch}`;
  const whom = leader === null ? 'nobody known leads' : `${printable(leader.node)} leads`;
  return `${role}, epoch ${epoch}, ${whom}, ${(lagMs / 1000).toFixed(1)} s behind`;
}

function clusterText(view: ReplicaView, archive: ArchiveView | null): string {
  const rows: [string, string][] = [['this node', roleText(view)]];
  if (archive !== null) rows.push(['archive', archiveText(archive)]);
  for (const peer of view.peers) rows.push([printable(peer.node), printable(peerText(peer))]);
  return fields(rows);
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

const peerText = ({ role, epoch, durableId, address, silentMs }: PeerView): string =>
  `${role}, epoch ${epoch}, event ${durableId} on its disk, ${address}, heard ${(silentMs / 1000).toFixed(1)} s ago`;

// Begins an empty log behind the end of a journal: for a server that ran alone and becomes the first node of a cluster,
// and after the log was lost. Nodes whose journals end there, or are copies of this one, go on from it.

interface NewLogOptions {
  readonly log: ReplicatedLog;
  readonly cluster: string;
  readonly by: NodeIdentity;
  /** The end of the journal, which nobody writes to meanwhile. */
  readonly end: JournalEnd;
}

/** `begun`: with the id of the event that the log begins behind. `occupied`: the log holds records already. */
type NewLogOutcome =
  | { readonly kind: 'begun'; readonly lastId: number }
  | { readonly kind: 'occupied' }
  | { readonly kind: 'unknown'; readonly cause: unknown };

export async function beginLog({ log, cluster, by, end }: NewLogOptions): Promise<NewLogOutcome> {
  const { id: previousId, chain: previousChain } = end.places.at(-1) ?? end.places[0];
  const record = encodeRecord({ kind: 'take-over', cluster, epoch: 1, by, previousId, previousChain });
  const outcome = await log.append(0, record);
  if (outcome.kind === 'accepted') return { kind: 'begun', lastId: previousId };
  return outcome.kind === 'conflict' ? { kind: 'occupied' } : outcome;
}
