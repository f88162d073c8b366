/** The version of this program, as its package says it. */
import { readFileSync } from 'node:fs';

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

export const VERSION: string = versionOf(manifest);

function versionOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'version' in value) {
    if (typeof value.version === 'string') return value.version;
  }
  throw new Error('package.json has no version');
}
