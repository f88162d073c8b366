/**
 * Makes the files of the pages from `web/`: of each page one script and one style sheet, whose names hold a digest of their content, so
 * that a browser keeps them for ever; and the manual, from the Markdown of the repository. Packing runs this module, which writes them
 * beside the compiled code; a checkout makes them when the first page is asked for.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** Path below `web/`, such as `console/app-5QWXJBWA.js` → content. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

const SOURCE_FOLDER = fileURLToPath(new URL('../../../web', import.meta.url));

/** Beside the compiled code; a checkout has neither. */
const BUILT_FOLDERS = {
  web: fileURLToPath(new URL('../../web', import.meta.url)),
  manual: fileURLToPath(new URL('../../manual', import.meta.url)),
};

const PAGES = ['console', 'docs', 'welcome'];

/** Files of Swagger UI that go into the page of the description as they are. */
const SWAGGER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

/** The oldest JavaScript that browsers of the last three years know. */
const TARGET = 'es2022';

/** Letters and digits of a digest in a name. */
const DIGEST_LENGTH = 10;

/** Names that hold a digest, by `digestName` or by esbuild: they are never those of other content. */
export const DIGEST_NAME = /-(?:[0-9a-f]{10}|[0-9A-Z]{8})\.[a-z]+$/;

/** An entry that what is loaded later imports too: esbuild puts all of it into another file, which pages then name without a detour. */
const ONE_IMPORT = /^import"\.\/([\w.-]+)";\s*$/;

/** References of a page to files of its own. */
const REFERENCE = /(?<=(?:href|src)=")[a-z]+\/[\w./-]+\.(?:css|jsx?|svg)(?=")/g;

export async function buildPages(): Promise<PageFiles> {
  const pages = PAGES.map((name) => ({
    name: `${name}/index.html`,
    text: readFileSync(join(SOURCE_FOLDER, name, 'index.html'), 'utf8'),
  }));
  const references = pages.flatMap(({ text }) => text.match(REFERENCE) ?? []);
  const sources = [...new Set(references)].filter((name) => existsSync(join(SOURCE_FOLDER, name)));
  const { files, licenses } = await bundle(sources.filter((name) => extname(name) !== '.svg'));
  for (const name of sources.filter((one) => extname(one) === '.svg'))
    files.set(name, readFileSync(join(SOURCE_FOLDER, name)));
  const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const name of SWAGGER_FILES) files.set(`docs/${name}`, readFileSync(join(swagger, name)));
  const named = new Map([...files].map(([name, content]) => [name, digestName(name, content)]));
  for (const [name, content] of files) {
    const [, imported] = ONE_IMPORT.exec(Buffer.from(content).toString('latin1')) ?? [];
    if (imported === undefined) continue;
    named.set(name, `${dirname(name)}/${imported}`);
    files.delete(name);
  }
  return new Map<string, Uint8Array>([
    ...[...files].map(([name, content]) => [named.get(name) ?? name, content] as const),
    ...pages.map(({ name, text }) => {
      const linked = text.replace(
        REFERENCE,
        (reference) => named.get(reference.replace(/x$/, '')) ?? reference,
      );
      return [name, Buffer.from(linked)] as const;
    }),
    ['licenses.txt', Buffer.from(`${licenses}\n\n${licenseOf(swagger)}`)],
  ]);
}

/** The files of the manual, by path below its own root. VitePress runs in a process of its own, since it takes seconds. */
export async function buildManual(): Promise<PageFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'flagstaff-manual-'));
  try {
    const program = join(
      dirname(createRequire(import.meta.url).resolve('vitepress/package.json')),
      'bin/vitepress.js',
    );
    const source = join(SOURCE_FOLDER, 'manual');
    await promisify(execFile)(process.execPath, [program, 'build', source, '--outDir', folder]);
    return filesIn(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Each source with all that it imports, under its own name; what it loads later only, as files beside it; and the licenses of the packages among that. */
async function bundle(
  sources: readonly string[],
): Promise<{ files: Map<string, Uint8Array>; licenses: string }> {
  // The package has what was built, and no builder.
  const { build, stop } = await import('esbuild');
  const bundled = await Promise.all(
    // Each by itself: what two pages share is part of both, and no further request.
    sources.map((source) =>
      build({
        absWorkingDir: SOURCE_FOLDER,
        entryPoints: [source],
        outbase: SOURCE_FOLDER,
        outdir: SOURCE_FOLDER,
        bundle: true,
        splitting: true,
        chunkNames: `${dirname(source)}/[name]-[hash]`,
        minify: true,
        write: false,
        metafile: true,
        format: 'esm',
        target: TARGET,
        loader: { '.md': 'text' },
        jsx: 'automatic',
        jsxImportSource: 'preact',
      }),
    ),
  );
  await stop();
  const files = new Map(
    bundled
      .flatMap(({ outputFiles }) => outputFiles)
      .map(({ path, contents }) => [relative(SOURCE_FOLDER, path).replaceAll('\\', '/'), contents]),
  );
  return { files, licenses: licensesOf(bundled.flatMap(({ metafile }) => Object.keys(metafile.inputs))) };
}

/** `inputs`: files relative to `web/`. */
function licensesOf(inputs: readonly string[]): string {
  const folders = inputs.flatMap(
    (file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(resolve(SOURCE_FOLDER, file))?.[0] ?? [],
  );
  return [...new Set(folders)].sort().map(licenseOf).join('\n\n');
}

function licenseOf(folder: string): string {
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
  const texts = readdirSync(folder).filter((file) =>
    /^(?:licen[cs]e|notice)|-bundle\.js\.LICENSE/i.test(file),
  );
  if (texts.length === 0)
    throw new Error(`the package ${name} has no license, so that nothing of it can be handed on`);
  return [name, ...texts.map((file) => readFileSync(join(folder, file), 'utf8'))].join('\n\n');
}

/** `name` where esbuild has put a digest into it already, which other files know. */
function digestName(name: string, content: Uint8Array): string {
  if (DIGEST_NAME.test(name)) return name;
  const digest = createHash('sha256').update(content).digest('hex').slice(0, DIGEST_LENGTH);
  const extension = extname(name);
  return `${name.slice(0, -extension.length)}-${digest}${extension}`;
}

/** The files that packing has made; null in a checkout. */
export function builtFiles(kind: keyof typeof BUILT_FOLDERS): PageFiles | null {
  const folder = BUILT_FOLDERS[kind];
  return existsSync(folder) ? filesIn(folder) : null;
}

function filesIn(folder: string): PageFiles {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    names
      .filter((name) => extname(name) !== '')
      .map((name) => [name.replaceAll('\\', '/'), readFileSync(join(folder, name))]),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const made = { web: await buildPages(), manual: await buildManual() };
  for (const kind of ['web', 'manual'] as const) {
    for (const [name, content] of made[kind]) {
      const path = join(BUILT_FOLDERS[kind], name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }
}
