/**
 * Patterns of the operator REGEX: RE2's syntax, by re2js, whose time grows with pattern times text and never
 * exponentially. That product is bounded too, because anyone who may write a constraint could otherwise hold up every
 * evaluation: `((a{10}){100})$` takes 0.6 s on 10,000 characters.
 *
 * A compiled pattern takes up to 60 KiB, and what it learns of texts megabytes, where its text takes ten bytes. So those that
 * were not asked for longest are forgotten, and compiled again when they are.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/** Characters of a pattern's text. Compiling it takes 20 ms at worst, mostly for large repetitions of classes. */
const PATTERN_LENGTH_MAX = 1_000;

/** Instructions of the compiled pattern. One for an e-mail address has about 20. */
const INSTRUCTIONS_MAX = 250;

/** The largest size of a pattern that is compiled to count its instructions. Without repetitions nothing is larger. */
const SIZE_MAX = PATTERN_LENGTH_MAX;

/** Instructions times characters of the text. */
const STEPS_MAX = 50_000;

/** Time of one step at worst, when a text leads to new states: 10 ms in all, and 0.2 ms otherwise. */
const STEP_MICROSECONDS = 0.2;

/** Time of compiling, for each unit of its cost. */
const UNIT_MICROSECONDS = 0.3;

/** Bytes of all compiled patterns in the cache: room for some thousands as people write them. */
export const PATTERN_CACHE_BYTES_MAX = 32 * 1024 * 1024;

/** Bytes of one pattern with its learned states. One that grows beyond that is compiled anew, and learns again. */
const CACHED_EACH_BYTES_MAX = 2 * 1024 * 1024;

/** The size of a compiled pattern, measured: from 3 KiB to 60 KiB for 8 to 250 instructions. */
const COMPILED_BYTES = 4 * 1024;
const INSTRUCTION_BYTES = 256;

/** 500 classes take 6 ms, and 1,000 other characters 0.3 ms. */
const UNICODE_CLASS_FACTOR = 40;

