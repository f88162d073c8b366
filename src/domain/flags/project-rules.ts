/**
 * Rules of a project for the flags that come into it: how they are named, how many there may be, and which links they get.
 * Flags that are there already stay as they are.
 */
import * as v from 'valibot';
import { described, list, noList, titled } from '../json/schema.ts';
import { LINK_ENTRIES, LINKS_MAX, type Link } from './link.ts';
import { FLAG_TYPES, LifetimeDays, SetLifetimes } from './metadata.ts';
import { PatternCache, PatternKey, patternIssue, patternMicroseconds } from './pattern.ts';

/** Characters. Compiling such a pattern takes 2.4 ms at worst, and one name of 100 characters 4 ms. */
export const NAMING_PATTERN_LENGTH_MAX = 200;
const TEXT_LENGTH_MAX = 1_000;
/** Characters of the names that stand for placeholders where a template is checked: as long as names can be. */
const NAME_LENGTH_MAX = 100;

const PATTERN_PHRASE = `a regular expression in the syntax of RE2, of at most ${NAMING_PATTERN_LENGTH_MAX} characters, or null`;
const TEXT_PHRASE = `a text of at most ${TEXT_LENGTH_MAX} characters, or null`;
const LIMIT_PHRASE = 'a whole number from 0, or null';
const TEMPLATES_PHRASE = `a list of at most ${LINKS_MAX} templates of links`;
const TEMPLATE_PHRASE =
  'the address of a link, such as https://tickets.example/{{project}}/{{feature}}, that is one whatever the names are';

const KeptNaming = v.object({
  pattern: v.string(),
  example: v.nullable(v.string()),
  description: v.nullable(v.string()),
});
const KeptTemplates = v.array(v.object({ title: v.nullable(v.string()), urlTemplate: v.string() }));

export type FeatureNaming = Readonly<v.InferOutput<typeof KeptNaming>>;

/** Absent: no rule of the kind. */
export interface ProjectRules {
  readonly featureNaming?: FeatureNaming;
  readonly featureLimit?: number;
  readonly linkTemplates?: v.InferOutput<typeof KeptTemplates>;
  /** Lifetimes of types that override those of the service. */
  readonly lifetimes?: SetLifetimes;
}

const Text = v.optional(
  v.nullable(v.pipe(v.string(TEXT_PHRASE), v.maxLength(TEXT_LENGTH_MAX, TEXT_PHRASE))),
  null,
);

export const FeatureNamingSchema = v.pipe(
  v.object({
    pattern: v.nullable(
      v.pipe(
        v.string(PATTERN_PHRASE),
        v.maxLength(NAMING_PATTERN_LENGTH_MAX, PATTERN_PHRASE),
        v.check((pattern) => patternIssue(wholeName(pattern), false) === null, PATTERN_PHRASE),
      ),
    ),
    example: Text,
    description: Text,
  }),
  v.check(
    ({ pattern, example }) => !pattern || !example || isNamedBy(pattern, example),
    'a naming pattern whose example it matches as a whole',
  ),
  v.title('FeatureNaming'),
);

const LinkTemplateSchema = titled('LinkTemplate', {
  title: v.optional(LINK_ENTRIES.title, null),
  urlTemplate: v.pipe(
    v.string(TEMPLATE_PHRASE),
    v.check((template) => {
      const longest = 'x'.repeat(NAME_LENGTH_MAX);
      return v.is(LINK_ENTRIES.url, filledIn(template, longest, longest));
    }, TEMPLATE_PHRASE),
  ),
});

const LIFETIMES_PHRASE = `an object with a number of days or null under names of types, which are ${FLAG_TYPES.join(', ')}`;
const ProjectLifetimes = v.pipe(
  noList(
    v.strictObject(v.entriesFromList(FLAG_TYPES, v.optional(v.nullable(LifetimeDays)))),
    LIFETIMES_PHRASE,
  ),
  v.title('ProjectLifetimes'),
);

