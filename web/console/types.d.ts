/** The console's own types, and those of the interface, which the check makes from its description (test/browser/console-types.ts). */

import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Event as LoggedEvent, Me, Profile, ProjectSummary } from './api-types.d.ts';

declare global {
  interface Window {
    /** Made by the one of the two scripts that comes first. */
    begun?: Map<string, Promise<Response>>;
  }
}

export type * from './api-types.d.ts';
/** Named so because browsers have an `Event` too. */
export type {
  Event as LoggedEvent,
  Events as EventPage,
  InstanceFigures as Figures,
  WholeFlag as Flag,
} from './api-types.d.ts';
/** The part of an event that the server tells when it is recorded. */
export type EventHead = Omit<LoggedEvent, 'data' | 'preData' | 'tags'>;

/** Views that need nothing but their name. */
export type PlainView = 'home' | keyof typeof import('./place.js').PLAIN;

/** A page that can be shown: the address after `#`. */
export type Place =
  | { view: 'flags'; project: string; query: string }
  | { view: keyof typeof import('./place.js').OF_PROJECT; project: string; query?: string }
  | { view: 'flag'; project: string; flag: string }
  | { view: 'change-request'; project: string; request: string }
  | { view: PlainView; query?: string };

/** A right of a caller, in the project where the right belongs to one. */
export type Right = 'flags' | 'project' | 'create-project' | 'targeting' | 'admin';

export interface Session {
  client: import('./client.js').Client;
  profile: Profile;
  me: Me;
  /** Whether it is a user who is signed in, and not a token alone. */
  isUser: boolean;
  /** Whether anybody may do everything here. */
  open: boolean;
  /** Newest events first, kept up to date while the page is looked at. */
  feed: import('./feed.js').Feed;
  may(right: Right, project?: string): boolean;
  /** Whether the caller holds a permission of the interface there. */
  holds(permission: string, at: { project: string; environment: string }): boolean;
  projects: Signal<readonly ProjectSummary[]>;
  /** Types of environments by name: `production` is asked about before it is changed. */
  environmentTypes: Signal<ReadonlyMap<string, string>>;
  signOut(): Promise<void>;
  /** Ends all sessions of the caller. */
  signOutEverywhere(): Promise<void>;
  /** Does what ends the sessions of the caller, and goes on in a new one. Resolves to what `change` does. */
  replaceSession(
    change: () => Promise<unknown>,
    next: { username: string; password: string },
  ): Promise<unknown>;
}

/** How people can sign in; `provider`: of OpenID Connect. */
export interface SignIns {
  token: boolean;
  password: boolean;
  provider: { button: string; path: string } | null;
}

/** A session of the caller. */
export interface OwnSession {
  id: number;
  begunWith: 'token' | 'password' | 'provider';
  createdAt: string;
  seenAt: string;
  expiresAt: string;
  isCurrent: boolean;
}

/** A field of a form. Its name is that of the value, and of the field of the request unless `path` says otherwise; fields of one name share a value that is a list. */
export interface Field<V> {
  name: keyof V & string;
  label: string;
  kind?:
    | 'text'
    | 'long-text'
    | 'password'
    | 'choice'
    | 'many'
    | 'check'
    | 'number'
    | 'time'
    | 'lines'
    | 'own';
  hint?: string;
  required?: boolean;
  /** Whether it is left out of drafts and of the command that is shown, like a password. */
  isSecret?: boolean;
  /** Shown and not changed. */
  fixed?: boolean;
  /** The kind of text that password managers and browsers fill in; nothing unless said. */
  autocomplete?: 'name' | 'email' | 'username' | 'current-password' | 'new-password';
  /** The options of a `choice`, and of `many`, whose value is a list. */
  options?: readonly (readonly [value: string, text: string])[];
  /** Suggestions for a `text`. */
  suggestions?: readonly string[];
  /** The fields of the request whose refusals are shown here; below `/body/`. */
  paths?: readonly string[];
  /** Draws the control of `own`. */
  render?: (control: Control<V>) => ComponentChildren;
  /** Finds the problems of the values, besides one that is required: by paths of the request. */
  missing?: (values: V) => readonly { path: string; message: string }[];
  /** Left out while this is false. */
  when?: (values: V) => boolean;
  /** The tab that it is on, in a form that has some. */
  tab?: string;
}

/** How a control of its own kind reads and writes the form. */
export interface Control<V> {
  id: string;
  values: V;
  set(changed: Partial<V>): void;
  /** The refusals below a path of the request, such as `constraints/0`. */
  issuesAt(path: string): readonly string[];
}

/** A dialog in which something is made or edited. */
export interface Edit<V extends object> {
  title: string;
  /** The word of the button that sends it; Save unless said. */
  agree?: string;
  danger?: boolean;
  wide?: boolean;
  fields: readonly Field<V>[];
  /** Tabs of a long form, each with how much is on it. */
  tabs?: readonly (readonly [name: string, count: (values: V) => number])[];
  values: V;
  /** The sentence that will be true. */
  sentence(values: V): ComponentChildren;
  change(values: V): import('./client.js').Change;
  /** The change of the flag that is sent behind it, and taken back with it. */
  next?: import('./client.js').Change;
  /** Sends the change where more is to be done than that; `values` as they were then. */
  send?: (
    change: import('./client.js').Change,
    values: V,
    client: import('./client.js').Client,
  ) => Promise<unknown>;
  /** The message once it is done. */
  done(values: V): string;
  /** The flag that is changed: a rollback takes that back. */
  of?: { project: string; name: string };
  /** The origin of the values, and where to read it again when somebody else was faster. */
  pinned?: Pinned<V>;
  /** The environment that is changed, when there is one: production is asked about. */
  environment?(values: V): string;
  /** Says who notices, for the question about production; null where nobody does. */
  affected?: () => Promise<string | null>;
  /** Called with the response. */
  after?: (response: unknown, values: V) => void;
  /** The requests that take it back, where some can; `before`: the same with the values of before. Where something was made, the response may name it. `from`: the values that it was changed from. */
  undo?: Undo | 'before' | ((values: V, response: { readonly id: number }, from: V) => Undo | null) | null;
}

export type Undo = import('./client.js').Change | readonly import('./client.js').Change[];

/** A thing that is edited, as it was read. */
export interface Pinned<V> {
  /** The path at which it is read, with its ETag. */
  at: string;
  etag: string;
  /** The newest event that was known then. */
  since: number;
  /** The search that finds events about it in the log, and the test of which of those found are about it. */
  search: { type?: string; project?: string; feature?: string };
  isAbout?: ((event: LoggedEvent) => boolean) | undefined;
  /** The values as they are in what is read there now; null when what is edited is gone. */
  valuesIn(body: object): V | null;
}
