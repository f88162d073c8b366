/** The console's own types, and its names for the schemas of the interface. */

import type { components } from './api-types.d.ts';

type Schemas = components['schemas'];

export type Profile = Schemas['Profile'];
export type ProjectSummary = Schemas['ProjectSummary'];
export type ProjectOverview = Schemas['ProjectOverview'];
export type FlagSummary = Schemas['FlagSummary'];
export type Flag = Schemas['WholeFlag'];
export type FlagEnvironment = Schemas['FlagEnvironment'];
export type Strategy = Schemas['Strategy'];
export type Constraint = Schemas['Constraint'];
export type Variant = Schemas['Variant'];
export type ArchivedFlag = Schemas['ArchivedFlag'];
/** Named so because browsers have an `Event` too. */
export type LoggedEvent = Schemas['Event'];
export type EventPage = Schemas['Events'];
export type Figures = Schemas['InstanceFigures'];

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
