/** Semantic versions and their order, by Semantic Versioning 2.0.0. */

export interface SemanticVersion {
  readonly core: readonly string[];
  /** Empty for a release. */
  readonly prerelease: readonly string[];
}

const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/** Null when `text` is no semantic version; a leading "v" is none of it. Build metadata is not compared. */
export function parseSemanticVersion(text: string): SemanticVersion | null {
  const match = VERSION.exec(text);
  if (match === null) return null;
  const [, major = '', minor = '', patch = '', prerelease] = match;
  return { core: [major, minor, patch], prerelease: prerelease?.split('.') ?? [] };
}

/** Negative, zero or positive, as for `sort`. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  const byCore = compareLists(a.core, b.core);
  if (byCore !== 0) return byCore;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    // A release comes after all of its pre-releases.
    return Number(a.prerelease.length === 0) - Number(b.prerelease.length === 0);
  }
  return compareLists(a.prerelease, b.prerelease);
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < a.length && at < b.length; at += 1) {
    const order = compareIdentifiers(a[at]!, b[at]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const DIGITS = /^[0-9]+$/;

/** Numbers have no leading zeros, so the longer one is the larger one, whatever a double can hold. */
function compareIdentifiers(a: string, b: string): number {
  const isNumber = DIGITS.test(a);
  if (isNumber !== DIGITS.test(b)) return isNumber ? -1 : 1;
  if (isNumber && a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}
