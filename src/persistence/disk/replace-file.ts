/** Replaces a small file as a whole. A reader finds the old content or the new one, never a half-written file. */
import { dirname } from 'node:path';
import { TEMPORARY_SUFFIX } from './data-folder.ts';
import type { FileSystem } from './file-system.ts';
import { writeFully } from './write-fully.ts';

/** `durable`: the new content outlasts a power cut once this resolves, and until then the old one does. */
export async function replaceFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array,
  { durable }: { readonly durable: boolean },
): Promise<void> {
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  if (await fs.exists(temporary)) await fs.remove(temporary);
  const file = await fs.open(temporary, 'create');
  try {
    await writeFully(file, bytes, 0);
    if (durable) await file.sync();
  } finally {
    await file.close();
  }
  await fs.rename(temporary, path);
  if (durable) await fs.syncFolder(dirname(path));
}
