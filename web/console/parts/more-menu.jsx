/** A menu of what is seldom done, below three dots. */
import { visible } from '../said.jsx';
import { useOnce } from './button.jsx';
import { Icon } from './icon.jsx';
import { Popover } from './popover.jsx';

/** @typedef {readonly [text: string, icon: string, act: () => unknown, isDanger?: boolean]} Item */

/**
 * @param {{ label: string, of?: string, items: readonly (Item | null)[] }} props `of`: for those who hear the page, where the texts alone do not say of what they are
 */
export function MoreMenu({ label, of, items }) {
  const [isBusy, once] = useOnce();
  const offered = items.filter((item) => item !== null);
  if (offered.length === 0) return null;
  return (
    <Popover title={<Icon name="more" />} label={label} looks="more-menu" isBusy={isBusy}>
      {offered.map(([text, icon, act, isDanger = false]) => (
        <button
          key={text}
          type="button"
          class={`menu-item${isDanger ? ' menu-item-danger' : ''}`}
          aria-label={of === undefined ? undefined : `${text} ${visible(of)}`}
          onClick={(event) => {
            event.currentTarget.parentElement?.hidePopover();
            void once(act);
          }}
        >
          <Icon name={icon} />
          {text}
        </button>
      ))}
    </Popover>
  );
}
