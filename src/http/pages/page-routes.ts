/**
 * The pages that the server brings along: the console at `/`, the description of the interface at `/docs`. All that
 * they need comes from here, so they work without any other host; what they show comes from the interface, with the
 * caller's own token.
 */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMON_ERRORS } from '../dispatch/errors.ts';
import type { PlainRoute } from '../dispatch/route.ts';
import type { Surface } from '../dispatch/surface.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import { makePage, pageRoute, readPage } from './page-files.ts';

const WEB_FOLDER = fileURLToPath(new URL('../../../web', import.meta.url));

/** Only what this server sends runs, only this server is talked to, and no other page frames this one. */
const CONSOLE_POLICY = [
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
const DOCS_POLICY = CONSOLE_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace(
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
  const document = () => makePage(Buffer.from(JSON.stringify(describe())), '.json', CONSOLE_POLICY);
  return {
    prefix: '',
    access: null,
    errors: COMMON_ERRORS,
    description: null,
    routes: [
      ...folderRoutes('console', '/', CONSOLE_POLICY),
      ...folderRoutes('docs', '/docs', DOCS_POLICY),
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

function swaggerRoutes(): readonly PlainRoute[] {
  const require = createRequire(import.meta.url);
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
