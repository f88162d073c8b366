/**
 * An edge: serves SDKs from copies of what an upstream has, kept in memory and on disk, and gathers what they report. It decides nothing
 * and owns nothing: its folder may be lost at any time, and any number of edges may stand beside each other, or one behind another.
 *
 * Order of a start: the port is open, then the copy on disk is read, then the upstream is asked. `ready` waits for flags, wherever they
 * come from.
 */
import { getHeapStatistics } from 'node:v8';
import { defaultMemoryBudget } from '../../actors/memory-budget.ts';
import { each, inTurns } from '../../actors/turn.ts';
import { openTransport } from '../../http/transport/select-transport.ts';
import { drainAndClose, type Transport, type TransportOptions } from '../../http/transport/transport.ts';
import { realFileSystem } from '../../persistence/disk/file-system.ts';
import type { Log } from '../../process/log.ts';
import { nodeEngine } from '../node-http/settings.ts';
import { RowFiles } from '../usage/row-files.ts';
import { COPIED, copyIn, copyRows, environmentOf, recordsIn } from './copy.ts';
import { EdgeRouter } from './edge-router.ts';
import { Feed, type FeedPosition } from './feed.ts';
import { Mirror } from './mirror.ts';
import { type FedMirror, Mirrors } from './mirrors.ts';
import { type OperatorSources, operatorSurface } from './operator-routes.ts';
import { sendReports } from './report-sending.ts';
import { type Destination, REPORT, Reports } from './reports.ts';
import { ServedMirror } from './served-mirror.ts';
import type { EdgeSettings } from './settings.ts';
import { edgeSurfaces } from './surfaces.ts';
import { Tokens } from './tokens.ts';
import { UpstreamClient, type ValidToken } from './upstream-client.ts';

/** After a change, so that many changes are one write. */
const COPY_AFTER_MS = 2_000;
/** Without a change: the copy's age is no older. */
const COPY_EVERY_MS = 60_000;
/** While the upstream does not say which tokens are valid. */
const ASK_AGAIN_MS = 2_000;
const DRAIN_MS_MAX = 4_000;

/** Bound, and not called from a function of ours: each request asks twice. */
const boundMonotonicMs = performance.now.bind(performance);

export interface EdgeOptions {
  readonly settings: EdgeSettings;
  readonly log: Log;
  readonly now?: () => number;
  readonly monotonicMs?: () => number;
}

export class Edge {
  readonly #settings: EdgeSettings;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #monotonicMs: () => number;
  readonly #client: UpstreamClient;
  readonly reports = new Reports();
  readonly tokens: Tokens;
  readonly mirrors: Mirrors;
  readonly #fallback: ServedMirror;
  readonly #router: EdgeRouter;
  readonly #surfaces: ReturnType<typeof edgeSurfaces>;
  /** The copy, and the reports that wait; null where nothing is kept on disk. */
  readonly #files: RowFiles | null;
  readonly #timers = new Set<NodeJS.Timeout>();
  #transport: Transport | null = null;
  #sending: Promise<void> = Promise.resolve();
  /** The next time, which waits for the one under way; null where none does. */
  #sendingNext: Promise<void> | null = null;
  #isCopyDue = false;
  #isStopped = false;

