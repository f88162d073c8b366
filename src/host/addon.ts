/**
 * An add-on: a folder of `src/addons` that the core neither imports nor names. With its folder, its tests and its line in
 * src/start/addons.ts taken away, everything else compiles, passes its tests, and opens every folder of data.
 */
import type { Tracer } from '../http/serving/call.ts';
import type { Route } from '../http/serving/route.ts';
import type { Surface } from '../http/serving/surface.ts';
import type { Log } from '../process/log.ts';
import type { SettingRow } from '../process/setting-row.ts';
import type { Environment } from '../process/settings.ts';
import type { AddCommand } from './command.ts';

export interface Addon {
  /** Its folder. */
  readonly name: string;
  /** Its settings, for the manual. */
  readonly settings?: readonly SettingRow[];
  /** Commands of `flagstaff` by name, each loaded once its name is given: an edge that starts anew has no time for the others. */
  readonly verbs?: Readonly<Record<string, () => Promise<AddCommand>>>;
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
  /** Paths of its own. */
  readonly surfaces?: readonly Surface[];
  /** Routes of the administrative interface. */
  readonly adminRoutes?: readonly Route[];
  /** The origin at which browsers reach the server, where PUBLIC_URL does not say so. */
  readonly publicOrigin?: string;
  /** Called once the state is there, and before a request is served. */
  open?(): AddonParts | Promise<AddonParts>;
}

/** The parts of an add-on that is open. */
export interface AddonParts {
  /** Called for each request; at most one add-on has it. */
  readonly tracer?: Tracer;
  /** Called at a stop, once nothing is served any more. */
  close?(): Promise<void>;
}
