/**
 * An add-on: a folder of `src/addons` that the core neither imports nor names. With its folder, its tests and its line in
 * src/start/addons.ts taken away, everything else compiles.
 */

import type { Engine } from '../actors/engine.ts';
import type { JournalObserver, ObservedJournal } from '../actors/journal-observer.ts';
import type { Store, StoreHooks } from '../actors/store.ts';
import type { UsageView } from '../actors/usage-view.ts';
import type { ControlledAddon } from '../control/control-protocol.ts';
import type { ScryptCost } from '../domain/access/password-hash.ts';
import type { EventGuard } from '../domain/decide/event-guard.ts';
import type { ProtectNewProject } from '../domain/decide/new-project.ts';
import type { AddonKind } from '../domain/kinds/addon-kind.ts';
import type { PendingRequests } from '../domain/state/pending-requests.ts';
import type { Tracer } from '../http/serving/call.ts';
import type { ClusterAccess } from '../http/serving/cluster.ts';
import type { AddonMetrics } from '../http/serving/metrics.ts';
import type { AddonHealth } from '../http/serving/probes.ts';
import type { HashPassword, Route } from '../http/serving/route.ts';
import type { Surface } from '../http/serving/surface.ts';
import type { OtherEngine } from '../http/transport/select-transport.ts';
import type { HandedOn, TransportRequest } from '../http/transport/transport.ts';
import type { HistoryFiles } from '../operations/history-files.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { Log } from '../process/log.ts';
import type { SettingRow } from '../process/setting-row.ts';
import type { Environment } from '../process/settings.ts';
import type { AddCommand, WithCopy } from './command.ts';

export interface Addon {
  /** Its folder. */
  readonly name: string;
  /** Its settings, for the manual. */
  readonly settings?: readonly SettingRow[];
  /** Commands of `flagstaff` by name, each loaded once its name is given: an edge that starts anew has no time for the others. */
  readonly verbs?: Readonly<Record<string, () => Promise<AddCommand>>>;
  /** Names in the data folder that it uses. */
  readonly files?: readonly string[];
  /** Its files about the events of the journal, for commands that copy, verify and repair the folder. */
  readonly historyFiles?: (surroundings: {
    readonly fs: FileSystem;
    readonly env: Environment;
  }) => Promise<HistoryFiles>;
  /** Copies from which `flagstaff repair --from` can take what is lost, by name. */
  readonly copies?: Readonly<Record<string, () => Promise<WithCopy>>>;
  /** Reads the settings of a server; null where they turn the add-on off. Throws a ConfigError for a value that cannot be used. */
  readonly configure?: (setup: Setup) => Promise<ConfiguredAddon | null>;
}

/** The settings of a server, and those of the core among them that add-ons need. */
export interface Setup {
  readonly env: Environment;
  readonly log: Log;
  /** The prefix of every path. */
  readonly basePath: string;
  /** Whether nobody needs a token. */
  readonly isOpen: boolean;
  readonly sessions: SessionSettings;
  /** For tests, whose passwords nobody guesses. */
  readonly passwordCost?: ScryptCost | undefined;
}

/** The sessions of signed-in browsers. */
export interface SessionSettings {
  /** Milliseconds after which a session ends, however much it is used. */
  readonly lifetimeMs: number;
  /** Milliseconds after which an unused session ends. */
  readonly idleMs: number;
  /** Whether browsers reach the server over HTTPS alone. */
  readonly isSecureOnly: boolean;
}