  constructor(options: EdgeOptions) {
    const { settings, log, now = Date.now, monotonicMs = boundMonotonicMs } = options;
    this.#settings = settings;
    this.#log = log;
    this.#now = now;
    this.#monotonicMs = monotonicMs;
    this.#client = new UpstreamClient(settings.upstream);
    const { folder } = settings;
    const onDamaged = (details: { readonly file: string; readonly problem: string }): void => {
      // Operators: nothing; the edge asks its upstream, as if there were none
      log.warn(details, 'The copy on disk is damaged, and was set aside.');
    };
    this.#files =
      folder === null ? null : new RowFiles({ fs: realFileSystem, folder, suffix: '.edge', onDamaged });
    const bytesMax = defaultMemoryBudget(getHeapStatistics().heap_size_limit);
    this.mirrors = new Mirrors({
      bytesMax,
      open: (token) => this.#fed(token, this.#mirror(environmentOf(token)), null),
    });
    this.tokens = new Tokens({
      validate: (tokens) => this.#client.validate(tokens),
      isStrict: settings.isStrict,
      named: new Set(settings.tokens),
      onValid: (token) => this.#fallback.addToken(token),
      onRevoked: (token) => this.#forget(token.token),
      onFault: (error) => this.#warn(error),
      monotonicMs,
    });
    const { disabled } = settings;
    this.#surfaces = edgeSurfaces({
      operators: operatorSurface(this.#sources(), disabled),
      hasAll: !disabled.has('all'),
    });
    this.#fallback = this.#served(this.#mirror(''), null);
    this.#router = new EdgeRouter({
      ...{ fallback: this.#fallback.api, mirrors: this.mirrors, tokens: this.tokens },
      ...{ basePath: settings.basePath, tokenHeader: settings.tokenHeader },
      firstFlagsTimeoutMs: settings.firstFlagsTimeoutMs,
    });
  }

  /** Resolves when the port is open and the copy on disk is read. Rejects with `ListenError`, or what the disk says. */
  async start(): Promise<{ readonly port: number }> {
    // Before the first request: an SDK whose valid token is refused stops for good.
    for (const token of this.#settings.trusted) this.#addToken(token, true);
    this.#transport = await this.#openTransport();
    const { port } = await this.#transport.listen();
    await this.#readCopy();
    void this.#askForTokens();
    const { revalidateMs, reportMs, folder } = this.#settings;
    this.#every(revalidateMs, () => this.tokens.revalidate());
    this.#every(reportMs, () => this.sendReports());
    if (folder !== null) this.#every(COPY_EVERY_MS, () => this.saveCopy());
    return { port };
  }

  /** The reason why it is not ready; null when it is. Only tokens of the settings count: others must not take it out of service. */
  get unready(): string | null {
    const { tokens } = this.#settings;
    const named = new Set(tokens.map((secret) => this.mirrors.of(secret)));
    const mirrors = [...named].filter((fed) => fed !== undefined);
    const filled = mirrors.filter(({ served }) => served.mirror.isFilled);
    if (tokens.length > 0 && mirrors.length === 0)
      return 'The upstream has not called a token of --tokens valid yet.';
    if (filled.length < mirrors.length) return 'The upstream has not sent all flags yet.';
    const ageMs = Math.max(0, ...filled.map(({ feed }) => feed.ageMs));
    if (ageMs <= this.#settings.ageMsMax) return null;
    return `The flags are ${Math.round(ageMs / 1000)} seconds old, and --max-age is ${this.#settings.ageMsMax / 1000}.`;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#transport !== null) await drainAndClose(this.#transport, DRAIN_MS_MAX);
    await this.saveCopy();
    this.mirrors.stop();
    await this.sendReports();
    this.#client.close();
  }

  /** Sends what applications reported, one time after another, of which one at most waits. Never rejects. */
  sendReports(): Promise<void> {
    this.#sendingNext ??= this.#sending.then(() => {
      this.#sendingNext = null;
      return this.#sendReports();
    });
    this.#sending = this.#sendingNext;
    return this.#sending;
  }

  /** An upstream counts what the token of a report covers, and nothing else. */
  #secretFor({ environment, featureName, projects = [] }: Destination): string | null {
    const of = [...this.mirrors].filter(({ served }) => served.mirror.environment === environment);
    const covering = of.find(
      ({ token, served }) =>
        token.projects.includes('*') ||
        (featureName === undefined
          ? projects.length > 0 && projects.every((project) => token.projects.includes(project))
          : served.mirror.world.flagProjects.has(featureName)),
    );
    return (covering ?? of[0])?.token.token ?? null;
  }

  #sendReports(): Promise<void> {
    const { appName, instanceId } = this.#settings.upstream;
    return sendReports({
      reports: this.reports,
      secretFor: (destination) => this.#secretFor(destination),
      post: (secret, body) => this.#client.post('/api/client/metrics/bulk', secret, body),
      save: () => this.#saveReports(),
      connectVia: { appName, instanceId },
      onFault: (error) => this.#warn(error),
    });
  }

  async saveCopy(): Promise<void> {
    const { folder, upstream } = this.#settings;
    if (this.#files === null) return;
    this.#isCopyDue = false;
    const filled = [...this.mirrors].filter(({ served }) => served.mirror.isFilled);
    try {
      await this.#files.write('copy', copyRows(upstream.url, this.tokens.values(), filled));
      await this.#saveReports();
    } catch (err) {
      // Operators: look at `err`
      this.#log.error({ err, folder }, 'The copy for a start without the upstream cannot be written.');
    }
  }

  async #saveReports(): Promise<void> {
    const { folder } = this.#settings;
    try {
      await this.#files?.write('reports', this.reports.rows());
    } catch (err) {
      // Operators: look at `err`; until it is fixed, a kill loses or repeats counts
      this.#log.error({ err, folder }, 'Waiting reports for the upstream cannot be written.');
    }
  }

  async #readCopy(): Promise<void> {
    const { upstream, isStrict, tokens: named } = this.#settings;
    if (this.#files === null) return;
    const reports = await recordsIn(this.#files, 'reports', REPORT);
    if (reports !== null) await inTurns(each(reports, (one) => this.reports.putBack(one)));
    // They leave the disk once the upstream is there.
    this.reports.isDoubtful = reports !== null && reports.length > 0;
    const records = await recordsIn(this.#files, 'copy', COPIED);
    const copy = records === null ? null : await inTurns(copyIn(records, upstream.url));
    if (copy === null) return;
    const isLetIn = ({ token }: ValidToken): boolean => !isStrict || named.includes(token);
    for (const copied of copy.mirrors) {
      const { token, environment, lastId } = copied;
      if (!isLetIn(token)) continue;
      const mirror = this.#mirror(environment);
      await inTurns(mirror.replacing(copied, lastId));
      this.mirrors.restore(token, () => this.#fed(token, mirror, copied));
    }
    for (const token of copy.tokens) if (isLetIn(token)) this.#addToken(token, false);
  }

  async #askForTokens(): Promise<void> {
    const { tokens } = this.#settings;
    while (!this.#isStopped && tokens.length > 0) {
      try {
        const valid = await this.#client.validate(tokens);
        for (const token of valid) this.#addToken(token, false);
        // Operators: what it says
        if (valid.length < tokens.length)
          this.#log.warn(
            { valid: valid.length, given: tokens.length },
            'The upstream does not know all tokens of --tokens.',
          );
        // Those of a copy may have been revoked since.
        await this.tokens.revalidate();
        break;
      } catch (error) {
        this.#warn(error);
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS).unref());
      }
    }
  }

  #addToken(token: ValidToken, isTrusted: boolean): void {
    this.tokens.add(token, isTrusted);
    if (token.type === 'client') this.mirrors.assign(token);
  }

  /** A token that the upstream refuses or does not know any more. */
  #forget(secret: string): void {
    this.#fallback.dropToken(secret);
    this.tokens.forget(secret);
    const others = this.mirrors.revoke(secret).map((one) => this.tokens.get(one));
    // Those of pages open no mirror, and come to one that a client token has opened.
    for (const type of ['client', 'frontend'])
      for (const token of others) if (token?.type === type) this.mirrors.assign(token);
    this.#copySoon();
  }

  /** `resumed`: the position of what the mirror has already. */
  #fed(token: ValidToken, mirror: Mirror, resumed: FeedPosition | null): FedMirror {
    const feed = new Feed(
      {
        ...{ token: token.token, mirror, client: this.#client, log: this.#log, now: this.#now },
        ...{ ways: this.#settings.ways, pollMs: this.#settings.pollMs },
        onConfirmed: (isChanged) => {
          if (isChanged) this.#copySoon();
        },
        onRevoked: () => this.#forget(token.token),
      },
      resumed,
    );
    feed.start();
    return { token, served: this.#served(mirror, feed), feed };
  }

  #mirror(environment: string): Mirror {
    const memoryBudgetBytes = defaultMemoryBudget(getHeapStatistics().heap_size_limit);
    const onFault = (error: unknown): void => this.#warn(error);
    return new Mirror({ environment, memoryBudgetBytes, monotonicMs: this.#monotonicMs, onFault });
  }

  #served(mirror: Mirror, feed: Feed | null): ServedMirror {
    const { basePath, origins } = this.#settings;
    return new ServedMirror({
      ...{ mirror, basePath, origins, surfaces: this.#surfaces, reports: this.reports, log: this.#log },
      ...{ now: this.#now, monotonicMs: this.#monotonicMs, feed },
    });
  }

  #openTransport(): Promise<Transport> {
    const { host, port, tls, trustedProxies, basePath } = this.#settings;
    const options: TransportOptions = {
      ...{ host, port, tls, trustedProxies, log: this.#log, sharesPort: true },
      handlers: { handle: this.#router.handle, admit: this.#router.admit, refuse: this.#fallback.api.refuse },
      polledPaths: ['/api/client/features', '/api/client/delta', '/api/frontend'].map(
        (path) => basePath + path,
      ),
    };
    return openTransport(options, nodeEngine(this.#settings.httpEngine));
  }

  #sources(): OperatorSources {
    return {
      ...{ mirrors: this.mirrors, tokens: this.tokens, reports: this.reports },
      ...{ upstream: this.#settings.upstream, startedAt: this.#now() },
      transport: () => this.#transport!,
      meters: () =>
        [this.#fallback, ...[...this.mirrors].map(({ served }) => served)].flatMap(({ api }) => api.meters),
      unready: () => this.unready,
      monotonicMs: this.#monotonicMs,
    };
  }

  #copySoon(): void {
    if (this.#isCopyDue || this.#settings.folder === null || this.#isStopped) return;
    this.#isCopyDue = true;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.saveCopy();
    }, COPY_AFTER_MS);
    this.#timers.add(timer);
  }

  #every(delayMs: number, run: () => Promise<void>): void {
    this.#timers.add(setInterval(() => void run(), delayMs).unref());
  }

  #warn(err: unknown): void {
    // Operators: look at `err`
    this.#log.warn({ err }, 'The edge could not do something with its upstream.');
  }
}
