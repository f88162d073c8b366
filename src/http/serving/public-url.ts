/** The address at which people reach this server. */
import type { RequestContext } from './route.ts';

/** The configured URL, or else that of the request. A proxy may have ended HTTPS, which the origin of the browser's page shows. */
export function publicUrl(context: RequestContext<unknown>): string {
  const { publicOrigin, basePath } = context.streaming;
  const host = context.header('host');
  const scheme = context.header('origin') === `https://${host}` ? 'https' : 'http';
  return `${publicOrigin ?? `${scheme}://${host}`}${basePath}`;
}

/** The purpose of a link's secret, for the page that opens it. The secret comes after the `#`, which browsers do not send. */
export type LinkUse = 'password' | 'invitation';

export function linkUrl(context: RequestContext<unknown>, use: LinkUse, secret: string): string {
  return `${publicUrl(context)}/welcome#${use}=${secret}`;
}