/** An add-on with the settings of a server. */
export interface ConfiguredAddon {
  /** Kinds of records that it brings. */
  readonly kinds?: readonly AddonKind[];
  /** Refuses events that were decided. */
  readonly guard?: EventGuard;
  /** Gives events that are recorded with a project that is created; at most one add-on has it. */
  readonly protectNewProject?: ProtectNewProject;
  /** Finds its requests to change a flag; at most one add-on has it. */
  readonly pending?: PendingRequests;
  /** Paths of its own. */
  readonly surfaces?: readonly Surface[];
  /** Pages of its own, which the description of the interface leaves out. `describe` makes that description, an OpenAPI document. */
  readonly pages?: (describe: () => object) => Surface;
  /** Routes of surfaces that others have, by the prefix of the surface. */
  readonly routes?: Readonly<Record<string, readonly Route[]>>;
  /** The origin at which browsers reach the server, where PUBLIC_URL does not say so. */
  readonly publicOrigin?: string;
  /** Without it no user has a password; at most one add-on has it. */
  readonly hashPassword?: HashPassword;
  /** An HTTP engine; at most one add-on has it. */
  readonly engine?: OtherEngine;
  /** Called when the journal is open, before the state is served; at most one add-on has it. */
  readonly observe?: (journal: ObservedJournal) => Promise<JournalObserver>;
  /** Joins other nodes, behind a log that they share; at most one add-on has it. */
  readonly join?: (node: JoiningNode) => Promise<Membership>;
  /** Called once the state is there, and before a request is served. */
  open?(host: Host): AddonParts | Promise<AddonParts>;
}

/** The core, as an add-on sees it. */
export interface Host {
  readonly engine: Engine;
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  /** Null where the server runs alone. */
  readonly broadcast: Broadcast | null;
  /** A value of a name of lower-case letters; null where the server runs alone. */
  readonly sharedValue: ((name: string) => SharedValue) | null;
  /** Whether this server decides: one that runs alone always does. */
  isLeading(): boolean;
}

/** A stream that the nodes of a cluster share: batches at positions 1, 2, 3 and so on, the same for all. Old ones may be gone. */
export interface Broadcast {
  /** Rejects where it is not known whether the stream has the batch. Under the same id it is taken once. */
  publish(batch: Buffer, id: string): Promise<void>;
  /** The first batch at a position or behind it; null where there is none yet. Rejects where the stream cannot be reached. */
  read(from: number): Promise<BroadcastBatch | null>;
}

/** A value that the nodes of a cluster share. */
export interface SharedValue {
  /** Null where there is none yet. Rejects where it cannot be reached. */
  read(): Promise<{ readonly revision: number; readonly bytes: Buffer } | null>;
  /**
   * Replaces the value of that revision, 0 where there is none. Gives the revision of the new one; null where another node has replaced it
   * before. Rejects where it is not known whether it was replaced.
   */
  write(bytes: Buffer, revision: number): Promise<number | null>;
}

export interface BroadcastBatch {
  readonly position: number;
  readonly bytes: Buffer;
}

/** A server that is to be one of several nodes. */
export interface JoiningNode {
  /** The data folder. */
  readonly folder: string;
  /** The port on which the server listens. */
  readonly port: number;
  /** Whether old events are removed. */
  readonly hasRetention: boolean;
  open(hooks: StoreHooks): Promise<Store>;
  /** Called each time that this node has begun to lead. */
  onLeading(store: Store): Promise<void>;
  /** Ends the process. */
  stop(error: Error): void;
  /** Told what holds the start up. */
  onWait(what: string): void;
}

/** A node that follows or leads, and has something to show. */
export interface Membership {
  readonly store: Store;
  readonly access: ClusterAccess;
  readonly broadcast: Broadcast | null;
  readonly sharedValue: ((name: string) => SharedValue) | null;
  /** Milliseconds for which what this node shows may be old, where it should not be asked; null otherwise. */
  readonly ageMs: number | null;
  /** The caller of a request that another node hands on; null for every other request. */
  handedOnFor(request: Pick<TransportRequest, 'header'>): HandedOn | null;
  /** Lets another node lead, if that is possible within the time. */
  handOver(timeoutMs: number): Promise<void>;
  /** Before the store is closed: nothing is followed any more. */
  stopFollowing(): Promise<void>;
  /** After the store was closed. */
  close(): Promise<void>;
}

/** The parts of an add-on that is open. */
export interface AddonParts extends ControlledAddon {
  /** Called for each request; at most one add-on has it. */
  readonly tracer?: Tracer;
  /** Counts uses of flags and secrets; at most one add-on has it. */
  readonly usage?: UsageView;
  readonly metrics?: AddonMetrics;
  /** Its part of `/health` and `/ready`. */
  readonly health?: () => AddonHealth;
  /** Called at a stop, once nothing is served any more, and before the journal is closed. */
  close?(): Promise<void>;
}
