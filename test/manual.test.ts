/**
 * The claims of the manual, taken from its pages line by line, and checked against running servers: one of each HTTP engine, which all
 * checks share. A claim that is not true any more is named with its page and line.
 *
 * Other tests have the rest of the manual: the pages that are generated, the walks, and the deadlines by real clocks
 * (test/http/transport/real-deadlines.all.test.ts).
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LINKS_FROM_ADDRESS } from '../src/addons/people/passwords.ts';
import { ERROR_STATUS } from '../src/http/serving/errors.ts';
import { METRICS_PATH } from '../src/http/serving/metrics-page.ts';
import { createLog } from '../src/process/log.ts';
import { ConfigError } from '../src/process/settings.ts';
import { configureAddons } from '../src/start/addons.ts';
import { readConfig } from '../src/start/config.ts';
import { SENTENCES } from './manual-claims.ts';
import { ENGINES } from './support/installed-engines.ts';
import { flagstaff } from './support/operator.ts';
import { isOfStream, ROOT_FOLDER, serverFor, startTestServer, type TestServer } from './support/server.ts';
import { ADMIN_ROUTES } from './support/surfaces.ts';

interface Claim {
  /** Page and line. */
  readonly at: string;
  readonly what: string;
  /** Throws where it does not hold. */
  check(server: TestServer): unknown;
}

interface Line {
  readonly at: string;
  readonly text: string;
}

function linesOf(...pages: readonly string[]): Line[] {
  return pages.flatMap((page) =>
    readFileSync(join(ROOT_FOLDER, page), 'utf8')
      .split('\n')
      .map((text, index) => ({ at: `${page}:${index + 1}`, text })),
  );
}

const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT_FOLDER, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

const OPERATING = linesOf('docs/operating.md', 'docs/operating-reference.md');

/** Pages that name operations of this server. The one about compatibility names those of Unleash that it lacks, too. */
const NAMING = linesOf(
  'README.md',
  ...pagesIn('docs/specification'),
  ...pagesIn('docs').filter((page) => !/compatibility|migrate|cluster|reliability|limits/.test(page)),
);

/** The beginnings of paths that are not below `/api/admin`. */
const OTHER_SURFACE =
  /^\/(?:api|auth|invite|edge|ofrep|openfeature|health|ready|internal-backstage|docs|logout)(?:\/|$)/;

/** Without a token: those who have none ask for these. */
const PUBLIC = /^\/(?:auth|invite|health|ready|internal-backstage|docs|edge|logout)(?:\/|$)/;

/** The whole path that is meant, with something in place of each parameter; null where several could be. */
function pathOf(method: string, named: string): string | null {
  const written = named.replace(/[?].*$/, '').replaceAll(/\{(\w+)\}|<(\w+)>/g, ':$1$2');
  const isPart = !written.startsWith('/');
  const suffix = written.replace(/^…?\/?/, '/');
  const route = isPart
    ? ADMIN_ROUTES.find((one) => one.method === method && one.path.endsWith(suffix))?.path
    : written;
  if (route === undefined) return null;
  const filled = route.replaceAll(/:\w+/g, 'nothing-here');
  return OTHER_SURFACE.test(filled) ? filled : `/api/admin${filled}`;
}

