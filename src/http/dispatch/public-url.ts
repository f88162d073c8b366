/** Where people reach this server. */
import type { RequestContext } from './route.ts';

/** As the caller wrote it, or the proxy in front: nothing else knows under which name this server is reached. */
export function publicUrl(context: RequestContext<unknown>): string {
  const scheme = context.header('x-forwarded-proto') === 'https' ? 'https' : 'http';
  return `${scheme}://${context.header('host')}${context.streaming.basePath}`;
}

/** What the page for links is asked to do with a secret: it stands behind the `#`, which browsers send to nobody. */
export type LinkUse = 'password' | 'invitation';

export function linkUrl(context: RequestContext<unknown>, use: LinkUse, secret: string): string {
  return `${publicUrl(context)}/welcome#${use}=${secret}`;
}
