/** The states of a view that has nothing to show yet, or nothing at all. */
import { messageOf, Refused } from '../client.js';
import { Button } from './button.jsx';

/** @import { ComponentChildren } from 'preact' */

/** The shapes of what comes, and how many parts of each are in sight. */
const SHAPES = { rows: 9, tiles: 8, cards: 3, events: 8 };

/** @typedef {keyof typeof SHAPES} Shape */

/** @param {{ shape?: Shape }} props */
export const Loading = ({ shape = 'rows' }) => (
  <div class={`loading loading-${shape}`} role="status">
    <span class="unseen">Loading</span>
    {Array.from({ length: SHAPES[shape] }, (_, index) => (
      <span key={index} class="loading-part" />
    ))}
  </div>
);

/** @param {{ error: unknown, retry: () => void }} props */
export function Failed({ error, retry }) {
  if (error instanceof Refused && error.status === 403) {
    return <Empty title="You cannot see this">{error.message}</Empty>;
  }
  return (
    <div class="empty" role="alert">
      <p class="empty-title">This could not be loaded</p>
      <p>{messageOf(error)}</p>
      <Button act={retry}>Try again</Button>
    </div>
  );
}

export const ForAdmins = () => <Empty title="This page is for Admins">An Admin can change your role.</Empty>;

/** @param {{ title: string, children?: ComponentChildren }} props */
export function Empty({ title, children }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}
