/** The memory of a state, counted anew: what the server's own count has to be at any time. */
import { References } from '../../src/domain/state/references.ts';
import { recordSize } from '../../src/domain/state/state-memory.ts';
import type { World } from '../../src/domain/state/world.ts';

export function recountStateBytes({ directory, projects, addonRecords }: World): number {
  const { segments, contextFields, strategyTypes, settings, users, apiTokens, personalTokens } = directory;
  const { potentiallyStale, completions, tagTypes, tags, favorites, roles, groups, passwords } = directory;
  const { sessions, identities } = directory;
  const flags = [...projects.values()].flatMap((project) =>
    [...project.flags.values()].map(({ flag }) => flag),
  );
  const records: readonly unknown[] = [
    ...[segments, contextFields, strategyTypes, settings, users, apiTokens, personalTokens].flatMap((map) => [
      ...(map as ReadonlyMap<unknown, unknown>).values(),
    ]),
    ...potentiallyStale.values(),
    ...completions.values(),
    ...tagTypes.values(),
    ...tags.values(),
    ...favorites.values(),
    ...roles.values(),
    ...groups.values(),
    ...sessions.values(),
    ...passwords.values(),
    ...identities.values(),
    ...directory.passwordLinks.values(),
    ...directory.invitations.values(),
    ...directory.environments,
    ...[...addonRecords.values()].flatMap(({ byId }) => [...byId.values()]),
    ...[...projects.values()].flatMap(({ settings, members, groups, defaultStrategies }) => [
      settings,
      ...members.values(),
      ...defaultStrategies.values(),
      ...groups.values(),
    ]),
    ...flags,
  ];
  let references = new References();
  for (const flag of flags) references = references.replaced(null, flag);
  return records.reduce<number>((bytes, record) => bytes + recordSize(record), references.bytes);
}
