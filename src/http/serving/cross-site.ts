/**
 * Requests that pages of other sites have a browser send.
 *
 * With `AUTH_TYPE=none` a browser needs no token, and with a session it sends one of its own accord. So any page that
 * somebody visits could make the browser write here. Browsers say where a request comes from: by `Sec-Fetch-Site`, which no page can set, and older
 * ones by `Origin`. Programs send neither, and are let through.
 *
 * A page may also have the name of its own site lead to this server (DNS rebinding): to the browser, it is of this very origin then.
 * Such a name is in the header Host, so where nobody needs a token the server takes only names that no stranger can own.
 */
import { isIP } from 'node:net';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { TransportRequestHead } from '../transport/transport.ts';
import { type Caller, NOBODY } from './access.ts';

/** Reserved, or used by networks of containers: nobody can register a name that ends so. */
const LOCAL_NAME_PATTERN = /^[^.]+\.?$|\.(?:localhost|local|internal|svc)\.?$/;

/** For a server that asks for no token. `publicOrigin`: where the operator says that people reach it. */
export function refuseForeignHost(head: TransportRequestHead, publicOrigin: string | null): Refusal | null {
  const host = head.header('host').toLowerCase();
  const name = host.replace(/:\d*$/, '');
  const isAddress = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  const isPublic = publicOrigin !== null && name === new URL(publicOrigin).hostname;
  if (isAddress || isPublic || LOCAL_NAME_PATTERN.test(name)) return null;
  return refuse(
    'NoAccessError',
    `This server asks for no token (AUTH_TYPE=none), so it does not answer to the name "${name.slice(0, 200)}", which anybody may own; the operator can name it with PUBLIC_URL.`,
  );
}

const OWN_SITES = ['same-origin', 'none'];

export function refuseCrossSite(head: TransportRequestHead, caller: Caller): Refusal | null {
  const site = head.header('sec-fetch-site');
  const origin = head.header('origin');
  const isOwn =
    site === '' ? origin === '' || isOriginOf(head.header('host'), origin) : OWN_SITES.includes(site);
  if (isOwn) return null;
  const from = origin === '' ? 'another site' : `"${origin.slice(0, 200)}"`;
  return refuse('NoAccessError', `A page of ${from} must not write to this server, ${reasonFor(caller)}.`);
}

/** Signing somebody in from another site would have them work in the name of somebody else. */
function reasonFor(caller: Caller): string {
  if (caller === NOBODY) return 'nor sign in to it';
  return caller.kind === 'anyone'
    ? 'which asks for no token (AUTH_TYPE=none)'
    : 'where this browser is signed in';
}

/** `null`, the origin of a sandboxed page, is nobody's. */
function isOriginOf(host: string, origin: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
