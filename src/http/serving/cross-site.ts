/**
 * With `AUTH_TYPE=none` a browser needs no token, and with a session it sends one of its own accord. So any page that
 * somebody visits could make the browser write here. Browsers say where a request comes from: by `Sec-Fetch-Site`, which no page can set, and older
 * ones by `Origin`. Programs send neither, and are let through.
 */
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import { type Caller, NOBODY } from '../dispatch/access.ts';
import type { TransportRequestHead } from '../transport/transport.ts';

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
