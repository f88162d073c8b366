/** Schemas of request bodies that more than one route reads, and those of small ones. */
import * as v from 'valibot';
import { isEmail } from '../../domain/email.ts';
import { FLAG_TYPES, flagNameFault } from '../../domain/flag.ts';
import { ROLE_NAMES, ROLES, roleByName } from '../../domain/roles.ts';

export const FlagNameSchema = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const fault = dataset.typed ? flagNameFault(dataset.value) : null;
    if (fault !== null) addIssue({ message: fault });
  }),
  v.description('1 to 100 letters, digits, "_", ".", "~" and "-"; unique over the whole service.'),
);

const FlagTypeSchema = v.picklist(FLAG_TYPES, `one of ${FLAG_TYPES.join(', ')}`);

/** Metadata of a flag; what is absent keeps its value, or gets its default in a new flag. */
const METADATA_FIELDS = {
  description: v.optional(v.nullable(v.string('a string or null'))),
  type: v.optional(FlagTypeSchema),
  stale: v.optional(v.boolean()),
  impressionData: v.optional(v.boolean()),
} as const;

export const CreateFlagBody = v.pipe(
  v.object({ name: FlagNameSchema, ...METADATA_FIELDS }),
  v.title('CreateFlag'),
);

export const UpdateFlagBody = v.pipe(
  v.object({ name: v.optional(v.string()), ...METADATA_FIELDS }),
  v.title('UpdateFlag'),
);

export const CloneFlagBody = v.pipe(
  v.object({
    name: FlagNameSchema,
    replaceGroupId: v.pipe(
      v.optional(v.boolean(), false),
      v.description("Whether strategies whose groupId is the old flag's name get the new one."),
    ),
  }),
  v.title('CloneFlag'),
);

export const EmailSchema = v.pipe(v.string(), v.check(isEmail, 'an email address such as ada@example.com'));

const ROLE_PHRASE = `one of the role ids ${ROLES.map((role) => role.id).join(', ')} or names ${ROLE_NAMES.join(', ')}`;

/** A role by its id or its name; the output is the id. */
export const RootRoleSchema = v.pipe(
  v.union(
    [
      v.picklist(
        ROLES.map((role) => role.id),
        ROLE_PHRASE,
      ),
      v.picklist(ROLE_NAMES, ROLE_PHRASE),
    ],
    ROLE_PHRASE,
  ),
  v.transform((role) => (typeof role === 'number' ? role : (roleByName(role)?.id ?? 0))),
);
