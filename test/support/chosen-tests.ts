import { dirname } from 'node:path';
import { closest } from 'fastest-levenshtein';

/** The end of the names of files that a run takes only where it is told to run all, or where they are named. */
const ALL_ONLY = '.all.test.ts';

/** A path that is neither a test file nor a folder of some. */
export class UnknownPlace extends Error {}

/** The files that a run takes of those that there are. `places` are files and folders; none of them stand for all. */
export function chooseTests(files: readonly string[], places: readonly string[], isAll: boolean): string[] {
  if (places.length === 0) return files.filter((file) => isAll || !file.endsWith(ALL_ONLY));
  const chosen = places.map((given) => {
    const place = given.replace(/\/+$/, '');
    const below = files.filter((file) => file === place || file.startsWith(`${place}/`));
    if (below.length > 0) return below;
    const paths = [...new Set(files.flatMap((file) => [file, dirname(file)]))];
    throw new UnknownPlace(`${given} has no tests. Did you mean ${closest(given, paths)}?`);
  });
  return [...new Set(chosen.flat())];
}
