/**
 * The pages that the server brings along: the console at `/`, the description of the interface at `/docs`, the manual at
 * `/docs/manual/`, and at `/welcome` what the links lead to that Admins hand on. All that they need comes from here, so they work without any other host; what they
 * show comes from the interface, with the caller's own token.
 */
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { type Coding, Compressor, preferredCoding } from '../../http/serving/compressor.ts';
import { type HttpError, plainErrorResponse } from '../../http/serving/errors.ts';
import { namesTag, tagOfCoding } from '../../http/serving/etag.ts';
import type { PlainRoute } from '../../http/serving/route.ts';
import { OPEN_AT_ROOT, type Surface } from '../../http/serving/surface.ts';
import { ResponseHeaders } from '../../http/transport/response.ts';
import type { HttpResponse, TransportRequest } from '../../http/transport/transport.ts';
import { buildManual, buildPages, builtFiles, DIGEST_NAME, type PageFiles } from './build-pages.ts';

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

/** Swagger UI sets styles from its scripts and has its icons in its style sheet. Scripts stay as they are sent. */
const DOCS_POLICY = PAGE_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace(
  "img-src 'self'",
  "img-src 'self' data:",
);

/** The life of a file whose name holds a digest of its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The page's policy, by the folder of its files. */
const POLICIES: Readonly<Record<string, string>> = {
  console: PAGE_POLICY,
  docs: DOCS_POLICY,
  welcome: PAGE_POLICY,
};

export interface PageOptions {
  /** `BASE_URI_PATH`, the prefix of every path. */
  readonly basePath: string;
  /** The OpenAPI document. */
  describe(): object;
}

export function pageSurface({ basePath, describe }: PageOptions): Surface {
  const manual = manualPages(`${basePath}${MANUAL}`);
  const document = () => makePage(Buffer.from(JSON.stringify(describe())), '.json', PAGE_POLICY);
  return {
    ...OPEN_AT_ROOT,
    routes: [
      pageRoute('/', () => findPage('console')),
      pageRoute('/docs', () => findPage('docs')),
      pageRoute('/welcome', () => findPage('welcome')),
      // Nothing is decoded: an encoded name is that of no file.
      ...Object.keys(POLICIES).map((folder) =>
        pageRoute(`/${folder}/:name`, ({ path }) => findPage(path.slice(basePath.length + 1))),
      ),
      pageRoute('/docs/openapi.json', once(document)),
      redirect(MANUAL.slice(0, -1), `${basePath}${MANUAL}`),
      ...['', ':name', ':folder/:name', ':folder/:part/:name'].map((pattern) =>
        pageRoute(MANUAL + pattern, async ({ path }) => (await manual()).get(path) ?? null),
      ),
      ...(basePath === '' ? [] : [redirect('', `${basePath}/`)]),
    ],
  };
}

type Pages = ReadonlyMap<string, Page>;

/** By path below the base path, pages by the names of their folders. They are the same for all servers of a process. */
let pages: Pages | Promise<Pages> | null = null;

function findPage(name: string): Page | null | Promise<Page | null> {
  pages ??= readPages();
  return pages instanceof Promise ? pages.then((read) => read.get(name) ?? null) : (pages.get(name) ?? null);
}

/** The files that packing has built; a checkout builds them when the first page is asked for. */
function readPages(): Pages | Promise<Pages> {
  const built = builtFiles('web');
  if (built !== null) return pagesOf(built);
  return buildPages().then(
    (files) => {
      pages = pagesOf(files);
      return pages;
    },
    (error: unknown) => {
      pages = null;
      throw error;
    },
  );
}

function pagesOf(files: PageFiles): Pages {
  const made = [...files].flatMap(([name, content]) => {
    const policy = POLICIES[name.slice(0, name.indexOf('/'))];
    if (policy === undefined) return [];
    return [
      [name.replace('/index.html', ''), makePage(content, extname(name), policy, lifeOf(name))] as const,
    ];
  });
  return new Map(made);
}

