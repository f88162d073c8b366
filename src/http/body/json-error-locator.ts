/**
 * Finds where and why a text is refused as a body. It runs only on texts that are known to be bad, so good ones do
 * not pay for it. It says what JSON.parse does not: the place in every case, and which name occurs twice.
 */
import { shown } from '../../domain/json/issues.ts';
import { pointerToken } from '../../domain/json/json-pointer.ts';

export interface JsonIssue {
  readonly message: string;
  readonly path?: string;
}

/** Counted from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The text that this one is a part of, and where it begins there. */
export interface TextOrigin {
  readonly whole: string;
  readonly start: TextPlace;
}

export const BODY_ORIGIN: TextOrigin = { whole: 'The body', start: { line: 1, column: 1 } };

/** The first issue. Nesting must have been bounded before, as the reader calls itself for every level. */
export function diagnoseJson(text: string, origin: TextOrigin = BODY_ORIGIN): JsonIssue {
  if (text.trim() === '') return { message: `${origin.whole} is empty; it must be JSON.` };
  const reader = new Reader(text, origin);
  reader.readDocument();
  return reader.issue ?? { message: `${origin.whole} is not valid JSON.` };
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

/** A strict reader of the JSON grammar (RFC 8259). Each method returns true when it read what its name says. */
class Reader {
  readonly #text: string;
  readonly #origin: TextOrigin;
  readonly #path: (string | number)[] = [];
  #at = 0;
  issue: JsonIssue | undefined;

  constructor(text: string, origin: TextOrigin) {
    this.#text = text;
    this.#origin = origin;
  }

  readDocument(): boolean {
    return this.#value() && (this.#at === this.#text.length || this.#expected('the end'));
  }

  #value(): boolean {
    this.#skip(SPACE);
    return this.#anyValue() && this.#skip(SPACE);
  }

  #anyValue(): boolean {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      default:
        return this.#skip(LITERAL) || this.#skip(NUMBER) || this.#expected('a value');
    }
  }

  #array(): boolean {
    this.#at++;
    this.#skip(SPACE);
    if (this.#take(']')) return true;
    for (let index = 0; ; index++) {
      if (!this.#below(index)) return false;
      if (this.#take(']')) return true;
      if (!this.#take(',')) return this.#expected('a comma or ]');
    }
  }

  #object(): boolean {
    const names = new Set<string>();
    this.#at++;
    this.#skip(SPACE);
    if (this.#take('}')) return true;
    for (;;) {
      if (!this.#field(names)) return false;
      if (this.#take('}')) return true;
      if (!this.#take(',')) return this.#expected('a comma or }');
      this.#skip(SPACE);
    }
  }

  #field(names: Set<string>): boolean {
    const start = this.#at;
    if (this.#text[start] !== '"') return this.#expected('a field name in double quotes');
    if (!this.#string()) return false;
    const name = JSON.parse(this.#text.slice(start, this.#at)) as string;
    if (names.has(name)) return this.#givenTwice(name);
    names.add(name);
    this.#skip(SPACE);
    return (this.#take(':') || this.#expected('a colon')) && this.#below(name);
  }

  #below(key: string | number): boolean {
    this.#path.push(key);
    const read = this.#value();
    this.#path.pop();
    return read;
  }

  #string(): boolean {
    this.#at++;
    while (this.#at < this.#text.length) {
      if (this.#take('"')) return true;
      if (this.#text[this.#at] === '\\') {
        if (!this.#skip(ESCAPE)) return this.#expected('a valid escape sequence');
      } else if (this.#text.charCodeAt(this.#at) < 0x20) return this.#expected('no control character');
      else this.#at++;
    }
    return this.#expected('a closing quote');
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  /** False where `token` does not match; one that matches nothing always does. */
  #skip(token: RegExp): boolean {
    token.lastIndex = this.#at;
    if (!token.test(this.#text)) return false;
    this.#at = token.lastIndex;
    return true;
  }

  #givenTwice(name: string): boolean {
    const path = [...this.#path, name].map((key) => `/${pointerToken(key)}`).join('');
    this.issue = { message: `The field ${shown(name)} is given more than once.`, path };
    return false;
  }

  #expected(what: string): boolean {
    const { whole, start } = this.#origin;
    const before = this.#text.slice(0, this.#at).split('\n');
    const column = (before.at(-1) ?? '').length + (before.length === 1 ? start.column : 1);
    const place = `line ${start.line + before.length - 1}, column ${column}`;
    this.issue = { message: `${whole} is not valid JSON: at ${place} there should be ${what}.` };
    return false;
  }
}
