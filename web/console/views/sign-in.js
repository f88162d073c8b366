/** The form that takes the token. What is typed is handed on and then cleared; nothing remembers it. */
import { messageOf } from '../client.js';
import { h, show } from '../dom.js';

/**
 * @param {string | null} problem shown above the form
 * @param {(token: string) => Promise<void>} enter
 */
export function signIn(problem, enter) {
  const input = h('input', {
    type: 'password',
    id: 'token',
    name: 'token',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'token-hint',
  });
  const button = h('button', { class: 'button button-main' }, 'Sign in');
  const alert = h('p', { class: 'problem', role: 'alert' });
  if (problem !== null) show(alert, problem);

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    button.disabled = true;
    show(alert);
    try {
      await enter(input.value.trim());
    } catch (error) {
      show(alert, messageOf(error));
      button.disabled = false;
      input.select();
    }
  }

  const form = h(
    'form',
    { class: 'sign-in-form', onsubmit: submit },
    h('label', { for: 'token' }, 'API token or personal token'),
    input,
    alert,
    button,
    h(
      'p',
      { class: 'muted', id: 'token-hint' },
      'Kept in the memory of this page only: a reload asks for it again.',
    ),
  );
  const element = h(
    'main',
    { class: 'sign-in' },
    h('h1', { class: 'brand brand-large' }, brandMark(), 'Flagstaff'),
    form,
    h('p', { class: 'sign-in-foot' }, h('a', { href: 'docs' }, 'The API, described')),
  );
  return { element, focus: () => input.focus() };
}

export function brandMark() {
  return h('img', { src: 'console/icon.svg', alt: '', class: 'brand-mark', width: 28, height: 28 });
}
