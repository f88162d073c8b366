/** Reading environment variables: what config.ts and its parts share. */
import { readFileSync } from 'node:fs';
import { wordedFault } from './file-faults.ts';
import { DEFAULT_DATA_DIR } from './installation.ts';

/** The message is everything that the operator needs to read. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as absent, because manifests unset a variable in that way. */
export function text(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

export function oneOf<T extends string>(
  env: Environment,
  name: string,
  allowed: readonly T[],
  otherwise: T,
): T {
  const value = text(env, name) ?? otherwise;
  const found = allowed.find((one) => one === value.toLowerCase());
  if (found === undefined)
    throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not "${value}".`);
  return found;
}

/** An integer from 1, or another least one, to `max`. */
export function countOf(env: Environment, name: string, otherwise: number, max: number, min = 1): number {
  const value = text(env, name) ?? String(otherwise);
  const count = Number(value);
  if (/^[0-9]{1,16}$/.test(value) && count >= min && count <= max) return count;
  throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
}

/** The content of the file that `<variable>_FILE` names, as containers get their secrets; undefined without it. */
export function fileOf(env: Environment, variable: string): string | undefined {
  const file = text(env, `${variable}_FILE`);
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${variable}_FILE: ${wordedFault(error as Error)}.`);
  }
}

/** An address that browsers reach, without a path; null where the variable is not set. */
export function originIn(env: Environment, name: string): string | null {
  const value = text(env, name);
  if (value === undefined) return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  const isOfWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (isOfWeb && url.href === `${url.origin}/`) return url.origin;
  throw new ConfigError(
    `${name} must be where browsers reach this server, without a path, such as https://flags.example; BASE_URI_PATH is added to it. It is "${value}".`,
  );
}

/** The data folder alone, for commands that need nothing else of the configuration. */
export function dataDirOf(env: Environment): string {
  return text(env, 'DATA_DIR') ?? DEFAULT_DATA_DIR;
}
