/**
 * The environment variables, checked once at the start. A value that cannot be used stops the start with one line
 * that names the variable, the value and what would be right.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HTTP_ENGINES, type HttpEngine } from './http/select-transport.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const AUTH_TYPES = ['open-source', 'none'] as const;

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Before every path: empty, or with a slash at its start and none at its end. */
  readonly basePath: string;
  readonly dataDir: string;
  /** Secrets of the admin tokens that a new data folder starts with; empty: one is made. */
  readonly initialAdminTokens: readonly string[];
  /** `none`: no token is needed and everybody may do everything. */
  readonly authType: (typeof AUTH_TYPES)[number];
  readonly logLevel: LogLevel;
  readonly httpEngine: HttpEngine;
}

/** The message is the whole of what the operator needs to read. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_DATA_DIR = join(fileURLToPath(new URL('..', import.meta.url)), 'data');

export function readConfig(env: Environment): Config {
  return {
    host: text(env, 'HTTP_HOST') ?? '0.0.0.0',
    port: env['HTTP_PORT'] ? port(env, 'HTTP_PORT') : port(env, 'PORT'),
    basePath: basePath(env),
    dataDir: dataDirOf(env),
    initialAdminTokens: adminTokens(env),
    authType: oneOf(env, 'AUTH_TYPE', AUTH_TYPES, 'open-source'),
    logLevel: oneOf(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    httpEngine: oneOf(env, 'HTTP_ENGINE', HTTP_ENGINES, 'auto'),
  };
}

/** The data folder alone, for commands that need nothing else of the configuration. */
export function dataDirOf(env: Environment): string {
  return text(env, 'DATA_DIR') ?? DEFAULT_DATA_DIR;
}

/** An empty variable counts as absent: that is how manifests blank one out. */
function text(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

function oneOf<T extends string>(env: Environment, name: string, allowed: readonly T[], otherwise: T): T {
  const value = text(env, name) ?? otherwise;
  const found = allowed.find((one) => one === value.toLowerCase());
  if (found === undefined)
    throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not "${value}".`);
  return found;
}

/** 0 lets the operating system choose. */
function port(env: Environment, name: string): number {
  const value = text(env, name) ?? '4242';
  const number = Number(value);
  if (!/^[0-9]{1,5}$/.test(value) || number > 65_535) {
    throw new ConfigError(`${name} must be a port number from 0 to 65535, not "${value}".`);
  }
  return number;
}

function basePath(env: Environment): string {
  const value = (text(env, 'BASE_URI_PATH') ?? '').replace(/\/+$/, '');
  if (value === '') return '';
  const path = value.startsWith('/') ? value : `/${value}`;
  if (!/^(?:\/[A-Za-z0-9._~-]+)+$/.test(path) || /\/\.{1,2}(?:\/|$)/.test(path)) {
    throw new ConfigError(`BASE_URI_PATH must be a path such as /flags, not "${value}".`);
  }
  return path;
}

/** Messages never repeat a token: logs outlive secrets. */
function adminTokens(env: Environment): readonly string[] {
  const tokens = (text(env, 'INIT_ADMIN_API_TOKENS') ?? '')
    .split(',')
    .map((token) => token.trim())
    .filter((token) => token !== '');
  for (const [index, token] of tokens.entries()) {
    if (!/^\*:\*\.[\x21-\x7e]{1,250}$/.test(token)) {
      throw new ConfigError(
        `INIT_ADMIN_API_TOKENS must be admin tokens such as *:*.some-secret, separated by commas; number ${index + 1} is not.`,
      );
    }
  }
  return tokens;
}
