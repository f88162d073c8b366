/**
 * The states of a flag: active, archived, deleted. This machine is their only definition:
 * - a flag that others depend on cannot be archived, as they would lose their parent;
 * - only an archived flag can be deleted, and a deleted one is gone for good;
 * - archiving an archived flag or reviving an active one changes nothing and is not refused.
 */
import { setup } from 'xstate';
import { lookUp, type Outcome, tabulate } from '../flags/transition-table.ts';

export type ArchiveState = 'active' | 'archived' | 'deleted';
export type ArchiveEvent = 'ARCHIVE' | 'REVIVE' | 'DELETE';

export const archiveSwitchMachine = setup({
  types: {
    context: {} as { childCount: number },
    input: {} as { childCount: number },
    events: {} as { type: ArchiveEvent },
  },
  guards: { hasNoChildren: ({ context }) => context.childCount === 0 },
}).createMachine({
  id: 'archive-switch',
  context: ({ input }) => ({ childCount: input.childCount }),
  initial: 'active',
  states: {
    active: {
      on: {
        ARCHIVE: { guard: 'hasNoChildren', target: 'archived' },
        REVIVE: { target: 'active' },
      },
    },
    archived: {
      on: {
        ARCHIVE: { target: 'archived' },
        REVIVE: { target: 'active' },
        DELETE: { target: 'deleted' },
      },
    },
    deleted: { type: 'final' },
  },
});

const TABLE = tabulate<ArchiveState, ArchiveEvent>(archiveSwitchMachine, (childCount) => ({ childCount }));

/** `childCount` counts the flags that depend on this one. */
export function nextArchiveState(
  state: ArchiveState,
  event: ArchiveEvent,
  childCount: number,
): Outcome<ArchiveState> {
  return lookUp(TABLE, state, event, childCount);
}
