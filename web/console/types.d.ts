/** What responses hold, as far as the console looks at it. The description at `/docs` has all of it. */

export interface Profile {
  rootRole: { name: string };
  projects: string[];
}

export interface ProjectSummary {
  id: string;
  name: string;
  description: string;
  health: number;
  featureCount: number;
  memberCount: number;
}

export interface FlagSummary {
  name: string;
  type: string;
  stale: boolean;
  createdAt: string;
  environments: { name: string; enabled: boolean }[];
}

export interface ProjectOverview {
  name: string;
  description: string;
  health: number;
  members: number;
  environments: { environment: string }[];
  features: FlagSummary[];
}

export interface Constraint {
  contextName: string;
  operator: string;
  caseInsensitive: boolean;
  inverted: boolean;
  values: string[];
  value?: string;
}

export interface Variant {
  name: string;
  weight: number;
  weightType: string;
  stickiness: string;
  payload?: { type: string; value: string };
  overrides: { contextName: string; values: string[] }[];
}

export interface Strategy {
  id: string;
  name: string;
  title: string | null;
  disabled: boolean | null;
  constraints: Constraint[];
  parameters: Record<string, unknown> | null;
  variants: Variant[];
  segments: number[];
}

export interface FlagEnvironment {
  name: string;
  type: string;
  enabled: boolean;
  strategies: Strategy[];
}

export interface Flag {
  name: string;
  project: string;
  description: string | null;
  type: string;
  stale: boolean;
  createdAt: string;
  archived: boolean;
  archivedAt: string | null;
  variants: Variant[] | null;
  environments: FlagEnvironment[];
  children: string[];
  dependencies: { feature: string; enabled: boolean; variants: string[] }[];
  tags: { type: string; value: string }[];
}

export interface ArchivedFlag {
  name: string;
  type: string;
  description: string | null;
  archivedAt: string;
}

export interface LoggedEvent {
  id: number;
  createdAt: string;
  type: string;
  createdBy: string;
  environment: string | null;
  project: string | null;
  featureName: string | null;
  data: Record<string, unknown> | null;
  preData: Record<string, unknown> | null;
}

export interface EventPage {
  events: LoggedEvent[];
  totalEvents: number;
}

export interface Figures {
  version: string;
  httpEngine: string;
  uptimeSeconds: number;
  writable: boolean;
  refusalReason: string | null;
  lastEventId: number;
  durableEventId: number;
  waitingCommands: number;
  connections: number;
  projects: number;
  flags: number;
  users: number;
  events: number;
  journal: { bytes: number; segments: number };
  snapshots: {
    count: number;
    newest: { eventId: number; eventAt: string; ageSeconds: number; bytes: number } | null;
  };
  disk: { freeBytes: number | null };
  memory: { rssBytes: number; heapUsedBytes: number };
}

/** What can be shown: the address after `#`. */
export type Place =
  | { view: 'flags'; project: string }
  | { view: 'archive'; project: string }
  | { view: 'flag'; project: string; flag: string }
  | { view: 'events' }
  | { view: 'health' };

/** A view: what is shown of a place, for as long as it is shown. */
export interface View {
  /** Of the window. */
  title: string;
  element: HTMLElement;
  /** New events, newest first. */
  onEvents?(events: readonly LoggedEvent[]): void;
  close?(): void;
}

export interface Session {
  client: import('./client.js').Client;
  profile: Profile;
  /** Whether anybody may do everything here. */
  open: boolean;
  /** Newest events first, kept up to date while the page is looked at. */
  feed: import('./feed.js').Feed;
  mayWrite(project: string): boolean;
  projects: readonly ProjectSummary[];
}
