/** A button, which looks like one unless `looks` gives it other classes. */

/** @import { ButtonHTMLAttributes } from 'preact' */

/** @param {Omit<ButtonHTMLAttributes, 'type' | 'class' | 'onClick'> & { act: () => unknown, looks?: string }} props */
export const Button = ({ act, looks = 'button', children, ...others }) => (
  <button type="button" {...others} class={looks} onClick={() => void act()}>
    {children}
  </button>
);
