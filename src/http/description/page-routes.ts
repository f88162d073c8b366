/**
 * The pages that the server brings along: the console at `/`, the description of the interface at `/docs`, and at `/welcome`
 * what the links lead to that Admins hand on. All that
 * they need comes from here, so they work without any other host; what they show comes from the interface, with the
 * caller's own token.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Coding, Compressor, preferredCoding } from '../serving/compressor.ts';
import { COMMON_ERRORS } from '../serving/errors.ts';
import { isNotModified, tagOfCoding } from '../serving/etag.ts';
import type { PlainRoute } from '../serving/route.ts';
import type { Surface } from '../serving/surface.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';

const WEB_FOLDER = fileURLToPath(new URL('../../../web', import.meta.url));

const require = createRequire(import.meta.url);

/** The libraries of the console, as the import map in its page names them: the file that is served → its module. */
const LIBRARIES = {
  'preact.js': 'preact/dist/preact.mjs',
  'preact-hooks.js': 'preact/hooks/dist/hooks.mjs',
  'signals.js': '@preact/signals/dist/signals.mjs',
  'signals-core.js': '@preact/signals-core/dist/signals-core.mjs',
} as const;

/** Only what this server sends runs, only this server is talked to, and no other page frames this one. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The console's only inline script is its import map, which the policy names by its digest. */
const CONSOLE_POLICY = PAGE_POLICY.replace(
  "script-src 'self'",
  `script-src 'self' ${importMapDigest(readFileSync(join(WEB_FOLDER, 'console/index.html'), 'utf8'))}`,
);

/** Swagger UI sets styles from its scripts and has its icons in its style sheet. Scripts stay as they are sent. */
const DOCS_POLICY = PAGE_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace(
  "img-src 'self'",
  "img-src 'self' data:",
);

export interface PageOptions {
  /** `BASE_URI_PATH`, the prefix of every path. */
  readonly basePath: string;
  /** The OpenAPI document. */
  describe(): object;
}

export function pageSurface({ basePath, describe }: PageOptions): Surface {
  const document = () => makePage(Buffer.from(JSON.stringify(describe())), '.json', PAGE_POLICY);
  return {
    prefix: '',
    access: null,
    errors: COMMON_ERRORS,
    description: null,
    routes: [
      ...folderRoutes('console', '/', CONSOLE_POLICY),
      ...folderRoutes('docs', '/docs', DOCS_POLICY),
      ...folderRoutes('welcome', '/welcome', PAGE_POLICY),
      ...libraryRoutes(),
      ...swaggerRoutes(),
      pageRoute('/docs/openapi.json', document),
      ...(basePath === '' ? [] : [redirect('', `${basePath}/`)]),
    ],
  };
}

/**
 * A folder of `web/`, with those inside it: its `index.html` at `indexPath`, its other files below the folder's name.
 */
function folderRoutes(folder: string, indexPath: string, policy: string): readonly PlainRoute[] {
  return readdirSync(join(WEB_FOLDER, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:html|css|js|svg)$/.test(name))
    .map((name) => {
      const page = readPage(join(WEB_FOLDER, folder, name), policy);
      return pageRoute(name === 'index.html' ? indexPath : `/${folder}/${name}`, () => page);
    });
}

/** The digest of the one import map in a page, as a Content-Security-Policy names it. */
function importMapDigest(html: string): string {
  const map = /<script type="importmap">([^<]*)<\/script>/.exec(html)?.[1];
  if (map === undefined) throw new Error('the page of the console has no import map');
  return `'sha256-${createHash('sha256').update(map).digest('base64')}'`;
}

function libraryRoutes(): readonly PlainRoute[] {
  return Object.entries(LIBRARIES).map(([name, file]) =>
    pageRoute(`/console/lib/${name}`, () => libraryPage(moduleFile(file))),
  );
}

/** The library without the address of its source map, which is not served. */
function libraryPage(file: string): Page {
  const text = readFileSync(file, 'utf8').replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, '\n');
  return makePage(Buffer.from(text), '.js', PAGE_POLICY);
}

