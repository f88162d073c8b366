/**
 * The console's types of what the server sends, made from the description of the interface. The check of the console's source makes them
 * for itself; `node --import tsx test/browser/console-types.ts` writes them into `web/console/api-types.d.ts` for editors, which
 * is not kept.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describedTypes } from '../support/described-types.ts';
import { ROOT_FOLDER } from '../support/server.ts';

export const CONSOLE_TYPES_FILE = join(ROOT_FOLDER, 'web/console/api-types.d.ts');

/** The text of the file: a type for each schema, under its name. */
export const consoleTypes = (): Promise<string> =>
  describedTypes(({ openapi, info, components = {} }) => ({
    openapi,
    info,
    components: { schemas: components.schemas ?? {} },
  }));

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(CONSOLE_TYPES_FILE, await consoleTypes());
}
