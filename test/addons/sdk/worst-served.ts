/**
 * The flags and contexts that a search found to take longest (test/addons/sdk/evaluation/worst-rules.ts), asked of a server on every surface that
 * evaluates, explains or sends rules: no turn of its event loop takes long.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { LOAD_PROBE, longestTurn } from '../../faults/server-probe.ts';
import { environmentPath, FEATURES } from '../../support/interface.ts';
import { type Call, caller, type ServerProcess, spawnServer, temporaryFolder } from '../../support/server.ts';
import type { SdkConstraint, SdkFeature, SdkSegment } from './evaluation/sdk-document.ts';
import type { WorstCase } from './evaluation/worst-rules.ts';

const CLIENT_TOKEN = 'default:development.client-worst-rules';
const FRONTEND_TOKEN = 'default:development.frontend-worst-rules';

/** Characters of a query string; the rest of the 8 KiB is for names. */
const QUERY_LENGTH_MAX = 7_000;

export interface ServedResult {
  /** Numbers of rules that the search made and a server takes, and that it refuses. */
  readonly taken: number;
  readonly refused: number;
  readonly asked: number;
  /** Milliseconds of processor time that one turn of the loop took at most, and where. */
  readonly slowestTurnMs: number;
  readonly slowestSurface: string;
}

type Context = WorstCase['context'];

interface Case {
  readonly flag: string;
  readonly context: Context;
  /** An event after which the flag stood as it does now. */
  readonly eventId: number;
}

interface Surface {
  readonly name: string;
  ask(server: ServerProcess, one: Case): Promise<{ readonly status: number }>;
}

const admin =
  (path: (one: Case) => string, body: (one: Case) => object): Surface['ask'] =>
  ({ call }, one) =>
    call('POST', path(one), body(one));

const sdk =
  (
    method: string,
    token: string,
    path: (one: Case) => string,
    body?: (one: Case) => object,
  ): Surface['ask'] =>
  ({ origin }, one) =>
    caller(origin, '')(method, path(one), body?.(one), { token });

/** A text of random characters may have halves of surrogate pairs. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

/** A query that fits, of as many characters of each field as there is room for. */
function queryOf(context: Context): string {
  let left = QUERY_LENGTH_MAX;
  const fields: string[] = [];
  for (const [name, text] of Object.entries(context)) {
    let end = text.length;
    while (encoded(text.slice(0, end)).length > left) end >>= 1;
    const value = encoded(text.slice(0, end));
    left -= value.length;
    fields.push(`${name}=${value}`);
  }
  return fields.join('&');
}

const explainPath = ({ flag }: Case): string => `${FEATURES}/${flag}/explain`;
const explainBody = ({ context }: Case): object => ({ environment: 'development', context });
const ofrepBody = ({ context }: Case): object => ({
  context: { ...context, targetingKey: context['userId'] ?? '' },
});

const SURFACES: readonly Surface[] = [
  { name: 'explain', ask: admin(explainPath, explainBody) },
  {
    name: 'explain, a past moment',
    ask: admin((one) => `${explainPath(one)}?at=${one.eventId}`, explainBody),
  },
  {
    name: 'playground, many contexts',
    ask: admin(
      () => '/playground/advanced',
      ({ context }) => ({
        environments: ['development', 'production'],
        context: { ...context, plan: 'a,b,c' },
      }),
    ),
  },
  {
    name: 'frontend, by query',
    ask: sdk('GET', FRONTEND_TOKEN, ({ context }) => `/api/frontend?${queryOf(context)}`),
  },
  {
    name: 'frontend, by body',
    ask: sdk(
      'POST',
      FRONTEND_TOKEN,
      () => '/api/frontend',
      ({ context }) => ({ context }),
    ),
  },
  {
    name: 'OFREP, a flag',
    ask: sdk('POST', FRONTEND_TOKEN, ({ flag }) => `/ofrep/v1/evaluate/flags/${flag}`, ofrepBody),
  },
  {
    name: 'OFREP, all flags',
    ask: sdk('POST', FRONTEND_TOKEN, () => '/ofrep/v1/evaluate/flags', ofrepBody),
  },
  { name: 'client features', ask: sdk('GET', CLIENT_TOKEN, () => '/api/client/features') },
  { name: 'client delta', ask: sdk('GET', CLIENT_TOKEN, () => '/api/client/delta') },
  { name: 'client stream', ask: sdk('GET', CLIENT_TOKEN, () => '/api/client/streaming') },
  {
    name: 'a flag in the past',
    ask: ({ call }, { flag, eventId }) => call('GET', `${FEATURES}/${flag}?at=${eventId}`),
  },
];

