/** The settings of OpenID Connect: environment variables whose names begin with OIDC_. Without OIDC_ISSUER, none. */

import { ConfigError, type Environment, fileOf, text } from '../../process/settings.ts';
import type { OidcSettings } from './provider.ts';

const ISSUER = 'OIDC_ISSUER';
const SECRET = 'OIDC_CLIENT_SECRET';

const BUTTON_LENGTH_MAX = 60;

/** Null without a provider. */
export function oidcConfig(env: Environment, isOpen: boolean): OidcSettings | null {
  if (text(env, ISSUER) === undefined) {
    const stray = Object.keys(env).find((name) => name.startsWith('OIDC_') && text(env, name) !== undefined);
    if (stray === undefined) return null;
    throw new ConfigError(`${stray} has no meaning without ${ISSUER}; set that too, or remove ${stray}.`);
  }
  if (isOpen) {
    throw new ConfigError(`${ISSUER} has no meaning with AUTH_TYPE=none, which has no sign-in; remove one.`);
  }
  return {
    issuer: addressIn(env, ISSUER, 'https://login.example/realms/main'),
    clientId: required(env, 'OIDC_CLIENT_ID', text(env, 'OIDC_CLIENT_ID')),
    clientSecret: required(env, SECRET, text(env, SECRET) ?? fileOf(env, SECRET)?.trim()),
    origin: baseUrlIn(env),
    scopes: scopesIn(env),
    groupsClaim: text(env, 'OIDC_GROUPS_CLAIM') ?? 'groups',
    roles: rolesIn(env),
    defaultRole: defaultRoleIn(env),
    admins: itemsOf(text(env, 'OIDC_ADMINS') ?? ''),
    button: buttonIn(env),
  };
}

function required(env: Environment, name: string, value: string | undefined): string {
  if (value !== undefined && value !== '') return value;
  throw new ConfigError(`${name} must be set with ${ISSUER}, which is "${text(env, ISSUER)}".`);
}

/** Secrets and identities travel there, so it takes HTTPS; not so on this machine, where people try things out. */
function addressIn(env: Environment, name: string, example: string): string {
  const value = required(env, name, text(env, name));
  const url = URL.canParse(value) ? new URL(value) : null;
  const isHere = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere);
  if (isSafe && url?.username === '' && url.search === '' && url.hash === '') return value;
  throw new ConfigError(`${name} must be an https address such as ${example}, not "${value}".`);
}

/** The public address, unless the provider knows the server by another one. */
function baseUrlIn(env: Environment): string {
  const names = ['OIDC_BASE_URL', 'PUBLIC_URL'];
  const name = names.find((one) => text(env, one) !== undefined) ?? 'OIDC_BASE_URL';
  const value = addressIn(env, name, 'https://flags.example');
  const { origin, pathname } = new URL(value);
  if (pathname === '/') return origin;
  throw new ConfigError(
    `${name} must be where browsers reach this server, without a path, such as ${origin}; BASE_URI_PATH is added to it.`,
  );
}

function scopesIn(env: Environment): string {
  const scopes = text(env, 'OIDC_SCOPES') ?? 'openid email profile';
  if (/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(scopes) && scopes.split(' ').includes('openid')) return scopes;
  throw new ConfigError(
    `OIDC_SCOPES must be scopes with spaces between them, openid among them, not "${scopes}".`,
  );
}

/** JSON, because names of groups may hold any character, as those of LDAP do. */
function rolesIn(env: Environment): OidcSettings['roles'] {
  const value = text(env, 'OIDC_ROLES') ?? '{}';
  const roles = parsed(value);
  const isObject = typeof roles === 'object' && roles !== null && !Array.isArray(roles);
  const pairs = isObject ? Object.entries(roles) : [];
  if (isObject && pairs.every(([group, role]) => group !== '' && typeof role === 'string' && role !== ''))
    return pairs as [string, string][];
  throw new ConfigError(
    `OIDC_ROLES must be a JSON object of groups and the names of root roles, such as {"flag-admins":"Admin"}, not "${value}".`,
  );
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function defaultRoleIn(env: Environment): string | null {
  const role = text(env, 'OIDC_DEFAULT_ROLE') ?? 'Viewer';
  return role === 'none' ? null : role;
}

function buttonIn(env: Environment): string {
  const button = text(env, 'OIDC_BUTTON') ?? 'Sign in with OpenID Connect';
  if (button.length <= BUTTON_LENGTH_MAX) return button;
  throw new ConfigError(
    `OIDC_BUTTON must have at most ${BUTTON_LENGTH_MAX} characters, not ${button.length}.`,
  );
}

const itemsOf = (list: string): readonly string[] =>
  list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
