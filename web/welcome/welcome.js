/**
 * The page behind a link that an Admin handed on: a form with which its user sets a password, or with which somebody becomes a user.
 * The secret stands behind the `#` of the address and is taken out of it at once, so that neither the history of the browser
 * nor a log keeps it.
 */

/** @type {(id: string) => HTMLElement} */
const element = (id) => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
};

/** @type {(id: string) => string} */
const textOf = (id) => /** @type {HTMLInputElement} */ (element(id)).value;

/** @type {(id: string, text: string) => void} */
const say = (id, text) => {
  element(id).textContent = text;
};

/**
 * @param {string} path
 * @param {object} [body]
 */
async function ask(path, body) {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(path, { headers: { 'content-type': 'application/json' }, ...sent });
  const text = await response.text();
  const value = text === '' ? {} : JSON.parse(text);
  if (!response.ok) throw new Error(value.message ?? 'That did not work; try again in a moment.');
  return value;
}

/**
 * The request that the form makes.
 *
 * @param {string} use
 * @param {string} secret
 */
function send(use, secret) {
  const password = textOf('password');
  if (use === 'password') return ask('auth/reset/password', { token: secret, password });
  const name = textOf('name').trim();
  const person = { email: textOf('email').trim(), ...(name === '' ? {} : { name }) };
  return ask(`invite/${encodeURIComponent(secret)}/signup`, { ...person, password });
}

/**
 * @param {string} use
 * @param {string} secret
 */
async function begin(use, secret) {
  if (use === 'password') {
    const user = await ask(`auth/reset/validate?token=${encodeURIComponent(secret)}`);
    const login = user.email || user.username || '';
    /** @type {HTMLInputElement} */ (element('username')).value = login;
    say('state', `Set the password of ${login}.`);
  } else {
    await ask(`invite/${encodeURIComponent(secret)}/validate`);
    say('state', 'You are invited. Say who you are, and choose a password.');
    element('person').hidden = false;
    element('email').setAttribute('required', '');
  }
  element('form').hidden = false;
}

/**
 * @param {string} use
 * @param {string} secret
 */
async function submit(use, secret) {
  say('fault', '');
  if (textOf('password') !== textOf('again')) return say('fault', 'The two passwords differ.');
  const button = element('form').querySelector('button');
  button?.setAttribute('disabled', '');
  try {
    await send(use, secret);
    element('form').hidden = true;
    element('done').hidden = false;
    say('state', 'Your password is set. You can sign in with it now.');
  } catch (error) {
    say('fault', /** @type {Error} */ (error).message);
  } finally {
    button?.removeAttribute('disabled');
  }
}

const [use = '', secret = ''] = location.hash.slice(1).split('=');
history.replaceState(null, '', location.pathname);
element('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void submit(use, secret);
});
if ((use === 'password' || use === 'invitation') && secret !== '') {
  begin(use, secret).catch((error) => say('state', error.message));
} else {
  say('state', 'This address lacks its link. Open the whole link that you were given.');
}
