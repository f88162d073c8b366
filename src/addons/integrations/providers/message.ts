/**
 * The message about an event, such as: Ada turned new-checkout on for 50 % in production. The console has no sentences to share: its
 * lists show who and when in columns of their own.
 */
import { isJsonObject } from '../../../domain/json/json.ts';
import type { LoggedEvent } from '../../../persistence/event-log/logged-event.ts';
import { type Dialect, type Piece, written } from './dialect.ts';
import type { Surroundings } from './provider.ts';
import { SENTENCES } from './sentences.ts';

export interface Message {
  readonly text: string;
  /** The page of the console about it; null where there is none. */
  readonly href: string | null;
}

/** Bytes are at most some thirty times as many as those of NAME_LENGTH_MAX characters, whatever the event has. */
export function messageOf(event: LoggedEvent, surroundings: Surroundings, dialect: Dialect): Message {
  const pages = pagesOf(event, surroundings.publicUrl);
  const sentence = sentenceOf(event.type);
  const pieces = sentence.split(/(?<=\})|(?=\{)/).map((part): Piece => {
    const fill = PLACEHOLDERS[part];
    return fill === undefined ? part : fill(event, surroundings, pages);
  });
  return { text: written(withUser(sentence, event, pieces), dialect), href: pages.flag ?? pages.project };
}

/** A type that an add-on brought is told in its own words. */
function sentenceOf(type: string): string {
  return Object.hasOwn(SENTENCES, type)
    ? SENTENCES[type as keyof typeof SENTENCES]
    : `caused ${type.replaceAll('-', ' ')}: {name}`;
}

const BEGINS_WITH_VERB = /^[a-z]/;

const withUser = (
  sentence: string,
  { createdBy }: LoggedEvent,
  pieces: readonly Piece[],
): readonly Piece[] => (BEGINS_WITH_VERB.test(sentence) ? [{ name: createdBy }, ' ', ...pieces] : pieces);

interface Pages {
  readonly flag: string | null;
  readonly project: string | null;
}

function pagesOf({ type, project, featureName }: LoggedEvent, publicUrl: string | null): Pages {
  if (publicUrl === null || project === null || type === 'project-deleted')
    return { flag: null, project: null };
  const page = `${publicUrl}/#/projects/${inAddress(project)}`;
  const hasFlag = featureName !== null && type !== 'feature-deleted';
  return { flag: hasFlag ? `${page}/flags/${inAddress(featureName)}` : null, project: page };
}

/** Without the characters that end an address in Markdown. */
const inAddress = (name: string): string =>
  encodeURIComponent(Buffer.from(name).toString()).replaceAll(
    /[!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

type Fill = (event: LoggedEvent, surroundings: Surroundings, pages: Pages) => Piece;

const field =
  (...names: readonly string[]): Fill =>
  (event) => ({ name: textIn(event, names) ?? 'no name' });

const PLACEHOLDERS: Readonly<Record<string, Fill>> = {
  '{flag}': ({ featureName }, _, { flag }) => ({
    name: featureName ?? 'a flag',
    isSubject: true,
    href: flag,
  }),
  '{project}': ({ project }, _, pages) => ({ name: project ?? 'no project', href: pages.project }),
  '{environment}': ({ environment }) => ({ name: environment ?? 'no environment' }),
  '{name}': field('name', 'tokenName', 'username', 'email', 'description', 'id'),
  '{provider}': field('provider'),
  '{member}': field('email', 'username', 'userId'),
  '{group}': field('groupName', 'groupId'),
  '{role}': field('roleName', 'roleId'),
  '{parent}': field('feature'),
  '{owner}': (event) => ({ name: textIn(event, ['owner']) ?? 'not known' }),
  '{oldProject}': field('oldProject'),
  '{newProject}': field('newProject'),
  '{tag}': (event) => ({ name: `${textIn(event, ['type']) ?? ''}:${textIn(event, ['value']) ?? ''}` }),
  '{count}': ({ data }) => countOf(isJsonObject(data) ? data['features'] : []),
  '{audience}': (_, { share }) => (share === null ? '' : ` for ${share} %`),
  '{rollout}': ({ data, preData }) => rolloutOf(shareIn(preData), shareIn(data)),
};

function textIn(
  { data, preData }: Pick<LoggedEvent, 'data' | 'preData'>,
  names: readonly string[],
): string | null {
  for (const record of [data, preData]) {
    for (const name of names) {
      const value = isJsonObject(record) ? record[name] : null;
      if ((typeof value === 'string' && value !== '') || typeof value === 'number') return `${value}`;
    }
  }
  return null;
}

function countOf(flags: unknown): string {
  const count = Array.isArray(flags) ? flags.length : 0;
  return count === 1 ? '1 flag' : `${count} flags`;
}

function rolloutOf(before: number | null, after: number | null): string {
  if (before !== null && after !== null && before !== after) return ` from ${before} % to ${after} %`;
  return after === null || before === after ? '' : ` for ${after} %`;
}

/** The percentage of users that a recorded strategy selects; null where it has none. */
function shareIn(strategy: unknown): number | null {
  const parameters = isJsonObject(strategy) ? strategy['parameters'] : undefined;
  const share = isJsonObject(parameters) ? Number(parameters['rollout'] ?? Number.NaN) : Number.NaN;
  return share >= 0 && share <= 100 ? share : null;
}