/** Each operation once, where it is named first. */
function operationClaims(): Claim[] {
  const seen = new Set<string>();
  const named = /\b(GET|POST|PUT|PATCH|DELETE) `?((?:…|\/)[\w/:.{}<>*…-]*)/g;
  return NAMING.flatMap(({ at, text }) =>
    [...text.matchAll(named)].flatMap(([, method = '', path = '']) => {
      // Nobody signs in at a provider here, so its paths are not there.
      if (path.includes('*') || path.startsWith('/auth/oidc/')) return [];
      const whole = pathOf(method, path);
      if (whole === null || seen.has(`${method} ${whole}`)) return [];
      seen.add(`${method} ${whole}`);
      return [
        {
          at,
          what: `${method} ${path} is there`,
          check: (server: TestServer) => isThere(server, method, whole),
        },
        ...(PUBLIC.test(whole)
          ? []
          : [
              {
                at,
                what: `${method} ${path} takes a token`,
                check: (server: TestServer) => takesToken(server, method, whole),
              },
            ]),
      ];
    }),
  );
}

async function ask(server: TestServer, method: string, path: string, token: boolean) {
  const fetched = await fetch(`${server.origin}${path}`, {
    method,
    redirect: 'manual',
    headers: token ? { authorization: '*:*.test-secret' } : {},
  });
  // A stream would not end.
  const isStream = isOfStream(fetched.headers.get('content-type') ?? '');
  if (isStream) await fetched.body?.cancel();
  return { status: fetched.status, text: isStream ? '' : await fetched.text() };
}

async function isThere(server: TestServer, method: string, path: string): Promise<void> {
  const { status, text } = await ask(server, method, path, true);
  assert(status !== 405 && !text.includes('There is nothing at the path'), `${status} ${text}`);
  assert(status < 500, `${status} ${text}`);
}

async function takesToken(server: TestServer, method: string, path: string): Promise<void> {
  const { status, text } = await ask(server, method, path, false);
  assert.equal(status, 401, text);
}

function metricClaims(): Claim[] {
  const documented = OPERATING.filter(({ text }) => text.startsWith('| `'))
    .flatMap(({ at, text }) =>
      [...(text.split(' | ')[0] ?? '').matchAll(/`((?:flagstaff|nodejs)_\w+)`/g)].map(([, name = '']) => ({
        at,
        name,
      })),
    )
    .filter(({ name }) => !name.startsWith('flagstaff_cluster_'));
  return documented.map(({ at, name }) => ({
    at,
    what: `there is a metric ${name}`,
    check: async (server) => assert((await page(server)).includes(`\n${name}`), name),
  }));
}

const page = async (server: TestServer): Promise<string> =>
  (await fetch(`${server.origin}${METRICS_PATH}`)).text();

const configured = async (env: Readonly<Record<string, string>>) =>
  configureAddons(env, readConfig(env), createLog('silent'));

/** Each variable that a table of settings names is read: a value that no setting takes is refused by its name. */
function settingClaims(): Claim[] {
  // Texts of any form, secrets, and what names a file or a folder.
  const free = /^(?:HTTP_HOST|DATA_DIR|HISTORY_KEY_FILE|IMPORT_FILE|INIT_|OIDC_|OTEL_|REPLICATION_)/;
  return linesOf('docs/settings.md')
    .filter(({ text }) => /^\| `[A-Z_]+`/.test(text))
    .flatMap(({ at, text }) =>
      [...(text.split(' | ')[0] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => ({ at, name })),
    )
    .filter(({ name }) => !free.test(name))
    .map(({ at, name }) => ({
      at,
      what: `${name} is a setting`,
      check: () =>
        assert.rejects(
          configured({ [name]: 'no value' }),
          (error) => error instanceof ConfigError && error.message.includes(name),
        ),
    }));
}

/** Each message in the table of log lines stands in the code, and not only in the lines of which the table is made. */
function messageClaims(): Claim[] {
  const sources = readdirSync(join(ROOT_FOLDER, 'src'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(ROOT_FOLDER, 'src', name), 'utf8'))
    .join('\n')
    .replaceAll(/^ *\/\/ Operators.*$/gm, '');
  const first = OPERATING.findIndex(({ text }) => text === '| message | what to do |');
  const table = OPERATING.slice(first + 2);
  return table
    .slice(0, table.findIndex(({ text }) => !text.startsWith('|')) >>> 0)
    .flatMap(({ at, text }) =>
      [...(text.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, message = '']) => ({ at, message })),
    )
    .map(({ at, message }) => ({
      at,
      what: `the log can say "${message}"`,
      check: () => {
        for (const part of message.split('…').map((one) => one.trim())) {
          const words = part.replace(/^[,.; ]+|[,.; ]+$/g, '');
          assert(sources.includes(words), `nothing in the code says "${words}"`);
        }
      },
    }));
}

function errorClaims(): Claim[] {
  return linesOf('docs/specification/common.md').flatMap(({ at, text }) => {
    const [, status, name] = /^\| (\d{3}) \| `(\w+)` \|/.exec(text) ?? [];
    if (name === undefined) return [];
    const check = (): void => assert.equal(ERROR_STATUS[name as keyof typeof ERROR_STATUS], Number(status));
    return [{ at, what: `${name} is ${status}`, check }];
  });
}