/** Finds a file of an installed package by its path, because the package's `exports` need not name it. */
function moduleFile(file: string): string {
  const [scope = '', name = ''] = file.split('/');
  const packageName = scope.startsWith('@') ? `${scope}/${name}` : scope;
  const folders = require.resolve.paths(packageName) ?? [];
  const found = folders.map((folder) => join(folder, file)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`the package ${packageName} has no file ${file}`);
  return found;
}

function swaggerRoutes(): readonly PlainRoute[] {
  const files = [
    require.resolve('swagger-ui-dist/swagger-ui.css'),
    require.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  ];
  return files.map((file) => pageRoute(`/docs/${basename(file)}`, () => readPage(file, DOCS_POLICY)));
}

/** Links in the pages are relative: they lead nowhere unless the page's own address ends in a slash. */
function redirect(path: string, to: string): PlainRoute {
  const headers = ResponseHeaders.of('location', to);
  return { kind: 'plain', method: 'GET', path, respond: () => ({ status: 308, headers, body: null }) };
}

// Files of pages: read once at the start, served from memory, always as one and the same bytes, so that an ETag of
// their content holds. A browser keeps them and asks each time whether they still hold, which costs it no body. Each is
// compressed once, when the first browser asks for it so.

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};

/** Headers of every response: nothing is guessed, nothing is told to other sites, no other window reaches in. */
const COMMON_HEADERS = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
  'cache-control',
  'no-cache',
  'vary',
  'accept-encoding',
] as const;

/** Smaller files fit into one packet as they are. */
const COMPRESSED_BYTES_MIN = 1_024;

interface Page {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly headers: ResponseHeaders;
  /** The page compressed, by coding, once it was asked for, or what makes it; null where it is sent as it is. */
  readonly codings: Map<Coding, Page | Promise<Page | null>>;
}

const compressor = new Compressor();

/** `kind` is a file name extension; `policy` the page's Content-Security-Policy. */
function makePage(body: Uint8Array, kind: string, policy: string): Page {
  const type = CONTENT_TYPES[kind];
  if (type === undefined) throw new Error(`no content type is known for ${kind} files`);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const own = ['content-type', type, 'etag', etag, 'content-security-policy', policy];
  return { body, etag, headers: ResponseHeaders.of(...own, ...COMMON_HEADERS), codings: new Map() };
}

function readPage(file: string, policy: string): Page {
  return makePage(readFileSync(file), extname(file), policy);
}

/** `page` is asked for at the first request, and kept. */
function pageRoute(path: string, page: () => Page): PlainRoute {
  let made: Page | null = null;
  return {
    kind: 'plain',
    method: 'GET',
    path,
    isLarge: true,
    respond: (request) => {
      made ??= page();
      const coding = preferredCoding(request.header('accept-encoding'));
      if (coding === 'identity' || made.body.byteLength < COMPRESSED_BYTES_MIN)
        return responseOf(made, request);
      return codedResponse(made, coding, request);
    },
  };
}

/** At once where it was compressed before. */
function codedResponse(
  page: Page,
  coding: Coding,
  request: TransportRequest,
): HttpResponse | Promise<HttpResponse> {
  const coded = page.codings.get(coding) ?? compressed(page, coding);
  if (!(coded instanceof Promise)) return responseOf(coded, request);
  page.codings.set(coding, coded);
  return coded.then((made) => responseOf(made ?? page, request));
}

/** Null where too many wait for being compressed, who ask again then. */
async function compressed(page: Page, coding: Coding): Promise<Page | null> {
  const body = await compressor.compress({
    ...{ body: page.body, coding, effort: 'thorough' },
    isWanted: () => true,
  });
  if (body === null) {
    page.codings.delete(coding);
    return null;
  }
  const etag = tagOfCoding(page.etag, coding);
  const headers = page.headers.without('etag').with('etag', etag, 'content-encoding', coding);
  const made = { ...page, body, etag, headers };
  page.codings.set(coding, made);
  return made;
}

function responseOf({ body, etag, headers }: Page, request: TransportRequest): HttpResponse {
  if (isNotModified(request, etag)) return { status: 304, headers, body: null };
  return { status: 200, headers, body };
}
