/**
 * The identity of users (docs/specification/users.md#identity): the texts that name a user, who may have which of them, and
 * who vouches for an email.
 */
import type { EmailVoucher } from '../kinds/user.ts';
import { peopleOf } from '../state/locate.ts';
import { invalid, type Refusal } from '../state/refusal.ts';
import type { User, World } from '../state/world.ts';
import { hasOneScriptAWord, isAlike, looksOf, tidyName } from './look-alike.ts';

/** The chooser of the names: somebody who vouches for them, an Admin, or the person alone, who came by an invitation. */
type ChosenBy = 'admin' | 'nobody';

/**
 * A user has an email or a username, and neither is another user's email or username, nor looks like one, whatever the case, nor mixes scripts. A
 * display name that nobody vouches for does not look like anything that stands for another user either; an Admin may have two people
 * of one name. What a user has already is not looked at: earlier releases compared less.
 */
export function refuseIdentity(
  world: World,
  user: User,
  before: User | null,
  chosenBy: ChosenBy = 'admin',
): Refusal | null {
  if (user.email === null && user.username === null) {
    return invalid('An email or username is required.', '/body/email');
  }
  const isAlone = chosenBy === 'nobody';
  if (isAlone && user.username?.includes('@') === true && user.username !== user.email) {
    return invalid('A username has no "@"; send an email as `email`.', '/body/username');
  }
  const fields = isAlone ? (['email', 'username', 'name'] as const) : (['email', 'username'] as const);
  for (const field of fields) {
    const wanted = user[field];
    if (wanted === null || wanted === '' || wanted === before?.[field]) continue;
    if (!hasOneScriptAWord(wanted))
      return invalid(
        `The ${field} "${wanted}" mixes letters of several scripts in one word.`,
        `/body/${field}`,
      );
    const namesake = namesakeOf(world, wanted, { userId: user.id, withNames: isAlone });
    if (namesake !== null) {
      const isSame = folded(namesake) === folded(wanted);
      const what = isSame
        ? 'belongs to another user'
        : `looks like "${namesake}", which belongs to another user`;
      return invalid(`The ${field} "${wanted}" ${what}.`, `/body/${field}`);
    }
  }
  return null;
}

interface NamesakeOptions {
  /** Null for somebody who is new. */
  readonly userId: number | null;
  /** Whether display names count. */
  readonly withNames: boolean;
}

/** The text of another user that `wanted` is or looks like; null for none. */
export function namesakeOf(
  { directory }: World,
  wanted: string,
  { userId, withNames }: NamesakeOptions,
): string | null {
  const looks = looksOf(wanted);
  const isNamesake = (text: string | null): text is string =>
    text !== null && text !== '' && isAlike(looks, text);
  for (const other of directory.users.values()) {
    if (other.id === userId) continue;
    const { email, username, name } = other;
    const found = [email, username, withNames ? name : null].find(isNamesake);
    if (found !== undefined && found !== null) return found;
  }
  return null;
}

/** How a text is compared where one means a user: in whichever form and case it is typed. */
export const folded = (text: string): string => tidyName(text).toLowerCase();

/** The person who has the email; undefined for nobody. */
export function userOfEmail({ directory }: World, email: string): User | undefined {
  const wanted = folded(email);
  return peopleOf(directory).find((user) => user.email !== null && folded(user.email) === wanted);
}

/** The user whom somebody means who signs in, by username or email. A text with `@` is an email first, another one a username. */
export function userNamed({ directory }: World, text: string): User | undefined {
  const wanted = folded(text);
  const [first, second] = text.includes('@')
    ? (['email', 'username'] as const)
    : (['username', 'email'] as const);
  let other: User | undefined;
  for (const user of directory.users.values()) {
    const [is, isElse] = [user[first], user[second]];
    if (is !== null && folded(is) === wanted) return user;
    if (isElse !== null && folded(isElse) === wanted) other ??= user;
  }
  return other;
}

/** The voucher that the user's email is theirs. People who came by an invitation before this was recorded gave it themselves. */
export function voucherOf(
  { directory }: World,
  { id, emailVouchedBy }: Pick<User, 'id' | 'emailVouchedBy'>,
): EmailVoucher {
  if (emailVouchedBy !== undefined) return emailVouchedBy;
  for (const { users } of directory.invitations.values()) if (users.includes(id)) return 'nobody';
  return 'admin';
}
