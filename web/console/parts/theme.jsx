/** Light or dark: as the system prefers, or as somebody has chosen in this tab. */
import { useState } from 'preact/hooks';
import { Choice } from '../forms/choice.jsx';

/** @type {readonly (readonly [string, string])[]} */
const THEMES = [
  ['', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** The choice lives with the entry of the page in the history of the browser, as drafts do. @param {string} theme */
function show(theme) {
  if (theme === '') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Keeps the theme over a reload, and for every further entry of the history. */
export function restoreTheme() {
  show(history.state?.theme ?? '');
  addEventListener('hashchange', () => keep(document.documentElement.dataset['theme'] ?? ''));
}

/** @param {string} theme */
const keep = (theme) => history.replaceState({ ...history.state, theme }, '');

export function ThemeChoice() {
  const [theme, setTheme] = useState(document.documentElement.dataset['theme'] ?? '');
  return (
    <Choice
      options={THEMES}
      value={theme}
      change={(next) => {
        keep(next);
        show(next);
        setTheme(next);
      }}
      attributes={{ class: 'filter button-small grow', 'aria-label': 'Theme' }}
    />
  );
}
