/** The document of flag definitions that flagd reads, made of flags as they were at one moment. */
import type { Flag } from '../../domain/flags/flag.ts';
import { isLeftOut } from './condition.ts';
import { flagRule, type RuleScope } from './flag-rule.ts';

const VARIANTS = { on: true, off: false } as const;

/** Makes the document in steps; what it reads must not change meanwhile, which flags and segments never do. */
export class DefinitionsBuilder {
  readonly #scope: RuleScope;
  readonly #flags: Iterator<Flag>;
  /** JSON of names and definitions, without the braces around them. */
  readonly #definitions: string[] = [];
  readonly #leftOut: string[] = [];

  constructor(flags: Iterable<Flag>, scope: RuleScope) {
    this.#scope = scope;
    this.#flags = flags[Symbol.iterator]();
  }

  /** Translates one more flag. True when there is no other. */
  advance(): boolean {
    const next = this.#flags.next();
    if (next.done === true) return true;
    const flag = next.value;
    const rule = flagRule(flag, this.#scope);
    if (isLeftOut(rule)) this.#leftOut.push(field(flag.name, rule.leftOut));
    else this.#definitions.push(field(flag.name, definitionOf(rule)));
    return false;
  }

  document(): Buffer {
    const metadata = { environment: this.#scope.environment, leftOutCount: this.#leftOut.length };
    return Buffer.from(
      `{"$schema":"https://flagd.dev/schema/v0/flags.json","flags":{${this.#definitions.join(',')}},` +
        `"metadata":${JSON.stringify(metadata)},"leftOut":{${this.#leftOut.join(',')}}}`,
    );
  }
}

/** Put together as text, since objects take no key such as __proto__. */
function field(name: string, value: unknown): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

/** Without targeting, flagd says that the value is the same for everybody. */
function definitionOf(rule: Exclude<ReturnType<typeof flagRule>, { leftOut: string }>) {
  const fixed = { state: 'ENABLED', variants: VARIANTS, defaultVariant: rule === true ? 'on' : 'off' };
  return typeof rule === 'boolean' ? fixed : { ...fixed, targeting: { if: [rule, 'on', 'off'] } };
}
