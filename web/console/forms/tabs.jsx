/** Parts of a long form, one at a time. What is on the others stays as it is. */
import { useId } from 'preact/hooks';
import { Button } from '../parts/button.jsx';

/** @import { ComponentChildren, TargetedKeyboardEvent } from 'preact' */

/** Keys that lead from one tab to another, by how many. @type {Readonly<Record<string, number>>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/**
 * @param {{ tabs: readonly (readonly [name: string, count: number])[], chosen: string, choose: (name: string) => void, panel: (name: string) => ComponentChildren }} props
 */
export function Tabs({ tabs, chosen, choose, panel }) {
  const id = useId();
  /** @param {TargetedKeyboardEvent<HTMLElement>} event */
  function onKeyDown(event) {
    const at = tabs.findIndex(([name]) => name === chosen) + (STEPS[event.key] ?? 0);
    const next = (at + tabs.length) % tabs.length;
    if (tabs[next]?.[0] === chosen) return;
    event.preventDefault();
    choose(tabs[next]?.[0] ?? chosen);
    const tab = event.currentTarget.children[next];
    if (tab instanceof HTMLElement) tab.focus();
  }
  return (
    <>
      <div class="tabs" role="tablist" onKeyDown={onKeyDown}>
        {tabs.map(([name, count], index) => (
          <Button
            key={name}
            looks="tab"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-controls={`${id}-panel-${index}`}
            aria-selected={name === chosen}
            tabIndex={name === chosen ? 0 : -1}
            act={() => choose(name)}
          >
            {count === 0 ? name : `${name} (${count})`}
          </Button>
        ))}
      </div>
      {tabs.map(([name], index) => (
        <div
          key={name}
          class="stack tab-panel"
          role="tabpanel"
          id={`${id}-panel-${index}`}
          aria-labelledby={`${id}-tab-${index}`}
          data-tab={name}
          hidden={name !== chosen}
        >
          {panel(name)}
        </div>
      ))}
    </>
  );
}
