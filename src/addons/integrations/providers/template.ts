/**
 * Bodies by a template of Mustache over an event. Templates are what admins write and events what any editor does, so a render has a
 * budget of steps and of output, looks up own properties alone, and calls no function that a name leads to. There are no partials.
 */
import Mustache from 'mustache';
import type { DeliveryFailure } from './provider.ts';

/** Bytes of a body, rendered or not. */
export const BODY_BYTES_MAX = 256 * 1024;

/** Tags rendered, items entered, and properties looked up in one render: some 5 ms. Nested sections over lists multiply them. */
const STEPS_MAX = 100_000;

/** The parser takes the square of them for a run within a tag. */
const SPACES_MAX = 200;

class BudgetError extends Error {}

class Budget {
  #steps = STEPS_MAX;
  #characters = BODY_BYTES_MAX;

  step(count = 1): void {
    this.#steps -= count;
    if (this.#steps < 0) throw new BudgetError(`takes more than ${STEPS_MAX} steps`);
  }

  write(text: string): string {
    this.step();
    this.#characters -= text.length;
    if (this.#characters < 0) throw new BudgetError('makes more than 256 KiB');
    return text;
  }
}

class OwnProperties extends Mustache.Context {
  readonly #view: unknown;
  readonly #parent: OwnProperties | null;
  readonly #budget: Budget;

  constructor(view: unknown, budget: Budget, parent: OwnProperties | null = null) {
    super(view);
    this.#view = view;
    this.#parent = parent;
    this.#budget = budget;
  }

  override push(view: unknown): OwnProperties {
    this.#budget.step();
    return new OwnProperties(view, this.#budget, this);
  }

  override lookup(name: string): unknown {
    this.#budget.step();
    if (name === '.') return this.#view;
    const path = name.split('.');
    for (let context: OwnProperties | null = this; context !== null; context = context.#parent) {
      this.#budget.step(path.length);
      const holder = path.slice(0, -1).reduce(ownValue, context.#view);
      const last = path.at(-1) ?? '';
      if (isObject(holder) && Object.hasOwn(holder, last)) return ownValue(holder, last);
    }
    return undefined;
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const ownValue = (holder: unknown, name: string): unknown =>
  isObject(holder) && Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;

type Token = Parameters<InstanceType<typeof Mustache.Writer>['rawValue']>[0];

class BoundedWriter extends Mustache.Writer {
  readonly #budget: Budget;
  readonly #escaped: (text: string) => string;
  readonly #markdown: string;

  constructor(budget: Budget, escaped: (text: string) => string, markdown: string) {
    super();
    withoutCache(this);
    this.#budget = budget;
    this.#escaped = escaped;
    this.#markdown = markdown;
  }

  override rawValue(token: Token): string {
    return this.#budget.write(String(token[1]));
  }

  override unescapedValue(token: Token, context: Mustache.Context): string {
    return this.#value(token, context, (text) => text);
  }

  override escapedValue(token: Token, context: Mustache.Context): string {
    return this.#value(token, context, this.#escaped);
  }

  #value([, name]: Token, context: Mustache.Context, shown: (text: string) => string): string {
    const value: unknown = context.lookup(String(name));
    if (value === MARKDOWN) {
      this.#budget.write(this.#markdown);
      return MARKDOWN;
    }
    if (value === undefined || value === null) return this.#budget.write('');
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    // A piece at a time: escaping can make a text six times as long, and is slow.
    return (text.match(PIECES) ?? ['']).map((piece) => this.#budget.write(shown(piece))).join('');
  }
}

const PIECES = /.{1,4096}/gsu;

/** Its cache would keep every template for ever. */
const withoutCache = (writer: Mustache.Writer): Mustache.Writer =>
  Object.assign(writer, { templateCache: undefined });

/** Stands for the event's sentence until it is known whether a string of JSON is around it. */
const MARKDOWN = '\0eventMarkdown\0';

/** The names that a template can use. */
export interface TemplateView {
  readonly event: object;
  /** Left out where a provider has none. */
  readonly eventMarkdown?: string;
}

/**
 * Values in a body of JSON are escaped for a string of JSON, beside what two braces escape for HTML. `eventJson` is the event as a string of JSON with its
 * quotation marks, for three braces. `eventMarkdown` is escaped where it is within quotation marks, and there alone.
 */
export function rendered(template: string, view: TemplateView, isJson: boolean): string | DeliveryFailure {
  const { event, eventMarkdown = '' } = view;
  const budget = new Budget();
  const escaped = (text: string) => (isJson ? inJson(Mustache.escape(text)) : Mustache.escape(text));
  const writer = new BoundedWriter(budget, escaped, inJson(eventMarkdown));
  let eventJson: string | null = null;
  const names = {
    event,
    get eventJson() {
      eventJson ??= JSON.stringify(JSON.stringify(event));
      return eventJson;
    },
    eventMarkdown: MARKDOWN,
  };
  try {
    const body = withMarkdown(writer.render(template, new OwnProperties(names, budget)), eventMarkdown);
    return Buffer.byteLength(body) <= BODY_BYTES_MAX ? body : failure('makes more than 256 KiB');
  } catch (error) {
    if (error instanceof BudgetError) return failure(error.message);
    return failure('cannot be parsed');
  }
}

const failure = (reason: string): DeliveryFailure => ({
  reason: `The body template ${reason} for this event.`,
  isFinal: true,
});

/** The text as it stands between the quotation marks of JSON. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

function withMarkdown(body: string, markdown: string): string {
  let isInString = false;
  return body
    .split(MARKDOWN)
    .flatMap((part, index) => {
      const before = index === 0 ? '' : isInString ? inJson(markdown) : markdown;
      for (const [mark] of part.matchAll(/\\.|"/gs)) if (mark === '"') isInString = !isInString;
      return [before, part];
    })
    .join('');
}

const DELIMITERS = /\{\{\s*=/;
const PARTIAL = /\{\{\s*>/;

export function templateIssue(template: string): string | null {
  if (new RegExp(`\\s{${SPACES_MAX + 1}}`).test(template)) {
    return `The body template must not have more than ${SPACES_MAX} spaces and line breaks in a row.`;
  }
  if (DELIMITERS.test(template)) return 'The body template must not change the delimiters.';
  if (PARTIAL.test(template)) return 'The body template must not have partials.';
  try {
    withoutCache(new Mustache.Writer()).parse(template);
    return null;
  } catch (error) {
    return `The body template cannot be parsed: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
