/** Schemas of small request bodies, and of bodies that several routes share. */

import * as v from 'valibot';
import { isEmail } from '../../domain/access/email.ts';
import { PASSWORD_BYTES_MAX, passwordIssues } from '../../domain/access/password-rules.ts';
import { ROLE_NAMES, roleIdByName } from '../../domain/access/roles.ts';
import type { Command } from '../../domain/decide/decide.ts';
import { APPROVALS_MAX } from '../../domain/decide/new-project.ts';
import { isDateTime } from '../../domain/flags/constraint.ts';
import { flagNameIssue, TAG_LENGTH_MAX, TAG_LENGTH_MIN } from '../../domain/flags/flag.ts';
import { METADATA_INPUT_ENTRIES } from '../../domain/flags/metadata.ts';
import { isDotSegment, urlNameIssue } from '../../domain/flags/url-name.ts';
import {
  described,
  faultlessText,
  lineOfText,
  list,
  TEXT_LENGTH_MAX,
  titled,
} from '../../domain/json/schema.ts';
import { isVisible, tidyName } from '../../domain/people/look-alike.ts';
import { EVENT_TYPES } from '../../domain/state/event-types.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { NOBODY } from '../serving/access.ts';
import type { QueryParameter, RequestContext } from '../serving/route.ts';
import { choiceIn, TRUE_OR_FALSE } from './query-parameters.ts';

export const PLANNED_EVENT = {
  type: v.picklist(EVENT_TYPES),
  environment: v.nullable(v.string()),
  data: v.nullable(v.record(v.string(), v.unknown())),
  preData: v.nullable(v.record(v.string(), v.unknown())),
};

export const PLANNED_EVENTS_DESCRIPTION =
  'The events that were recorded, or would be; none when everything is in that state already.';

export const PLANNED_EVENTS = {
  dryRun: v.boolean(),
  events: described(v.array(v.object(PLANNED_EVENT)), PLANNED_EVENTS_DESCRIPTION),
};

const APPROVALS_PHRASE = `an integer from 1 to ${APPROVALS_MAX}`;
export const RequiredApprovalsSchema = described(
  v.pipe(
    v.number(APPROVALS_PHRASE),
    v.integer(APPROVALS_PHRASE),
    v.minValue(1, APPROVALS_PHRASE),
    v.maxValue(APPROVALS_MAX, APPROVALS_PHRASE),
  ),
  'How many people must approve changes of an environment.',
);

/** A name that must stand in paths: `faultOf` says what is wrong with it, or null. */
const pathName = (issueOf: (name: string) => string | null) =>
  described(
    faultlessText(issueOf),
    "1 to 100 letters, digits and - _ . ~ ! ' ( ) *; unique over the whole service.",
  );

export const FlagNameSchema = pathName(flagNameIssue);
export const ProjectIdSchema = pathName((id) => urlNameIssue('project id', id));
export const EnvironmentNameSchema = pathName((name) => urlNameIssue('environment name', name));

/** Takes the one form that all ways to type a name have in common; some characters become several by it. */
function nameOfPerson(what: string, lengthMin: number) {
  const phrase = `${what} of ${lengthMin} to ${TEXT_LENGTH_MAX} characters, some of which can be seen`;
  return v.pipe(
    lineOfText(what, lengthMin, TEXT_LENGTH_MAX),
    v.transform(tidyName),
    v.check(
      (name) => name.length <= TEXT_LENGTH_MAX && (isVisible(name) || (name === '' && lengthMin === 0)),
      phrase,
    ),
  );
}

export const UsernameSchema = nameOfPerson('a username', 1);
export const DisplayNameSchema = nameOfPerson('a name', 0);

const DATE_TIME_PHRASE = 'a date and time of ISO 8601 such as 2030-01-31T12:00:00Z';

/** The output is in UTC, with milliseconds. */
export const DateTimeSchema = v.pipe(
  v.string(DATE_TIME_PHRASE),
  v.check((text) => isDateTime(text) && !Number.isNaN(Date.parse(text)), DATE_TIME_PHRASE),
  v.transform((text) => new Date(text).toISOString()),
);

export const UpdateFlagBody = titled('UpdateFlag', {
  name: v.optional(v.string()),
  ...METADATA_INPUT_ENTRIES,
});

export const CloneFlagBody = titled('CloneFlag', {
  name: FlagNameSchema,
  replaceGroupId: described(
    v.optional(v.boolean(), false),
    "Whether strategies whose groupId is the old flag's name get the new one.",
  ),
});