/** Under the base path; VitePress writes it into the files. */
const MANUAL = '/docs/manual/';

/** The two scripts within each page of the manual, which set the theme and the names of keys before anything is drawn. */
const INLINE_SCRIPT = /(?<=<script id="[a-z-]+">).+?(?=<\/script>)/g;

/** The pages of the manual by path, made once they are asked for; `root`: the address below which they are. */
function manualPages(root: string): () => Promise<Pages> {
  let made: Promise<Pages> | null = null;
  return () => {
    made ??= readManual(root).catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}

async function readManual(root: string): Promise<Pages> {
  const files = builtFiles('manual') ?? (await buildManual());
  const texts = [...files].map(
    ([name, content]) => [name, content.toString().replaceAll(MANUAL, root)] as const,
  );
  const scripts = new Set(texts.flatMap(([, text]) => text.match(INLINE_SCRIPT) ?? []));
  const digests = [...scripts].map(
    (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  const policy = DOCS_POLICY.replace("script-src 'self'", ["script-src 'self'", ...digests].join(' '));
  return new Map(
    texts.map(([name, text]) => {
      const life = name.startsWith('assets/') ? IMMUTABLE : 'no-cache';
      const path = root + name.replace(/(?:(?<=^|\/)index)?\.html$/, '');
      return [path, makePage(Buffer.from(text), extname(name), policy, life)] as const;
    }),
  );
}

const lifeOf = (name: string): string => (DIGEST_NAME.test(name) ? IMMUTABLE : 'no-cache');

/** Links in the pages are relative: they lead nowhere unless the page's own address ends in a slash. */
function redirect(path: string, to: string): PlainRoute {
  const headers = ResponseHeaders.of('location', to);
  return { kind: 'plain', method: 'GET', path, respond: () => ({ status: 308, headers, body: null }) };
}

// Files of pages are served from memory, always as one and the same bytes, so that an ETag of their content holds. A browser keeps
// those whose names hold a digest and never asks for them again; for the others it asks whether they still hold, which costs it no
// body. Each is compressed once, when the first browser asks for it so.

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
function makePage(body: Uint8Array, kind: string, policy: string, life = 'no-cache'): Page {
  const type = CONTENT_TYPES[kind];
  if (type === undefined) throw new Error(`no content type is known for ${kind} files`);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const own = ['content-type', type, 'etag', etag, 'content-security-policy', policy, 'cache-control', life];
  return { body, etag, headers: ResponseHeaders.of(...own, ...COMMON_HEADERS), codings: new Map() };
}

/** Makes the page when it is first asked for. */
function once(make: () => Page): () => Page {
  let made: Page | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** `find` finds nothing where the path names no file. */
function pageRoute(
  path: string,
  find: (request: TransportRequest) => Page | null | Promise<Page | null>,
): PlainRoute {
  return {
    kind: 'plain',
    method: 'GET',
    path,
    isLarge: true,
    respond(request) {
      const page = find(request);
      return page instanceof Promise
        ? page.then((found) => pageResponse(found, request))
        : pageResponse(page, request);
    },
  };
}

const NO_SUCH_FILE: HttpError = {
  status: 404,
  name: 'NotFoundError',
  message: 'There is no such file.',
  details: [{ message: 'There is no such file.' }],
};

function pageResponse(page: Page | null, request: TransportRequest): HttpResponse | Promise<HttpResponse> {
  if (page === null) return plainErrorResponse(NO_SUCH_FILE);
  const coding = preferredCoding(request.header('accept-encoding'));
  if (coding === 'identity' || page.body.byteLength < COMPRESSED_BYTES_MIN) return responseOf(page, request);
  return codedResponse(page, coding, request);
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
  if (namesTag(request.header('if-none-match'), etag)) return { status: 304, headers, body: null };
  return { status: 200, headers, body };
}
