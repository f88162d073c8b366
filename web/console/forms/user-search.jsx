/** Finds a user by a part of the name or the email. */
import { useState } from 'preact/hooks';
import { userName } from '../format.js';
import { useDelayed } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';
import { TextInput } from './inputs.jsx';

/** @import { Control, FoundUser } from '../types.d.ts' */

/** After the last key, in milliseconds. */
const TYPING_MS = 200;

/** @param {{ control: Control<{ id: string, role: string }> }} props */
export function UserSearch({ control: { values, set } }) {
  const { client } = useSession();
  const [text, setText] = useState('');
  const [found, setFound] = useState(/** @type {readonly FoundUser[]} */ ([]));
  const find = async () =>
    text === '' ? [] : client.get(`/user-admin/search?${new URLSearchParams({ q: text })}`).catch(() => []);
  useDelayed(TYPING_MS, find, setFound, [client, text]);
  return (
    <>
      <TextInput
        type="search"
        aria-label="Search users"
        placeholder="Part of the name or email"
        value={text}
        change={setText}
      />
      <div class="row" role="radiogroup" aria-label="Users found">
        {found.map((user) => (
          <label key={user.id} class="check">
            <input
              type="radio"
              name="user"
              checked={values.id === String(user.id)}
              onChange={() => set({ id: String(user.id) })}
            />
            <Name text={userName(user)} />
          </label>
        ))}
      </div>
    </>
  );
}