/** Makes the segments and flags of a case, and leaves out what is refused. */
class Installation {
  readonly #call: Call;
  readonly #prefix: string;
  taken = 0;
  refused = 0;

  constructor(call: Call, prefix: string) {
    this.#call = call;
    this.#prefix = prefix;
  }

  /** The name of the flag that has parents. */
  async install({ features, segments = [] }: WorstCase['document']): Promise<string> {
    const ids = new Map<number, number>();
    for (const segment of segments) {
      const id = await this.#segment(segment);
      if (id !== null) ids.set(segment.id, id);
    }
    for (const feature of features) await this.#flag(feature, ids);
    const [child] = features;
    assert(child !== undefined, 'a document has a flag');
    for (const { feature = '', enabled = true } of child.dependencies ?? [])
      await this.#made(`${FEATURES}/${this.#prefix}${child.name}/dependencies`, {
        feature: `${this.#prefix}${feature}`,
        enabled,
      });
    return `${this.#prefix}${child.name}`;
  }

  async #segment({ id, constraints }: SdkSegment): Promise<number | null> {
    const body = { name: `${this.#prefix}segment-${id}`, constraints: constraints.map(sent) };
    return (await this.#made('/segments', body))?.id ?? null;
  }

  async #flag({ name, strategies }: SdkFeature, ids: ReadonlyMap<number, number>): Promise<void> {
    const flag = `${this.#prefix}${name}`;
    await this.#made(FEATURES, { name: flag });
    for (const { segments = [], constraints = [], ...strategy } of strategies)
      await this.#made(`${environmentPath(flag)}/strategies`, {
        ...strategy,
        constraints: constraints.map(sent),
        segments: segments.flatMap((id) => ids.get(id) ?? []),
      });
    await this.#call('POST', `${environmentPath(flag)}/on`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape.
  async #made(path: string, sentBody: object): Promise<any> {
    const { status, body } = await this.#call('POST', path, sentBody);
    assert(status < 300 || (status >= 400 && status < 500), `${path}: ${status} ${JSON.stringify(body)}`);
    if (status < 300) this.taken += 1;
    else this.refused += 1;
    return status < 300 ? body : null;
  }
}

/** The constraint in the form of a request: an operator has values or one value. */
function sent({ values, value, ...constraint }: SdkConstraint): object {
  return { ...constraint, ...(values === undefined ? { value } : { values: [...new Set(values)] }) };
}

export async function serveWorst(cases: readonly WorstCase[]): Promise<ServedResult> {
  const folder = temporaryFolder();
  const probeFile = join(folder, 'probe.json');
  const server = await spawnServer(join(folder, 'data'), {
    NODE_OPTIONS: `--max-old-space-size=512 --max-semi-space-size=16 ${LOAD_PROBE}`,
    PROBE_FILE: probeFile,
    INIT_CLIENT_API_TOKENS: CLIENT_TOKEN,
    INIT_FRONTEND_API_TOKENS: FRONTEND_TOKEN,
  });
  try {
    let [taken, refused, asked] = [0, 0, 0];
    const installed: Case[] = [];
    for (const [at, { document, context }] of cases.entries()) {
      const installation = new Installation(server.call, `case-${at}-`);
      const flag = await installation.install(document);
      taken += installation.taken;
      refused += installation.refused;
      const { body } = await server.call('GET', '/events?limit=1');
      installed.push({ flag, context, eventId: body.events[0].id });
    }
    await longestTurn(server, probeFile);
    let [slowestTurnMs, slowestSurface] = [0, ''];
    for (const { name, ask } of SURFACES) {
      for (const one of installed) {
        const { status } = await ask(server, one);
        assert(status === 200 || status === 400 || status === 413, `${name}: ${status}`);
        asked += 1;
      }
      const { loopBusyMostMs, busiest } = await longestTurn(server, probeFile);
      if (process.env.VERBOSE !== undefined)
        console.log(`  ${name}: ${loopBusyMostMs.toFixed(1)} ms (${busiest})`);
      if (loopBusyMostMs <= slowestTurnMs) continue;
      slowestTurnMs = loopBusyMostMs;
      slowestSurface = name;
    }
    return { taken, refused, asked, slowestTurnMs, slowestSurface };
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
