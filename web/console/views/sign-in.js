/** The form that takes the token and begins a session with it. No script can read it back. */
import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../client.js';
import { BrandMark } from '../parts/brand.js';

/**
 * @param {object} props
 * @param {string | null} props.problem shown above the form
 * @param {(token: string) => Promise<void>} props.enter
 */
export function SignIn({ problem, enter }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [refusal, setRefusal] = useState(problem);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · Flagstaff';
    input.current?.focus();
  }, []);

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    setRefusal(null);
    try {
      await enter(input.current?.value.trim() ?? '');
    } catch (error) {
      setRefusal(messageOf(error));
      setBusy(false);
      input.current?.select();
    }
  }

  return h(
    'main',
    { class: 'sign-in' },
    h('h1', { class: 'brand brand-large' }, h(BrandMark, null), 'Flagstaff'),
    h(
      'form',
      { class: 'sign-in-form', onSubmit: submit },
      h('label', { for: 'token' }, 'API token or personal token'),
      h('input', {
        ref: input,
        type: 'password',
        id: 'token',
        name: 'token',
        class: 'input',
        required: true,
        autocomplete: 'off',
        spellcheck: false,
        'aria-describedby': 'token-hint',
      }),
      h('p', { class: 'problem', role: 'alert' }, refusal),
      h('button', { class: 'button button-main', disabled: isBusy }, 'Sign in'),
      h(
        'p',
        { class: 'muted', id: 'token-hint' },
        'You stay signed in, in every tab, until you sign out or close the browser.',
      ),
    ),
    h('p', { class: 'sign-in-foot' }, h('a', { href: 'docs' }, 'The API, described')),
  );
}
