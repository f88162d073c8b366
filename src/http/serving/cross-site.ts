/**
 * With `AUTH_TYPE=none` a browser needs no token, and with a session it sends one of its own accord. So any page that
 * somebody visits could make the browser write here. Browsers say where a request comes from: by `Sec-Fetch-Site`, which no page can set, and older
 * ones by `Origin`. Programs send neither, and are let through.
 */
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { Caller } from '../dispatch/access.ts';
import type { TransportRequestHead } from '../transport/transport.ts';

const OWN_SITES = ['same-origin', 'none'];

/** `kind`: of the caller; `anyone` where no token is asked for. */
export function refuseCrossSite(head: TransportRequestHead, kind: Caller['kind']): Refusal | null {
  const site = head.header('sec-fetch-site');
  const origin = head.header('origin');
  const isOwn =
    site === '' ? origin === '' || isOriginOf(head.header('host'), origin) : OWN_SITES.includes(site);
  if (isOwn) return null;
  const from = origin === '' ? 'another site' : `"${origin.slice(0, 200)}"`;
  const reason =
    kind === 'anyone' ? 'which asks for no token (AUTH_TYPE=none)' : 'where this browser is signed in';
  return refuse('NoAccessError', `A page of ${from} must not write to this server, ${reason}.`);
}

/** `null`, the origin of a sandboxed page, is nobody's. */
function isOriginOf(host: string, origin: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
