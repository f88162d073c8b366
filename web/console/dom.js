/**
 * Elements without a framework. Everything that comes from outside becomes text: no function here takes markup, so a
 * flag named `<script>` is a flag with an odd name.
 */

/**
 * @typedef {Node | string | number | null | false} Child
 * @typedef {Record<string, string | number | boolean | null | undefined | EventListener | Record<string, string>>} Props
 */

/**
 * An element. `onclick` and the like listen; `vars` sets custom properties of CSS; true is an attribute without a
 * value; false, null and undefined are left out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) setProp(element, name, value);
  element.append(...present(children));
  return element;
}

/** @param {HTMLElement} element @param {string} name @param {Props[string]} value */
function setProp(element, name, value) {
  if (value === false || value === null || value === undefined) return;
  if (typeof value === 'function') element.addEventListener(name.slice(2), value);
  else if (typeof value === 'object') {
    for (const [key, text] of Object.entries(value)) element.style.setProperty(`--${key}`, text);
  } else element.setAttribute(name, value === true ? '' : String(value));
}

/** @param {readonly Child[]} children */
function present(children) {
  return children
    .filter((child) => child !== null && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Shows `children` in place of what was there. Whoever was on an element with a `data-key` is on its successor after.
 * @param {HTMLElement} container
 * @param {...Child} children
 */
export function show(container, ...children) {
  const focused = document.activeElement;
  const key =
    focused instanceof HTMLElement && container.contains(focused) ? focused.dataset['key'] : undefined;
  container.replaceChildren(...present(children));
  if (key === undefined) return;
  for (const element of container.querySelectorAll('[data-key]')) {
    if (element instanceof HTMLElement && element.dataset['key'] === key) return element.focus();
  }
}

/** The visible words for something, and more for those who cannot see it. @param {string} text */
export function unseen(text) {
  return h('span', { class: 'unseen' }, text);
}
