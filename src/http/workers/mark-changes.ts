/**
 * Raises the marks of what changes (change-marks.ts), as soon as it is durable.
 *
 * What is not known to concern little concerns everything: an event that is missing below costs time, and shows nobody
 * anything old.
 */
import type { Engine } from '../../actors/engine.ts';
import type { Usage } from '../../actors/usage.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { locateFlagAnywhere } from '../../domain/state/locate.ts';
import { isRefusal } from '../../domain/state/refusal.ts';
import { type ChangeMarks, SUBJECTS, subjectOfFlag, subjectOfProject } from './change-marks.ts';

/** They change what is shown of the flag that they name and of no other, and in its project. Those about dependencies are not among them. */
const OF_ONE_FLAG: ReadonlySet<string> = new Set<DomainEvent['type']>([
  'feature-created',
  'feature-deleted',
  'feature-project-change',
  'feature-metadata-updated',
  'feature-stale-on',
  'feature-stale-off',
  'feature-potentially-stale-on',
  'feature-archived',
  'feature-revived',
  'feature-completed',
  'feature-uncompleted',
  'feature-strategy-add',
  'feature-strategy-update',
  'feature-strategy-remove',
  'strategy-order-changed',
  'feature-environment-enabled',
  'feature-environment-disabled',
  'feature-variants-updated',
  'feature-environment-variants-updated',
  'feature-tagged',
  'feature-untagged',
]);

/** They change who may do what, or who is shown flags as nobody else is, and nothing that others are shown of flags. Projects show their members. */
const OF_ACCESS: ReadonlySet<string> = new Set<DomainEvent['type']>([
  'feature-favorited',
  'feature-unfavorited',
  'project-favorited',
  'project-unfavorited',
  'api-token-created',
  'api-token-updated',
  'api-token-deleted',
  'pat-created',
  'pat-deleted',
  'user-created',
  'user-updated',
  'user-deleted',
  'role-created',
  'role-updated',
  'role-deleted',
  'group-created',
  'group-updated',
  'group-deleted',
  'project-user-added',
  'project-user-role-changed',
  'project-user-removed',
  'project-group-added',
  'project-group-role-changed',
  'project-group-removed',
  'project-created',
  'service-account-created',
  'service-account-updated',
  'service-account-deleted',
]);

/** They change what SDKs are told, and nothing that is shown of a flag otherwise. */
const OF_DOCUMENTS: ReadonlySet<string> = new Set<DomainEvent['type']>([
  'segment-created',
  'segment-updated',
  'segment-deleted',
]);

/** They change nothing that workers keep. */
const OF_NOTHING: ReadonlySet<string> = new Set<DomainEvent['type']>([
  'tag-type-created',
  'tag-type-updated',
  'context-field-created',
  'context-field-updated',
  'context-field-deleted',
  'features-exported',
  'public-signup-token-created',
  'public-signup-token-updated',
]);

/** To be called before anybody else hears of changes who would tell a client of them. */
export function markChanges(
  marks: ChangeMarks,
  { feed, world }: Pick<Engine, 'feed' | 'world'>,
  usage: Pick<Usage, 'onSeen'>,
): void {
  let { renames } = world.lineage;
  feed.subscribe((changes) => {
    for (const { events } of changes) for (const event of events) markEvent(marks, event as DomainEvent);
    // ETags have other names now.
    if (renames !== world.lineage.renames) marks.raiseAll();
    renames = world.lineage.renames;
  });
  // A flag shows when it was evaluated last.
  usage.onSeen((flag) => {
    marks.raise(subjectOfFlag(flag));
    const located = locateFlagAnywhere(world, flag);
    if (!isRefusal(located)) marks.raise(subjectOfProject(located.project.settings.id));
  });
}

function markEvent(marks: ChangeMarks, event: DomainEvent): void {
  const { type, featureName, project } = event;
  if (OF_ACCESS.has(type)) {
    marks.raise(SUBJECTS.access);
    return marks.raise(project === null ? SUBJECTS.lists : subjectOfProject(project));
  }
  if (OF_DOCUMENTS.has(type)) return marks.raise(SUBJECTS.documents);
  if (OF_NOTHING.has(type)) return;
  if (featureName === null || project === null || !OF_ONE_FLAG.has(type)) return marks.raiseAll();
  marks.raise(subjectOfFlag(featureName));
  marks.raise(SUBJECTS.documents);
  marks.raise(subjectOfProject(project));
  if (type === 'feature-project-change') marks.raise(subjectOfProject(event.data.oldProject));
}
