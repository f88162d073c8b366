/** The address at which people reach this server. */
import type { RequestContext } from './route.ts';

/** The URL as the operator says it, or else as the caller wrote it. A proxy may have ended HTTPS, which the browser says by the origin of its page. */
export function publicUrl(context: RequestContext<unknown>): string {
  const { publicOrigin, basePath } = context.streaming;
  const host = context.header('host');
  const scheme = context.header('origin') === `https://${host}` ? 'https' : 'http';
  return `${publicOrigin ?? `${scheme}://${host}`}${basePath}`;
}

/** The purpose of a link's secret, for the page that opens it. The secret comes after the `#`, which browsers send to nobody. */
export type LinkUse = 'password' | 'invitation';

export function linkUrl(context: RequestContext<unknown>, use: LinkUse, secret: string): string {
  return `${publicUrl(context)}/welcome#${use}=${secret}`;
}
