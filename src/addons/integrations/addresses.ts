/**
 * The addresses that integrations may connect to. A host is resolved first, and the connection goes to the address that was checked
 * here, so that a name which changes in between reaches nothing else.
 *
 * Addresses that are not public are for hosts that the operator lists. Addresses that only carry an IPv4 address (mapped, NAT64,
 * 6to4) count as not public, whatever they carry: a translator in the network decides where they lead.
 */
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Address4, Address6 } from 'ip-address';

/** Refuses a destination. The message is shown to operators, and holds neither the path nor the query of a URL, which may be secret. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError';
}

/** Gives the addresses of a host, at least one. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** How names become addresses. */
export interface Names {
  /** For names in public DNS. */
  readonly resolvePublic: Resolve;
  /** For hosts that the operator lists, which may stand in a hosts file or in a search domain. */
  readonly resolveListed: Resolve;
}

export interface Destinations extends Names {
  /** Hosts that may have addresses which are not public: lower case, without a trailing dot, IPv6 without brackets. */
  readonly privateHosts: ReadonlySet<string>;
}

export interface Destination {
  readonly url: URL;
  /** The host by name, as certificates and the receiver know it. */
  readonly host: string;
  /** The one to connect to. */
  readonly address: string;
}

const RESOLVE_MS = 2_000;

/**
 * A resolver without the thread pool: the system's own holds a thread for as long as a name server does not respond, and the
 * journal is written by the same threads.
 */
const resolvePublic: Resolve = async (host, signal) => {
  const resolver = new Resolver({ timeout: RESOLVE_MS, tries: 2 });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

const resolveListed: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

export const SYSTEM_NAMES: Names = { resolvePublic, resolveListed };

/** The host of a URL, as it is compared and resolved. */
export function hostOf(url: URL): string {
  const { hostname } = url;
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.toLowerCase().replace(/\.$/, '');
}

/** The host that a text names, as `hostOf` writes it; null where it names none. */
export function hostIn(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const isSix = isIP(bare) === 6;
  const url = `http://${isSix ? `[${bare}]` : bare}/`;
  if ((!isSix && !/^[\w.-]+$/.test(bare)) || !URL.canParse(url)) return null;
  const host = hostOf(new URL(url));
  // Other spellings of an IPv4 address would list what nobody reads in them.
  return isSix || host === bare.replace(/\.$/, '') ? host : null;
}

/** Carriers of IPv4 addresses that `isGlobal` may call global for what they carry: 64:ff9b::/96 and 64:ff9b:1::/48. */
const TRANSLATED = [new Address6('64:ff9b::/96'), new Address6('64:ff9b:1::/48')];

export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 4) return new Address4(text).isGlobal();
  if (isIP(text) !== 6 || text.includes('%')) return false;
  const address = new Address6(text);
  const isCarrier = address.isMapped4() || address.is6to4() || address.isTeredo();
  return !isCarrier && address.isGlobal() && !TRANSLATED.some((range) => address.isInSubnet(range));
}

/** Resolves and checks where a URL leads. `attempt` chooses among several addresses. Rejects with a DestinationError. */
export async function destinationOf(
  text: string,
  { privateHosts, ...names }: Destinations,
  { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
): Promise<Destination> {
  if (!URL.canParse(text)) throw new DestinationError('The URL is not valid.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new DestinationError('The URL must begin with https:// or http://.');
  if (url.username !== '' || url.password !== '')
    throw new DestinationError('The URL must not hold a user name or password.');
  const host = hostOf(url);
  const isListed = privateHosts.has(host);
  const resolve = isListed ? names.resolveListed : names.resolvePublic;
  const found = isIP(host) === 0 ? await addressesOf(host, resolve, signal) : [host];
  const allowed = isListed ? found : found.filter(isPublicAddress);
  const address = allowed[attempt % allowed.length];
  if (address === undefined)
    throw new DestinationError(
      `${host} has no public address; INTEGRATION_PRIVATE_HOSTS lists the hosts that may have private ones.`,
    );
  return { url, host, address };
}

async function addressesOf(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return (await resolve(host, signal)).filter((address) => isIP(address) !== 0);
  } catch {
    throw new DestinationError(`The host ${host} could not be found.`);
  }
}
