/**
 * The place and kind of this installation: a checkout, whose TypeScript runs through tsx, or the package made of it,
 * which is JavaScript. Both have the same folders below their root: `src` in one, `dist` in the other, and `web`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT_FOLDER = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The data folder of somebody who names none. A package is replaced as a whole when it is updated, so its data never lie
 * within it.
 */
export const DEFAULT_DATA_DIR = existsSync(join(ROOT_FOLDER, 'src'))
  ? join(ROOT_FOLDER, 'data')
  : resolve('flagstaff-data');

const manifest: unknown = JSON.parse(readFileSync(join(ROOT_FOLDER, 'package.json'), 'utf8'));

/** The version of this program, as its package says it. */
export const VERSION: string = versionOf(manifest);

function versionOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'version' in value) {
    if (typeof value.version === 'string') return value.version;
  }
  throw new Error('package.json has no version');
}