/** For requests: an absent field keeps its value, null and an empty pattern take the rule away. */
export const RULES_INPUT_ENTRIES = {
  featureNaming: v.optional(v.nullable(FeatureNamingSchema)),
  featureLimit: v.optional(
    v.nullable(v.pipe(v.number(LIMIT_PHRASE), v.safeInteger(LIMIT_PHRASE), v.minValue(0, LIMIT_PHRASE))),
  ),
  linkTemplates: v.optional(
    v.nullable(v.pipe(list(LinkTemplateSchema, TEMPLATES_PHRASE), v.maxLength(LINKS_MAX, TEMPLATES_PHRASE))),
  ),
  lifetimes: v.optional(v.nullable(ProjectLifetimes)),
} as const;

type Input = v.InferOutput<v.ObjectSchema<typeof RULES_INPUT_ENTRIES, undefined>>;
export type RulesInput = { readonly [Field in keyof Input]?: Input[Field] };

export function rulesAfter(before: ProjectRules, input: RulesInput): ProjectRules {
  const sent = { ...before, ...defined(input) } as RulesInput;
  const { featureNaming, featureLimit, linkTemplates } = sent;
  const lifetimes = Object.entries(sent.lifetimes ?? {}).filter(([, days]) => days !== undefined);
  return {
    ...(featureNaming?.pattern
      ? { featureNaming: { ...featureNaming, pattern: featureNaming.pattern } }
      : {}),
    ...(featureLimit == null ? {} : { featureLimit }),
    ...(linkTemplates == null || linkTemplates.length === 0 ? {} : { linkTemplates }),
    ...(lifetimes.length === 0
      ? {}
      : { lifetimes: Object.fromEntries(lifetimes.map(([type, days]) => [type, days || null])) }),
  };
}

const defined = (input: RulesInput): object => {
  const { featureNaming, featureLimit, linkTemplates, lifetimes } = input;
  const fields = Object.entries({ featureNaming, featureLimit, linkTemplates, lifetimes });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
};

/** All of them, as responses show them. */
export const shownRules = ({ featureNaming, featureLimit, linkTemplates, lifetimes }: ProjectRules) => ({
  featureNaming: featureNaming ?? { pattern: null, example: null, description: null },
  featureLimit: featureLimit ?? null,
  linkTemplates: linkTemplates ?? [],
  lifetimes: lifetimes ?? {},
});

const wholeName = (pattern: string): string => `^(?:${pattern})$`;

const patterns = new PatternCache(2 * 1024 * 1024);

/** Whether all of the name is what the pattern says. */
export const isNamedBy = (pattern: string, name: string): boolean =>
  patterns.occursIn(new PatternKey(wholeName(pattern), false), name);

/** The time that checking the names of one change against the pattern may take at worst: an import of 250 names, in one turn. */
const NAMING_MICROSECONDS_MAX = 12_000;

/** The names that do not match; null where looking at them would take too long. */
export function misnamed({ pattern }: FeatureNaming, names: readonly string[]): readonly string[] | null {
  const cost = names.reduce((sum, name) => sum + patternMicroseconds(pattern, name.length), 0);
  if (names.length > 1 && cost > NAMING_MICROSECONDS_MAX) return null;
  return names.filter((name) => !isNamedBy(pattern, name));
}

/** Links of a new flag. */
export const linksFrom = (
  { linkTemplates = [] }: ProjectRules,
  { project, name }: { readonly project: string; readonly name: string },
  newId: () => string,
): readonly Link[] =>
  linkTemplates.map(({ title, urlTemplate }) => ({
    id: newId(),
    url: filledIn(urlTemplate, project, name),
    title,
  }));

/** A template as Unleash fills it in. */
const filledIn = (template: string, project: string, name: string): string =>
  template.replaceAll('{{project}}', () => project).replaceAll('{{feature}}', () => name);

/** For documents of the state, where an absent rule is none. */
export const RULES_ENTRIES = {
  featureNaming: v.exactOptional(KeptNaming),
  featureLimit: v.exactOptional(v.number()),
  linkTemplates: v.exactOptional(KeptTemplates),
  lifetimes: v.exactOptional(SetLifetimes),
} as const;

/** For responses, which have all of them. */
export const SHOWN_RULES_ENTRIES = {
  featureNaming: v.object({ ...KeptNaming.entries, pattern: v.nullable(v.string()) }),
  featureLimit: v.nullable(v.number()),
  linkTemplates: KeptTemplates,
  lifetimes: described(SetLifetimes, 'Those that override the lifetimes of the service.'),
} as const;