function commandClaims(): Claim[] {
  return linesOf('docs/operating-commands.md')
    .filter(({ text }) => /^\| `/.test(text))
    .flatMap(({ at, text }) =>
      [...(text.split(' | ')[0] ?? '').matchAll(/`([a-z -]+)`/g)].map(([, command = '']) => ({
        at,
        command,
      })),
    )
    .map(({ at, command }) => ({
      at,
      what: `flagstaff ${command} explains itself`,
      check: async () => {
        const words = command.replace(/ --.*$/, '').split(' ');
        const { code, out } = await flagstaff([...words, '--help']);
        assert.equal(code, 0);
        assert(out.includes(`flagstaff ${words.join(' ')}`), out);
      },
    }));
}

/** Each sentence stands on its page, and each request that follows from it is responded to as it says. */
function sentenceClaims(): Claim[] {
  return SENTENCES.flatMap(({ page: name, quote, asked }) => {
    const at = linesOf(name).find(({ text }) => text.includes(quote))?.at ?? name;
    return asked.map(([method, path, body, expected]) => ({
      at,
      what: `"${quote}": ${method} ${path} ${JSON.stringify(body)?.slice(0, 80) ?? ''} is ${expected}`,
      check: async (server: TestServer) => {
        assert(at !== name, 'the page does not say so');
        const response = await server.call(method, path, body);
        const [, status, field, value] = /^(\d+)(?: ([\w.]+)=(.+))?$/s.exec(String(expected)) ?? [];
        assert.equal(response.status, Number(status), JSON.stringify(response.body));
        if (field === undefined) return;
        const found = field.split('.').reduce((part, key) => part?.[key], response.body);
        assert.deepEqual(found, JSON.parse(value ?? ''));
      },
    }));
  });
}

const CLAIMS = [
  ...operationClaims(),
  ...metricClaims(),
  ...settingClaims(),
  ...messageClaims(),
  ...errorClaims(),
  ...commandClaims(),
  ...sentenceClaims(),
];

for (const engine of ENGINES)
  describe(`the manual (${engine})`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ env: { HTTP_ENGINE: engine } });
    });
    after(() => server.stop());

    it('claims nothing that is not so', async (t) => {
      t.diagnostic(`${CLAIMS.length} claims`);
      const wrong: string[] = [];
      for (const { at, what, check } of CLAIMS) {
        try {
          await check(server);
        } catch (error) {
          wrong.push(`${at} claims: ${what}. ${(error as Error).message.slice(0, 300)}`);
        }
      }
      assert.equal(wrong.join('\n'), '');
      assert(CLAIMS.length >= 400, `only ${CLAIMS.length} claims were found`);
    });
  });

describe('a server behind the nginx of docs/operating.md, with the settings beside it', () => {
  const text = OPERATING.map((line) => line.text).join('\n');
  const [before = '', block = ''] = text.split('```nginx');
  const settings = [...(before.split('For nginx, with').at(-1) ?? '').matchAll(/`([A-Z_]+)=([^`]+)`/g)];
  const passedOn = [...(block.split('```')[0] ?? '').matchAll(/proxy_set_header (\S+) (\S+);/g)];

  /** The headers that nginx sends for whoever called it at the public address. */
  const from = (address: string): Record<string, string> => {
    const values: Readonly<Record<string, string>> = {
      $http_host: 'flags.example',
      $proxy_add_x_forwarded_for: address,
    };
    return Object.fromEntries(
      passedOn.flatMap(([, name = '', value = '']) =>
        value === '""' ? [] : [[name, values[value] ?? value]],
      ),
    );
  };

  it('makes links and cookies for HTTPS, and counts each caller by his own address', async (t) => {
    const server = await serverFor(t, { env: Object.fromEntries(settings.map((one) => one.slice(1))) });
    const ada = { username: 'ada', rootRole: 3, password: 'Correct-horse-7' };
    const invitation = { name: 'team', expiresAt: '2999-01-01T00:00:00Z' };
    const [friend, foe] = [from('203.0.113.7'), from('203.0.113.8')];
    const made = await server.call('POST', '/invite-link/tokens', invitation, { headers: friend });
    assert(made.body.url.startsWith('https://flags.example/'), made.body.url);
    assert.equal((await server.call('POST', '/user-admin', ada, { headers: friend })).status, 201);
    const auth = server.callBelow('/auth');
    const guess = async (headers: Record<string, string>) =>
      (await auth('GET', '/reset/validate?token=guess', undefined, { token: null, headers })).status;
    let last = 0;
    for (let left = 2 * LINKS_FROM_ADDRESS.burst; left > 0; left -= 1) last = await guess(foe);
    assert.deepEqual([last, await guess(friend)], [429, 404]);
    const { status, headers } = await auth('POST', '/simple/login', ada, { token: null, headers: friend });
    assert.equal(status, 200);
    assert.match(headers.get('set-cookie') ?? '', /; Secure/);
  });
});
