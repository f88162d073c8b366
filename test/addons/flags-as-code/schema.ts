/** The JSON Schema of files of flags, made of the schema that reads them: `node --import tsx test/addons/flags-as-code/schema.ts` writes it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toJsonSchema } from '@valibot/to-json-schema';
import { FlagFileSchema } from '../../../src/addons/flags-as-code/flag-file.ts';
import { ROOT_FOLDER } from '../../support/server.ts';

export const SCHEMA_PATH = join(ROOT_FOLDER, 'docs/flags-as-code.schema.json');

/** Rules that JSON Schema cannot say are left to the command. */
export const schemaText = (): string =>
  `${JSON.stringify(toJsonSchema(FlagFileSchema, { typeMode: 'input', errorMode: 'ignore' }), null, 2)}\n`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(SCHEMA_PATH, schemaText());
