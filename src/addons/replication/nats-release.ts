/** The releases of NATS servers, and whether each server syncs before it acknowledges, by its monitoring page. */

/** The port of a server's own pages, by the convention of NATS. Clients cannot learn of another one. */
export const MONITOR_PORT = 8222;

/** A server on the network of the nodes answers within milliseconds. */
const ANSWER_MS_MAX = 2_000;

/** The oldest release that is taken; older ones do not know `sync_interval: always`, or lost records when servers were restarted. */
const OLDEST = '2.10.23';

/** Two lines of releases in which later losses of records are mended. */
const RECOMMENDED = ['2.12.11', '2.14.3'] as const;

export const isTooOld = (release: string): boolean => compared(release, OLDEST) < 0;

/** The releases that are taken, and better ones, for a sentence. */
export const RELEASE_ADVICE = `${OLDEST} or newer, better ${RECOMMENDED.join(', or ')} or newer,`;

/** Null where nothing is better. */
export function releaseWarning(release: string): string | null {
  const [line, newest] = RECOMMENDED;
  const isMended =
    compared(release, newest) >= 0 || (isOfLine(release, line) && compared(release, line) >= 0);
  if (isMended) return null;
  return `A NATS server is of release ${release}; upgrade it to ${line}, or ${newest} or newer, in which losses of records are mended.`;
}

const isOfLine = (release: string, other: string): boolean =>
  partsOf(release).slice(0, 2).join() === partsOf(other).slice(0, 2).join();

const partsOf = (release: string): readonly number[] =>
  release.split('.').map((part) => Number.parseInt(part, 10) || 0);

function compared(one: string, other: string): number {
  const others = partsOf(other);
  return (
    partsOf(one)
      .map((part, at) => part - (others[at] ?? 0))
      .find((difference) => difference !== 0) ?? 0
  );
}

/** Servers, as `host:port`, by whether they sync each record before they acknowledge it; `unseen`: no page of theirs says so. */
export interface SyncReport {
  readonly off: readonly string[];
  readonly unseen: readonly string[];
}

/** Asks each server's monitoring page. `servers`: as in REPLICATION_URL. */
export async function readSync(servers: readonly string[], monitorPort = MONITOR_PORT): Promise<SyncReport> {
  const off: string[] = [];
  const unseen: string[] = [];
  await Promise.all(
    servers.map(async (server) => {
      const { hostname, port, host } = new URL(server);
      const syncs = await doesSync(`http://${hostname}:${monitorPort}/varz`, Number(port || 4222));
      if (syncs === null) unseen.push(host);
      if (syncs === false) off.push(host);
    }),
  );
  return { off, unseen };
}

/** Null where the page is that of another server, or there is none. */
async function doesSync(page: string, clientPort: number): Promise<boolean | null> {
  try {
    const response = await fetch(page, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const { port, jetstream } = (await response.json()) as Varz;
    if (port !== clientPort || jetstream?.config === undefined) return null;
    return jetstream.config.sync_always === true;
  } catch {
    return null;
  }
}

interface Varz {
  readonly port?: number;
  readonly jetstream?: { readonly config?: { readonly sync_always?: boolean } };
}

export const syncOffText = (servers: readonly string[]): string =>
  `The NATS server ${servers.join(', ')} acknowledges records that it has not written to its disk, which a power cut loses. Set "sync_interval: always" in its "jetstream" block`;

export const syncUnseenText = (servers: readonly string[]): string =>
  `Whether the NATS server ${servers.join(', ')} writes to its disk before it acknowledges cannot be seen at port ${MONITOR_PORT}. Make sure that its "jetstream" block has "sync_interval: always", or set "http_port: ${MONITOR_PORT}"`;
