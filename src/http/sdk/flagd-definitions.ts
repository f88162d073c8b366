/** The document of flag definitions that flagd reads, made of flags as they were at one moment. */
import type { Flag } from '../../domain/flags/flag.ts';
import { isLeftOut } from './flagd-condition.ts';
import { flagRule, type RuleScope } from './flagd-flag-rule.ts';

const VARIANTS = { on: true, off: false } as const;

/** Makes the document in steps; what it reads must not change meanwhile, which flags and segments never do. */
export class DefinitionsBuilder {
  readonly #scope: RuleScope;
  readonly #flags: Iterator<Flag>;
  readonly #definitions = new Fields();
  readonly #leftOut = new Fields();

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
    if (isLeftOut(rule)) this.#leftOut.add(flag.name, rule.leftOut);
    else this.#definitions.add(flag.name, definitionOf(rule));
    return false;
  }

  document(): Buffer {
    const metadata = { environment: this.#scope.environment, leftOutCount: this.#leftOut.count };
    return Buffer.concat([
      Buffer.from('{"$schema":"https://flagd.dev/schema/v0/flags.json","flags":{'),
      ...this.#definitions.bytes(),
      Buffer.from(`},"metadata":${JSON.stringify(metadata)},"leftOut":{`),
      ...this.#leftOut.bytes(),
      Buffer.from('}}'),
    ]);
  }
}

/** Characters that are made into bytes at once: all of a large document would hold the event loop. */
const TEXT_LENGTH_MAX = 64 * 1024;

/** JSON of the fields of an object, without the braces. Put together as text, since objects take no key such as __proto__. */
class Fields {
  readonly #bytes: Buffer[] = [];
  #text = '';
  count = 0;

  add(name: string, value: unknown): void {
    this.#text += `${this.count === 0 ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
    this.count += 1;
    if (this.#text.length >= TEXT_LENGTH_MAX) this.#flush();
  }

  bytes(): readonly Buffer[] {
    this.#flush();
    return this.#bytes;
  }

  #flush(): void {
    this.#bytes.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

/** Without targeting, flagd says that the value is the same for everybody. */
function definitionOf(rule: Exclude<ReturnType<typeof flagRule>, { leftOut: string }>) {
  const fixed = { state: 'ENABLED', variants: VARIANTS, defaultVariant: rule === true ? 'on' : 'off' };
  return typeof rule === 'boolean' ? fixed : { ...fixed, targeting: { if: [rule, 'on', 'off'] } };
}
