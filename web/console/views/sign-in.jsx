/**
 * The page on which people sign in, by each way that the server offers: at a provider, with a password, or with a token. What
 * they type is sent and forgotten; the session is a cookie that no script can read.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../client.js';
import { Modal, openDialog } from '../forms/dialogs.jsx';
import { field } from '../forms/field.js';
import { FieldRows } from '../forms/fields.jsx';
import { BrandMark } from '../parts/brand.jsx';
import { Button, useOnce } from '../parts/button.jsx';
import { Name } from '../said.jsx';
import { beginSession, beginSessionByPassword } from '../sessions.js';

/** @import { Field, SignIns } from '../types.d.ts' */

/** @typedef {{ username: string, password: string }} PasswordValues */
/** @typedef {{ token: string }} TokenValues */

/** Password managers know them by `autocomplete`. @type {readonly Field<PasswordValues>[]} */
const PASSWORD_FIELDS = [
  field('username', 'Username or email', 'text', { required: true, autocomplete: 'username' }),
  field('password', 'Password', 'password', { required: true, autocomplete: 'current-password' }),
];

/** @type {readonly Field<TokenValues>[]} */
const TOKEN_FIELDS = [field('token', 'API token or personal token', 'password', { required: true })];

/**
 * @param {{ problem: string | null, offered: SignIns, enter: () => Promise<void> }} props `problem`: why nobody is signed in; `enter`: opens the page once there is a session
 */
export function SignIn({ problem, offered, enter }) {
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const { password, provider } = offered;
  useEffect(() => {
    document.title = 'Sign in · Flagstaff';
    const first = main.current?.querySelector(password || provider === null ? 'input' : '.button');
    if (first instanceof HTMLElement) first.focus();
  }, []);
  return (
    <main class="sign-in" ref={main}>
      <h1 class="line brand brand-large">
        <BrandMark />
        Flagstaff
      </h1>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <Ways offered={offered} enter={enter} />
      <p class="muted">You stay signed in, in every tab, until you sign out or close the browser.</p>
      <p>
        <a href="docs">API reference</a>
      </p>
    </main>
  );
}

/** @param {{ offered: SignIns, enter: () => Promise<void>, isAgain?: boolean }} props `isAgain`: above a page that stays open */
function Ways({ offered: { password, provider }, enter, isAgain = false }) {
  const byToken = (
    <PlainForm
      fields={TOKEN_FIELDS}
      values={{ token: '' }}
      begin={({ token }) => beginSession(token.trim()).then(enter)}
    />
  );
  return (
    <>
      {provider === null ? null : <ProviderLink provider={provider} isAgain={isAgain} />}
      {password ? (
        <PlainForm
          fields={PASSWORD_FIELDS}
          values={{ username: '', password: '' }}
          begin={(values) => beginSessionByPassword(values).then(enter)}
        />
      ) : null}
      {password || provider !== null ? (
        <details class="record sign-in-other">
          <summary>Sign in with a token instead</summary>
          {byToken}
        </details>
      ) : (
        byToken
      )}
    </>
  );
}

/**
 * Asks whoever has a form open to sign in again, above it: what they typed stays. Resolves once that is done.
 * @param {SignIns} offered
 * @param {{ enter: () => Promise<void>, leave: () => void }} then `enter` rejects where somebody is not signed in yet
 */
export const signInAgain = (offered, then) =>
  openDialog((close) => <SignInAgain offered={offered} {...then} close={close} />);

/** @param {{ offered: SignIns, enter: () => Promise<void>, leave: () => void, close: () => void }} props */
function SignInAgain({ offered, enter, leave, close }) {
  useEffect(() => {
    // At a provider one signs in in another tab, whose session this one shares.
    const look = () => {
      if (!document.hidden) enter().then(close, () => undefined);
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return (
    <Modal title="Sign in again" close={close} isFirm>
      <div class="stack">
        <p>Your session has ended. What you typed is kept.</p>
        <Ways offered={offered} enter={() => enter().then(close)} isAgain />
        <Button looks="quiet" act={leave}>
          Leave and discard it
        </Button>
      </div>
    </Modal>
  );
}

/** @param {{ provider: NonNullable<SignIns['provider']>, isAgain: boolean }} props */
function ProviderLink({ provider: { button, path }, isAgain }) {
  // The server brings people back to the address that they asked for.
  const place = location.hash.slice(1);
  const query = place === '' ? '' : `?${new URLSearchParams({ place })}`;
  return (
    <a
      class="button button-main button-link"
      href={`${path}${query}`}
      {...(isAgain ? { target: '_blank', rel: 'noreferrer' } : {})}
    >
      <Name text={button} />
    </a>
  );
}

/** A form of somebody who is not signed in. @param {{ fields: readonly Field<any>[], values: any, begin: (values: any) => Promise<void>, text?: string }} props */
export function PlainForm({ fields, values: first, begin, text = 'Sign in' }) {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [values, setValues] = useState(first);
  const [refusal, setRefusal] = useState(/** @type {string | null} */ (null));
  const [isBusy, once] = useOnce();
  const secret = fields.find(({ kind }) => kind === 'password');

  async function send() {
    setRefusal(null);
    try {
      await begin(values);
    } catch (error) {
      setRefusal(messageOf(error));
      const input = form.current?.querySelector('input[type=password]');
      if (input instanceof HTMLInputElement) input.select();
    }
  }

  return (
    <form
      class="stack"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void once(send);
      }}
    >
      <FieldRows
        fields={fields}
        values={values}
        set={(changed) => setValues({ ...values, ...changed })}
        // Which of the fields is wrong, the server does not tell; the secret is typed again either way.
        issuesAt={(path) => (refusal !== null && path === secret?.name ? [refusal] : [])}
      />
      <button class="button button-main" disabled={isBusy}>
        {text}
      </button>
    </form>
  );
}
