/**
 * The control channel: how the operators' commands reach the server that has a data folder open.
 *
 * HTTP on a unix domain socket `flagstaff.sock` in the data folder, mode 0600: whoever may write the folder's files may
 * use it, nobody else, and nothing is exposed to the network or has to be put on a command line. `POST /<command>`
 * without a body responds with 200 and the command's result as JSON, or with another status and
 * `{"message": "a sentence"}`. By hand:
 *
 *   curl --unix-socket data/flagstaff.sock -X POST http://localhost/snapshot
 *
 * A kernel takes paths of about 100 bytes for sockets. The shorter of the absolute path and the one from the working
 * directory is used; where both are too long, the server runs without the channel and says so.
 */
import { join, relative } from 'node:path';

export const SOCKET_FILE_NAME = 'flagstaff.sock';

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, the final zero included. */
const SOCKET_PATH_BYTES_MAX = 103;

/** An add-on's part of `flagstaff status`. */
export interface AddonStatus {
  readonly name: string;
  /** A line for people. */
  readonly text: string;
  /** The object that `--json` has under the name. */
  readonly view: object;
}

/** An add-on of a running server, as the control channel reaches it. */
export interface ControlledAddon {
  readonly status?: () => AddonStatus;
  /** Commands, by name. */
  readonly control?: Readonly<Record<string, () => Promise<object>>>;
}

export interface ControlResults {
  /** The progress of the running server: everything up to `durableId` is on disk. */
  readonly status: {
    readonly pid: number;
    readonly lastId: number;
    readonly durableId: number;
    readonly addons: readonly AddonStatus[];
  };
  /** Waits until all that was appended so far is on disk. */
  readonly flush: { readonly durableId: number };
  /** A snapshot of the state as it is now; `taken` is false when the newest one was of this state already. */
  readonly snapshot: ControlSnapshot;
  /** A new admin token. Its secret is sent here once and stored nowhere. */
  readonly 'create-admin-token': { readonly secret: string };
}

export interface ControlSnapshot {
  readonly taken: boolean;
  readonly id: number;
  readonly path: string;
  readonly bytes: number;
  readonly durationMs: number;
}

export type ControlCommand = keyof ControlResults;

/** The result of a command of the core, or of one that an add-on brings. */
export type ControlResult<C extends string> = C extends ControlCommand ? ControlResults[C] : object;

/** The path to bind and to connect to; null where the kernel takes none that is this long. */
export function socketPath(folder: string, workingDirectory: string = process.cwd()): string | null {
  const absolute = join(folder, SOCKET_FILE_NAME);
  const near = relative(workingDirectory, absolute);
  const path = near !== '' && near.length < absolute.length ? near : absolute;
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX ? path : null;
}
