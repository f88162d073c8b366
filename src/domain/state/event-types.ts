/**
 * Every type that an event can have (docs/specification/events.md#types). The list and its order are part of the interface; types of
 * kinds that are not listed here are last. A search refuses any other type, and accepts a type that the server does not record yet.
 */
import { EFFECTS } from '../kinds/kinds.ts';
import type { DomainEvent, KindEvent, RecordEvent } from './events.ts';

/** The effects of events of one type, for code that looks at decided or recorded events without applying them. */
interface EventRow {
  /** False where limits are not looked at: nothing becomes larger, or never so that it may be refused. */
  readonly grows?: false;
  /**
   * The things that change beside the flag that it names: the flags of an environment or a project, those that use a segment, the parent
   * or child of a flag, or a project without its flags.
   */
  readonly reaches?: 'environment' | 'project' | 'segment' | 'other flag' | 'project settings';
}

/** A type that the core names. */
type OwnType = Exclude<DomainEvent['type'], RecordEvent['type']>;

/** The row of a type that the server accepts in searches, and does not record. */
const UNRECORDED = null;

const EVENTS = {
  'application-created': UNRECORDED,
  'feature-created': {},
  'feature-deleted': { grows: false },
  'feature-updated': UNRECORDED,
  'feature-metadata-updated': {},
  'feature-variants-updated': {},
  'feature-environment-variants-updated': {},
  'feature-project-change': {},
  'feature-archived': { grows: false },
  'feature-revived': {},
  'feature-import': UNRECORDED,
  'feature-tagged': {},
  'feature-tag-import': UNRECORDED,
  'feature-strategy-update': {},
  'feature-strategy-add': {},
  'feature-strategy-remove': {},
  'feature-type-updated': {},
  'feature-completed': {},
  'feature-uncompleted': {},
  'strategy-order-changed': {},
  'drop-feature-tags': UNRECORDED,
  'feature-untagged': {},
  'feature-stale-on': {},
  'feature-stale-off': {},
  'drop-features': UNRECORDED,
  'feature-environment-enabled': { grows: false },
  'feature-environment-disabled': { grows: false },
  'strategy-created': {},
  'strategy-deleted': {},
  'strategy-deprecated': {},
  'strategy-reactivated': {},
  'strategy-updated': {},
  'strategy-import': UNRECORDED,
  'drop-strategies': UNRECORDED,
  'context-field-created': {},
  'context-field-updated': {},
  'context-field-deleted': {},
  'project-access-added': UNRECORDED,
  'project-access-user-roles-updated': UNRECORDED,
  'project-access-group-roles-updated': UNRECORDED,
  'project-access-user-roles-deleted': UNRECORDED,
  'project-access-group-roles-deleted': UNRECORDED,
  'project-access-updated': UNRECORDED,
  'project-created': { reaches: 'project settings' },
  'project-updated': { reaches: 'project settings' },
  'project-deleted': { grows: false, reaches: 'project' },
  'project-import': UNRECORDED,
  'project-user-added': {},
  'project-user-removed': {},
  'project-user-role-changed': {},
  'project-group-role-changed': {},
  'project-group-added': {},
  'project-group-removed': {},
  'role-created': {},
  'role-updated': {},
  'role-deleted': {},
  'drop-projects': UNRECORDED,
  'tag-created': {},
  'tag-deleted': {},
  'tag-import': UNRECORDED,
  'drop-tags': UNRECORDED,
  'tag-type-created': {},
  'tag-type-deleted': {},
  'tag-type-updated': {},
  'tag-type-import': UNRECORDED,
  'drop-tag-types': UNRECORDED,
  'addon-config-created': {},
  'addon-config-updated': {},
  'addon-config-deleted': { grows: false },
  'db-pool-update': UNRECORDED,
  'user-created': {},
  'user-updated': {},
  'user-deleted': {},
  'drop-environments': UNRECORDED,
  'environment-import': UNRECORDED,
  'environment-created': { reaches: 'environment' },
  'environment-updated': { reaches: 'environment' },
  'environment-deleted': { grows: false, reaches: 'environment' },
  'segment-created': { reaches: 'segment' },
  'segment-updated': { reaches: 'segment' },
  'segment-deleted': { reaches: 'segment' },
  'group-created': {},
  'group-updated': {},
  'group-deleted': {},
  'group-user-added': UNRECORDED,
  'group-user-removed': UNRECORDED,
  'setting-created': {},
  'setting-updated': {},
  'setting-deleted': UNRECORDED,
  'client-metrics': UNRECORDED,
  'client-register': UNRECORDED,
  'pat-created': {},
  'pat-deleted': {},
  'public-signup-token-created': {},
  'public-signup-token-user-added': {},
  'public-signup-token-updated': {},
  'change-request-created': {},
  'change-request-discarded': {},
  'change-added': {},
  'change-discarded': {},
  'change-edited': {},
  'change-request-rejected': {},
  'change-request-approved': {},
  'change-request-approval-added': {},
  'change-request-cancelled': {},
  'change-request-sent-to-review': {},
  'change-request-schedule-suspended': {},
  'change-request-applied': {},
  'change-request-scheduled': {},
  'change-request-scheduled-application-success': {},
  'change-request-scheduled-application-failure': {},
  'change-request-configuration-updated': {},
  'change-request-requested-approvers-updated': {},
  'change-request-updated': {},
  'change-request-skipped': {},
  'api-token-created': {},
  'api-token-updated': {},
  'api-token-deleted': {},
  'feature-favorited': {},
  'feature-unfavorited': {},
  'project-favorited': {},
  'project-unfavorited': {},
  'feature-commented': { grows: false },
  'features-exported': {},
  'features-imported': {},
  'features-applied': {},
  'service-account-created': {},
  'service-account-deleted': {},
  'service-account-updated': {},
  'feature-potentially-stale-on': {},
  'feature-potentially-stale-soon': {},
  'feature-dependency-added': { reaches: 'other flag' },
  'feature-dependency-removed': { reaches: 'other flag' },
  'feature-dependencies-removed': { reaches: 'other flag' },
  'banner-created': UNRECORDED,
  'banner-updated': UNRECORDED,
  'banner-deleted': UNRECORDED,
  'project-environment-added': { reaches: 'project' },
  'project-environment-removed': { grows: false, reaches: 'project' },
  'default-strategy-updated': {},
  'segment-import': UNRECORDED,
  'signal-endpoint-created': UNRECORDED,
  'signal-endpoint-updated': UNRECORDED,
  'signal-endpoint-deleted': UNRECORDED,
  'signal-endpoint-token-created': UNRECORDED,
  'signal-endpoint-token-updated': UNRECORDED,
  'signal-endpoint-token-deleted': UNRECORDED,
  'actions-created': UNRECORDED,
  'actions-updated': UNRECORDED,
  'actions-deleted': UNRECORDED,
} as const satisfies Readonly<Record<string, EventRow | null>> &
  Readonly<Record<Exclude<OwnType, KindEvent['type']>, EventRow>>;

export type EventType = keyof typeof EVENTS | OwnType;

const ROWS: ReadonlyMap<string, EventRow | null> = new Map([
  ...Array.from(EFFECTS.keys(), (type) => [type, {}] as const),
  ...Object.entries<EventRow | null>(EVENTS),
]);

export const EVENT_TYPES = [...new Set([...Object.keys(EVENTS), ...EFFECTS.keys()])] as readonly EventType[];

export const eventRow = (type: DomainEvent['type']): EventRow => ROWS.get(type) ?? {};

export const typesThatReach = (...reached: readonly EventRow['reaches'][]): readonly EventType[] =>
  EVENT_TYPES.filter((type) => reached.includes(ROWS.get(type)?.reaches));
