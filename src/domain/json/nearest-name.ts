/** "Did you mean": the known name that a mistyped one is nearest to. */
import { distance } from 'fastest-levenshtein';

/** Longer names are not compared: the comparison takes their length squared. */
const LENGTH_MAX = 100;
/** Protects the turn of the command from a long list; suggestions come from the first ones then. */
const NAMES_MAX = 1_000;

/** Null when none is near: more than `changesMax` characters, a third unless said otherwise, would have to change. */
export function nearestName(
  given: string,
  known: Iterable<string>,
  changesMax = Math.max(1, Math.floor(given.length / 3)),
): string | null {
  if (given.length > LENGTH_MAX) return null;
  let nearest: string | null = null;
  let least = changesMax + 1;
  let compared = 0;
  for (const name of known) {
    compared += 1;
    if (compared > NAMES_MAX) break;
    if (name.length > LENGTH_MAX || Math.abs(name.length - given.length) >= least) continue;
    const changes = distance(given.toLowerCase(), name.toLowerCase());
    if (changes < least) {
      nearest = name;
      least = changes;
    }
  }
  return nearest;
}

/** ` Did you mean "x"?`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const nearest = nearestName(given, known);
  return nearest === null ? '' : ` Did you mean "${nearest}"?`;
}
