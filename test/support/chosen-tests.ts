import { dirname } from 'node:path';
import { closest } from 'fastest-levenshtein';

/** The end of the names of files that a run takes only where it takes all, or where they are named themselves. */
const ALL_ONLY = '.all.test.ts';

/** A path that is neither a test file nor a folder of some. */
export class UnknownPlace extends Error {}

/** The files that a run takes of those that there are. `places` are files and folders; none of them stand for all. */
export function chooseTests(files: readonly string[], places: readonly string[], isAll: boolean): string[] {
  const quick = isAll ? files : files.filter((file) => !file.endsWith(ALL_ONLY));
  if (places.length === 0) return [...quick];
  const chosen = places.map((given) => {
    const place = given.replace(/\/+$/, '');
    if (files.includes(place)) return [place];
    const below = quick.filter((file) => file.startsWith(`${place}/`));
    if (below.length > 0) return below;
    const paths = [...new Set(files.flatMap((file) => [file, dirname(file)]))];
    throw new UnknownPlace(`${given} has no tests. Did you mean ${closest(given, paths)}?`);
  });
  return [...new Set(chosen.flat())];
}
