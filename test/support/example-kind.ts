/** A kind as an add-on brings one, for tests of what the core does with its records. */

import { type Command, ownCommand } from '../../src/domain/decide/decide.ts';
import { recordCreated, recordDeleted, recordUpdated } from '../../src/domain/decide/kind-commands.ts';
import { type AddonKind, registerKinds } from '../../src/domain/kinds/addon-kind.ts';

interface Example {
  readonly id: number;
  readonly text: string;
}

/** Records of its second version have `text` where those of the first had `title`. */
export const EXAMPLE_KIND: AddonKind<Example> = {
  name: 'example',
  noun: 'example',
  events: {
    created: 'addon-config-created',
    updated: 'addon-config-updated',
    deleted: 'addon-config-deleted',
  },
  upgrades: [
    ({ data: { title: text, ...data }, secrets }: { data: { title?: string }; secrets: object }) => ({
      data: { ...data, text },
      secrets: { ...secrets },
    }),
  ],
  countMax: 20,
  bytesMax: 1_000,
  issuesOf: ({ data: { text } }) =>
    typeof text === 'string' ? [] : [{ path: '/data/text', message: 'The field "text" must be a text.' }],
};
registerKinds([EXAMPLE_KIND]);

export const createExample = (text: string, secret?: string): Command =>
  ownCommand({
    sent: {},
    decide: (world) =>
      recordCreated(world, EXAMPLE_KIND, (id) => ({
        data: { id, text },
        secrets: secret === undefined ? {} : { secret },
      })),
  });

export const updateExample = (id: number, text: string, secret?: string): Command =>
  ownCommand({
    sent: {},
    decide: (world) =>
      recordUpdated(world, EXAMPLE_KIND, id, ({ secrets }) => ({
        data: { id, text },
        secrets: secret === undefined ? secrets : { secret },
      })),
  });

export const deleteExample = (id: number): Command =>
  ownCommand({ sent: {}, decide: (world) => recordDeleted(world, EXAMPLE_KIND, id) });
