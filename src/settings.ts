/** Reading environment variables: what config.ts and cluster-config.ts share. */

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

/** An integer from 1 to `max`. */
export function countOf(env: Environment, name: string, otherwise: number, max: number): number {
  const value = text(env, name) ?? String(otherwise);
  const count = Number(value);
  if (/^[0-9]{1,16}$/.test(value) && count >= 1 && count <= max) return count;
  throw new ConfigError(`${name} must be a whole number from 1 to ${max}, not "${value}".`);
}
