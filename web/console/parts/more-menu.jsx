/** What is seldom done, below three dots. */
import { Icon } from './icon.jsx';
import { Popover } from './popover.jsx';

/** @typedef {{ text: string, icon: string, act: () => unknown, label?: string, isDanger?: boolean }} Item `label`: for those who hear the page, where the text alone does not say of what */

/** @param {{ label: string, items: readonly (Item | null)[] }} props */
export function MoreMenu({ label, items }) {
  const offered = items.filter((item) => item !== null);
  if (offered.length === 0) return null;
  return (
    <Popover title={<Icon name="more" />} label={label} looks="more-menu">
      {offered.map(({ text, icon, act, label: called, isDanger }) => (
        <button
          key={text}
          type="button"
          class={`menu-item${isDanger === true ? ' menu-item-danger' : ''}`}
          aria-label={called}
          onClick={(event) => {
            event.currentTarget.closest('details')?.removeAttribute('open');
            void act();
          }}
        >
          <Icon name={icon} />
          {text}
        </button>
      ))}
    </Popover>
  );
}