export const EmailSchema = v.pipe(
  v.string(),
  v.transform(tidyName),
  v.check(isEmail, 'an email address such as ada@example.com'),
);

const ROLE_PHRASE = `the id of a role, or one of the names ${ROLE_NAMES.join(', ')}`;

/** A role by its id, or a predefined one by its name, as it was sent. Whether a role has the id is decided with the command. */
export const RoleReferenceSchema = v.union(
  [v.pipe(v.number(), v.safeInteger(), v.minValue(1)), v.picklist(ROLE_NAMES, ROLE_PHRASE)],
  ROLE_PHRASE,
);

/** The id of a role that was named in either way. */
export function roleIdOf(role: v.InferOutput<typeof RoleReferenceSchema>): number {
  return typeof role === 'number' ? role : roleIdByName(role);
}

export const RootRoleSchema = v.pipe(RoleReferenceSchema, v.transform(roleIdOf));

/** Flags that one request changes. Each is an event of one frame, and no other command runs meanwhile: some 5 to 15 ms for so many. */
export const BULK_FLAGS_MAX = 500;

export const FlagNamesSchema = v.pipe(
  list(v.string(), 'a list of flag names'),
  v.minLength(1, 'a list of at least one flag name'),
  v.maxLength(BULK_FLAGS_MAX, `a list of at most ${BULK_FLAGS_MAX} flag names`),
  v.description('Names of flags of the project.'),
);

/** Both are in the path that removes a tag, so neither may be "..". */
const tagText = (what: string) =>
  v.pipe(
    lineOfText(what, TAG_LENGTH_MIN, TAG_LENGTH_MAX),
    v.check((text) => !isDotSegment(text), 'something other than "..", which is a path'),
  );

export const TagBody = titled('AddTag', {
  type: v.optional(tagText('a tag type'), 'simple'),
  value: tagText('a tag value'),
});

/** Tags that one request adds or removes. */
const TAGS_MAX = 100;
const TAGS_PHRASE = `a list of at most ${TAGS_MAX} tags`;
export const TagListSchema = v.pipe(list(TagBody, TAGS_PHRASE), v.maxLength(TAGS_MAX, TAGS_PHRASE));

export const CreateFlagBody = titled('CreateFlag', {
  name: FlagNameSchema,
  ...METADATA_INPUT_ENTRIES,
  tags: v.optional(TagListSchema, []),
});

// Changes that can be tried: the events that they would record are listed, and none is.

export const DRY_RUN_PARAMETER: QueryParameter = {
  description: 'Whether to only list the events that would be recorded.',
  schema: { type: 'boolean', default: false },
};

export function dryRunIn(context: Pick<RequestContext<unknown>, 'query'>): boolean | Refusal {
  const dryRun = choiceIn(context, 'dryRun', TRUE_OR_FALSE, 'false');
  return isRefusal(dryRun) ? dryRun : dryRun === 'true';
}

/** An event, recorded or not: what no client knows of it before it is recorded is left out. */
export function plannedEventView({ type, environment, data, preData }: DomainEvent) {
  return { type, environment, data, preData };
}

// Passwords in the bodies of requests. What is said of them never repeats them.

const NOT_TEXT = 'A password must be a string.';

/** One that somebody chooses, which has to keep the rules. */
export const NewPasswordSchema = described(
  faultlessText((password) => passwordIssues(password).join(' ') || null, NOT_TEXT),
  `At least 10 characters with a lowercase and an uppercase letter, a digit and another character, or at least 20 characters; at most ${PASSWORD_BYTES_MAX} bytes.`,
);

/** One that somebody has, whatever the rules were when it was chosen. */
export const KnownPasswordSchema = v.pipe(
  v.string(NOT_TEXT),
  v.check(
    (text) => Buffer.byteLength(text) <= PASSWORD_BYTES_MAX,
    `A password has at most ${PASSWORD_BYTES_MAX} bytes.`,
  ),
);

/** The command with the hash of the password. */
export async function hashed(
  context: Pick<RequestContext<unknown>, 'hashPassword' | 'caller' | 'remoteAddress'>,
  password: string,
  commandWith: (hash: string) => Command,
): Promise<Command | Refusal> {
  const { caller } = context;
  const userId = caller === NOBODY ? null : caller.actor.userId;
  const hash = await context.hashPassword(password, { address: context.remoteAddress(), userId });
  return isRefusal(hash) ? hash : commandWith(hash);
}