/** Such as `[а-я]`. Without regard to case, 16 wide ones take some 10 ms to compile. */
const WIDE_RANGES_MAX = 16;
const WIDE_RANGE = /-(?:\\x\{|[^\0-\x7f])/g;

const TOO_LARGE = 'too large, with its repetitions written out';

/** A phrase that says what is wrong with the pattern; null when it can be used. */
export function patternIssue(text: string, caseInsensitive: boolean): string | null {
  const compiled = compile(text, caseInsensitive);
  return typeof compiled === 'string' ? compiled : null;
}

/** The cost of compiling, in units of src/domain/json/check-budget.ts. Classes of Unicode are long lists of ranges. */
export function patternUnits(text: string): number {
  if (text.length > PATTERN_LENGTH_MAX) return 0;
  const size = Math.max(text.length, Math.min(patternSize(text), SIZE_MAX));
  return /\\p/i.test(text) ? size * UNICODE_CLASS_FACTOR : size;
}

/** The time that compiling the pattern and testing a text of so many characters take at worst. */
export function patternMicroseconds(pattern: string, length: number): number {
  if (pattern.length > PATTERN_LENGTH_MAX) return 0;
  // Only repetitions make more instructions than there are characters.
  const instructions = pattern.includes('{') ? INSTRUCTIONS_MAX : Math.min(pattern.length, INSTRUCTIONS_MAX);
  const steps = Math.min(instructions * length, STEPS_MAX);
  return patternUnits(pattern) * UNIT_MICROSECONDS + steps * STEP_MICROSECONDS;
}

/** The compiled pattern, or what is wrong with it. */
function compile(text: string, caseInsensitive: boolean): RE2JS | string {
  if (text.length > PATTERN_LENGTH_MAX) return `longer than ${PATTERN_LENGTH_MAX} characters`;
  if (patternSize(text) > SIZE_MAX) return TOO_LARGE;
  if ((text.match(WIDE_RANGE)?.length ?? 0) > WIDE_RANGES_MAX) {
    return `of more than ${WIDE_RANGES_MAX} ranges of characters beyond ASCII`;
  }
  try {
    const compiled = RE2JS.compile(text, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
    return compiled.programSize() > INSTRUCTIONS_MAX ? TOO_LARGE : compiled;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Null for a text that is no pattern. */
type Compiled = { readonly compiled: RE2JS | null };

/** Patterns that are compiled when they are first asked for. */
export class PatternCache {
  readonly #cache: LRUCache<string, Compiled>;

  constructor(bytesMax = PATTERN_CACHE_BYTES_MAX) {
    this.#cache = new LRUCache({ maxSize: bytesMax, maxEntrySize: bytesMax, sizeCalculation: bytesOf });
  }

  /** About what they take of memory. */
  get bytes(): number {
    return this.#cache.calculatedSize;
  }

  /** Whether the pattern is compiled. One that is not is compiled now, and nothing else is done. */
  prepare(key: PatternKey): boolean {
    if (this.#cache.has(key.text)) return true;
    this.#add(key);
    return false;
  }

  /**
   * Whether the pattern with this key occurs anywhere in `text`; false when that would take too long to find out, and for what is
   * no pattern.
   */
  occursIn(key: PatternKey, text: string): boolean {
    const cached = this.#cache.get(key.text) ?? this.#add(key);
    const { compiled } = cached;
    if (compiled === null || text.length * compiled.programSize() > STEPS_MAX) return false;
    const before = learnedBytes(compiled);
    const occurs = compiled.test(text);
    if (learnedBytes(compiled) !== before) this.#weigh(key, cached);
    return occurs;
  }

  #add(key: PatternKey): Compiled {
    const compiled = compile(key.pattern, key.caseInsensitive);
    const added = { compiled: typeof compiled === 'string' ? null : compiled };
    this.#cache.set(key.text, added);
    return added;
  }

  #weigh({ text }: PatternKey, cached: Compiled): void {
    if (bytesOf(cached) > CACHED_EACH_BYTES_MAX) this.#cache.delete(text);
    else this.#cache.set(text, { compiled: cached.compiled });
  }
}

/** The key of a pattern in the cache. */
export class PatternKey {
  readonly text: string;
  readonly pattern: string;
  readonly caseInsensitive: boolean;

  constructor(pattern: string, caseInsensitive: boolean) {
    this.pattern = pattern;
    this.caseInsensitive = caseInsensitive;
    this.text = `${caseInsensitive ? 'i' : 'c'} ${pattern}`;
  }
}

function bytesOf({ compiled }: Compiled): number {
  if (compiled === null) return COMPILED_BYTES;
  return COMPILED_BYTES + INSTRUCTION_BYTES * compiled.programSize() + learnedBytes(compiled);
}

/** Bytes of the states made for texts so far. */
function learnedBytes(compiled: RE2JS): number {
  const states = compiled.re2().lazyDFA;
  return states === null ? 0 : states.maxMem - states.memBudget;
}

/**
 * How large a pattern is with its repetitions written out, told from its text alone: compiling `x{0,1000}` a hundred times over takes
 * 0.3 seconds, only to find that it is too large.
 */

const ESCAPE = /\\(?:Q[\s\S]*?(?:\\E|$)|[pP]\{[^}]*\}?|x\{[^}]*\}?|[\s\S]?)/y;
const CLASS = /\[\^?\]?(?:\\[\s\S]|\[:[^\]]*:\]|[^\]\\])*\]?/y;
/** The rest of the opening of a group with a kind or a name. */
const GROUP_KIND = /\?(?:[a-zA-Z-]*:|P?<[^>]*>|<?[=!])?/y;
const REPETITION = /\{(\d{1,9})(?:,(\d{0,9}))?\}/y;

/** About its instructions: one for each character, class and group, times what it is repeated. Never fewer than half of them. */
export function patternSize(text: string): number {
  /** Sizes of the groups that are open, from the outermost. */
  const outer: number[] = [];
  let size = 0;
  /** The size of the item that a repetition would repeat. */
  let last = 0;
  const add = (added: number): void => {
    size += added;
    last = added;
  };
  for (let at = 0; at < text.length; ) {
    const found = (pattern: RegExp): RegExpExecArray | null => {
      pattern.lastIndex = at;
      return pattern.exec(text);
    };
    const character = text[at];
    let length = 1;
    if (character === '\\' || character === '[') {
      length = found(character === '[' ? CLASS : ESCAPE)?.[0].length ?? 1;
      add(text.startsWith('\\Q', at) ? length : 1);
    } else if (character === '(') {
      outer.push(size);
      size = 0;
      at += 1;
      length = found(GROUP_KIND)?.[0].length ?? 0;
    } else if (character === ')') {
      const inner = size + 1;
      size = outer.pop() ?? 0;
      add(inner);
    } else {
      const repetition = character === '{' ? found(REPETITION) : null;
      if (repetition === null) add(1);
      else {
        const [all, least = '', most = ''] = repetition;
        length = all.length;
        const repeated = last * Math.max(Number(least), Number(most), 1);
        size += repeated - last;
        last = repeated;
      }
    }
    at += length;
  }
  return outer.reduce((sum, one) => sum + one, size);
}
