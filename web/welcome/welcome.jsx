/**
 * The page behind a link that an Admin handed on: a form with which its user sets a password, or with which somebody becomes a user.
 * The secret stands behind the `#` of the address and is taken out of it at once, so that neither the history of the browser
 * nor a log keeps it.
 */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf, path, request } from '../console/client.js';
import { field, newPassword } from '../console/forms/field.js';
import { PlainForm } from '../console/views/sign-in.jsx';

const [use = '', secret = ''] = location.hash.slice(1).split('=');
history.replaceState(null, '', location.pathname);

const PASSWORDS = [
  newPassword('Password'),
  field('again', 'Password again', 'password', { required: true, autocomplete: 'new-password' }),
];

/** The uses of a link by the word in the address: where to look at it, and what is said, asked and sent then. */
const LINKS = new Map([
  [
    'password',
    {
      look: path`auth/reset/validate?token=${secret}`,
      lead: (/** @type {string} */ login) => `Set the password of ${login}.`,
      // Password managers keep it with the password.
      fields: [field('login', 'Username', 'text', { fixed: true, autocomplete: 'username' })],
      send: (/** @type {any} */ { password }) =>
        request('auth/reset/password', { method: 'POST', body: { token: secret, password } }),
    },
  ],
  [
    'invitation',
    {
      look: path`invite/${secret}/validate`,
      lead: () => 'You are invited. Say who you are, and choose a password.',
      fields: [
        field('email', 'Email', 'text', { required: true, autocomplete: 'email' }),
        field('name', 'Name, if you like', 'text', { autocomplete: 'name' }),
      ],
      send: (/** @type {any} */ { email, name, password }) =>
        request(path`invite/${secret}/signup`, {
          method: 'POST',
          body: { email: email.trim(), password, ...(name.trim() === '' ? {} : { name: name.trim() }) },
        }),
    },
  ],
]);

function Welcome() {
  const link = secret === '' ? undefined : LINKS.get(use);
  const [state, setState] = useState('Looking at your link …');
  const [login, setLogin] = useState(/** @type {string | null} */ (null));
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (link === undefined) setState('This address lacks its link. Open the whole link that you were given.');
    else
      request(link.look).then(
        ({ body }) => {
          const found = body?.email || body?.username || '';
          setState(link.lead(found));
          setLogin(found);
        },
        (error) => setState(messageOf(error)),
      );
  }, []);
  /** @param {Record<string, string>} values */
  async function send(values) {
    if (values['password'] !== values['again']) throw new Error('The two passwords differ.');
    await link?.send(values);
    setState('Your password is set. You can sign in with it now.');
    setDone(true);
  }
  return (
    <>
      <h1>Flagstaff</h1>
      <p role="status">{state}</p>
      {isDone ? (
        <p>
          <a href="./">Go on to the console</a>
        </p>
      ) : link === undefined || login === null ? null : (
        <PlainForm
          fields={[...link.fields, ...PASSWORDS]}
          values={{ login, email: '', name: '', password: '', again: '' }}
          text="Set password"
          begin={send}
        />
      )}
    </>
  );
}

const main = document.querySelector('main');
if (main !== null) render(<Welcome />, main);
