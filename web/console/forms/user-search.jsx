/** Finds a user by a part of the name or the email. */
import { useEffect, useState } from 'preact/hooks';
import { userName } from '../format.js';
import { Name } from '../said.jsx';

/** @import { TargetedEvent } from 'preact' */
/** @import { Control, FoundUser, Session } from '../types.d.ts' */

/** After the last key, in milliseconds. */
const TYPING_MS = 200;

/** @param {{ session: Session, control: Control<{ user: string, role: string }> }} props */
export function UserSearch({ session, control: { values, set } }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState(/** @type {readonly FoundUser[]} */ ([]));
  useEffect(() => {
    const timer = setTimeout(async () => {
      const query = new URLSearchParams({ q: text });
      setFound(text === '' ? [] : await session.client.get(`/user-admin/search?${query}`).catch(() => []));
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [session, text]);
  /** @param {TargetedEvent<HTMLInputElement>} event */
  const onInput = (event) => setText(event.currentTarget.value);
  return (
    <>
      <input
        type="search"
        class="input"
        aria-label="Search users"
        placeholder="A part of the name or the email"
        value={text}
        onInput={onInput}
      />
      <div class="legal" role="radiogroup" aria-label="Users found">
        {found.map((user) => (
          <label key={user.id} class="check">
            <input
              type="radio"
              name="user"
              checked={values.user === String(user.id)}
              onChange={() => set({ user: String(user.id) })}
            />
            <Name text={userName(user)} />
          </label>
        ))}
      </div>
    </>
  );
}
