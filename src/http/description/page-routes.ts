/**
 * The pages that the server brings along: the console at `/`, the description of the interface at `/docs`, and at `/welcome`
 * what the links lead to that Admins hand on. All that
 * they need comes from here, so they work without any other host; what they show comes from the interface, with the
 * caller's own token.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMON_ERRORS } from '../serving/errors.ts';
import type { PlainRoute } from '../serving/route.ts';
import type { Surface } from '../serving/surface.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import { makePage, type Page, pageRoute, readPage } from './page-files.ts';

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

/** Where npm has put a file of a package, whose `exports` need not name it. */
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
