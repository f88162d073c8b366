/**
 * Conditions in the language of flagd's targeting, which is JSONLogic with some operations more. What can be decided when the
 * condition is made is a boolean and never a rule.
 */

/** An operation with its arguments, as JSON. */
export type Rule = Readonly<Record<string, unknown>>;

export type Condition = boolean | Rule;

/** Why something cannot be said to flagd exactly, in a few words. */
export interface LeftOut {
  readonly leftOut: string;
}

export type Translated = Condition | LeftOut;

export function isLeftOut(translated: Translated): translated is LeftOut {
  return typeof translated === 'object' && Object.hasOwn(translated, 'leftOut');
}

export function leaveOut(reason: string): LeftOut {
  return { leftOut: reason };
}

/** Whatever is left out does not matter where another part never holds. */
export function all(parts: readonly Translated[]): Translated {
  return combined(parts, 'and', false);
}

/** Whatever is left out does not matter where another part always holds. */
export function any(parts: readonly Translated[]): Translated {
  return combined(parts, 'or', true);
}

export function not(part: Translated): Translated {
  if (typeof part === 'boolean') return !part;
  return isLeftOut(part) ? part : { '!': [part] };
}

/** `decisive`: what decides the whole as soon as one part is it. */
function combined(parts: readonly Translated[], operation: 'and' | 'or', decisive: boolean): Translated {
  if (parts.includes(decisive)) return decisive;
  const leftOut = parts.find(isLeftOut);
  if (leftOut !== undefined) return leftOut;
  const rules = parts.filter((part) => typeof part !== 'boolean');
  if (rules.length === 0) return !decisive;
  return rules.length === 1 ? rules[0]! : { [operation]: rules };
}
