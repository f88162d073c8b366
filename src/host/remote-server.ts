/**
 * The server that a command speaks to over HTTP, and the token for it: from FLAGSTAFF_URL and FLAGSTAFF_TOKEN, else as `flagstaff
 * login` has stored them in a file that only its owner reads.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { EXIT } from '../process/exit-codes.ts';
import type { Environment } from '../process/settings.ts';
import { AdminCallError, AdminClient } from './admin-client.ts';
import type { CommandContext } from './command.ts';
import { CommandFailure, misuse } from './command-failure.ts';
import { printable } from './format.ts';

export interface Login {
  /** The server's address with its base path. */
  readonly url: string;
  readonly token: string;
}

/** The file in the folder for the settings of a user's programs. */
export function loginFile({ XDG_CONFIG_HOME, APPDATA, HOME }: Environment): string {
  const folder = XDG_CONFIG_HOME || APPDATA || join(HOME || homedir(), '.config');
  return join(folder, 'flagstaff', 'login.json');
}

/** Renamed into place, so that an interrupted command leaves the login before it or this one. */
export function storeLogin(env: Environment, { url, token }: Login): string {
  const file = loginFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const written = `${file}.${process.pid}`;
  writeFileSync(written, `${JSON.stringify({ url, token }, null, 2)}\n`, { mode: 0o600 });
  renameSync(written, file);
  return file;
}

function storedLogin(env: Environment): Partial<Login> {
  const file = loginFile(env);
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    const { url, token } = JSON.parse(content);
    if (typeof url === 'string' && typeof token === 'string') return { url, token };
  } catch {
    // The sentence below is for this, too.
  }
  throw misuse(`${file} is no login; run flagstaff login again.`);
}

/** A stored token goes to no other server than the one that it was stored for. */
function loginOf({ terminal: { env } }: CommandContext): Login {
  const { FLAGSTAFF_URL = '', FLAGSTAFF_TOKEN = '' } = env;
  const stored = FLAGSTAFF_URL === '' || FLAGSTAFF_TOKEN === '' ? storedLogin(env) : {};
  const url = FLAGSTAFF_URL === '' ? stored.url : serverAddress('FLAGSTAFF_URL', FLAGSTAFF_URL);
  const token = FLAGSTAFF_TOKEN === '' && url === stored.url ? stored.token : FLAGSTAFF_TOKEN;
  if (url === undefined)
    throw misuse('No server is known: run flagstaff login <url>, or set FLAGSTAFF_URL and FLAGSTAFF_TOKEN.');
  if (token === undefined || token === '')
    throw misuse(`No token is known for ${url}: run flagstaff login ${url}, or set FLAGSTAFF_TOKEN.`);
  return { url, token };
}

/** Without the slash at the end. `name` is told where the text is no address. */
export function serverAddress(name: string, text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/+$/, '');
  throw misuse(`${name} takes the address of a server, such as https://flags.example.com, not "${text}".`);
}

/** The server's refusals end the command with one sentence that names the server. */
export async function withServer<T>(
  context: CommandContext,
  use: (client: AdminClient, url: string) => Promise<T>,
): Promise<T> {
  const { url, token } = loginOf(context);
  return answerOf(url, () => use(new AdminClient({ url, token }), url));
}

/** Ends the command where the server refuses, or cannot be reached. */
export async function answerOf<T>(server: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof AdminCallError)) throw error;
    throw new CommandFailure(EXIT.unavailable, printable(`${server}: ${error.message}`));
  }
}
