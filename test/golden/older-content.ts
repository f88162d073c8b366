/**
 * Checks a build whose content and rules of replay are newer than those of the golden folders. `CHANGED` makes that
 * build: two steps that each add a word to the descriptions of projects, and a rule by which tagging a flag does
 * nothing. What the folders show through it must be what the release showed, but for the words.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { copyOf, flagstaff, outputOf } from '../support/operator.ts';
import { startTestServer, type TestServer, temporaryFolder } from '../support/server.ts';
import { EVENT_HASH_DIGITS, type Expected } from './expected.ts';
import {
  documentIn,
  type EventShown,
  hashOf,
  type Json,
  type RunCommand,
  reduceTo,
  shownEvents,
} from './picture.ts';

const STEP = (word: string): string => `{
  reason: 'The test says so.',
  release: 'none',
  event: (event) =>
    event.type !== 'project-created' && event.type !== 'project-updated' && event.type !== 'project-deleted'
      ? event
      : { ...event, data: withWord(event.data, ' ${word}'), preData: withWord(event.preData, ' ${word}') },
  record: (section, record) =>
    section === 'projects' ? { ...(record as any), settings: withWord((record as any).settings, ' ${word}') } : record,
}`;

/** Changes of the source that make the build. */
export const CHANGED = [
  {
    file: 'domain/state/upgrade.ts',
    find: 'const WRITTEN_STEPS: readonly UpgradeStep[] = [',
    replace: `const withWord = (data: any, word: string): any =>
  data === null ? null : { ...data, description: data.description + word };
const WRITTEN_STEPS: readonly UpgradeStep[] = [${STEP('second')}, ${STEP('third')},`,
  },
  {
    file: 'domain/state/replay-rules.ts',
    find: 'RULES_VERSION = REPLAY_RULES.length',
    replace: 'RULES_VERSION = REPLAY_RULES.length + 1',
  },
  {
    file: 'domain/state/apply.ts',
    find: '  if (event.featureName !== null) ',
    replace:
      "  if (stamp.rules >= 2 && event.type === 'feature-tagged') return;\n  if (event.featureName !== null) ",
  },
] as const;

const WORDS = ' second third';

const run: RunCommand = async (args) => {
  const { code, out, err } = await flagstaff(args);
  assert.equal(code, 0, `flagstaff ${args.join(' ')}: ${err}`);
  return out;
};

/** The value as the release knew it: each description of a project has lost the words, and had them once. */
function withoutWords(value: Json): Json {
  const text = JSON.stringify(value).replaceAll(WORDS, '');
  assert.doesNotMatch(text, / second| third/, 'each step was taken once, in order');
  return JSON.parse(text) as Json;
}

function checkDescriptions(document: Json): void {
  const { projects } = document as { projects: readonly { description: string }[] };
  assert(projects.length > 0);
  for (const { description } of projects) assert(description.endsWith(WORDS), description);
}

const isAboutProject = ({ type }: EventShown): boolean =>
  ['project-created', 'project-updated', 'project-deleted'].includes(type);

function checkEvents(events: readonly EventShown[], { eventHashes, shapes }: Expected): number {
  for (const [index, hash] of eventHashes.entries()) {
    const event = events[index] as EventShown;
    if (isAboutProject(event)) assert(JSON.stringify(event).includes(WORDS), `event ${event.id}`);
    const shown = withoutWords(event);
    assert.equal(hashOf(shapes.events[event.type] ?? null, shown).slice(0, EVENT_HASH_DIGITS), hash);
  }
  return events.filter((event) => isAboutProject(event) && JSON.stringify(event.data).includes(WORDS)).length;
}

/** A flag right after it was tagged has its tag, although a tag given today does nothing. */
async function checkPastTags({ call }: TestServer, events: readonly EventShown[]): Promise<void> {
  const tagged = events.filter(({ type }) => type === 'feature-tagged');
  assert(tagged.length > 0, 'the release tagged flags');
  for (const { id, project, featureName, data } of tagged) {
    const { status, body } = await call('GET', `/projects/${project}/features/${featureName}?at=${id}`);
    assert.equal(status, 200, `${featureName} at event ${id}`);
    const { value } = data as { value: string };
    assert(
      body.tags.some((tag: { value: string }) => tag.value === value),
      `${featureName} at event ${id} is tagged ${value}`,
    );
  }
}

async function checkServer(
  folder: string,
  events: readonly EventShown[],
  eventsWithWords: number,
): Promise<void> {
  const server = await startTestServer({ folder });
  const hash = ({ server: { store } }: TestServer): string => stateHash(store.engine.world);
  try {
    await checkPastTags(server, events);
    const found = await server.call('POST', '/events/search', { query: WORDS, limit: 1 });
    assert.equal(
      found.body.totalEvents,
      eventsWithWords,
      'the text search finds what the upgraded events say',
    );
    const created = await server.call('POST', '/projects', { name: 'Newer', description: 'as it is' });
    assert.equal(created.status, 201);
    const flags = '/projects/default/features';
    await server.call('POST', flags, { name: 'newer-flag' });
    const tagged = await server.call('POST', '/features/newer-flag/tags', { value: 'unseen' });
    assert.equal(tagged.status, 201);
    const left = hash(server);
    await server.restart();
    assert.equal(hash(server), left, 'the state after a restart is the one that was left');
    const { body } = await server.call('GET', '/features/newer-flag/tags');
    assert.deepEqual(body.tags, [], 'new frames are replayed by the new rule');
    const found2 = await server.call('POST', '/events/search', { query: 'as it is', limit: 1 });
    assert.equal(found2.body.events[0]?.data.description, 'as it is', 'new events are not upgraded');
  } finally {
    await server.stop();
  }
}

/** Throws unless the folder shows what the release recorded of it, upgraded. */
export async function checkOlderContent(name: string): Promise<void> {
  const golden = fileURLToPath(new URL('.', import.meta.url));
  const expected = JSON.parse(readFileSync(join(golden, `${name}.json`), 'utf8')) as Expected;
  const folder = copyOf(join(golden, name));
  const { shapes, moments } = expected;
  const document = await documentIn(run, folder);
  checkDescriptions(document);
  assert.deepEqual(reduceTo(shapes.document, withoutWords(document)), expected.document);
  const { damages } = await outputOf(['verify', '--deep', '--data-dir', folder]);
  assert.deepEqual(damages, []);
  const events = await shownEvents(folder);
  const eventsWithWords = checkEvents(events, expected);
  for (const { eventId, documentHash } of moments) {
    const to = join(temporaryFolder(), 'restored');
    await outputOf(['restore', folder, '--to', to, '--at', String(eventId)]);
    const past = await documentIn(run, to);
    checkDescriptions(past);
    assert.equal(hashOf(shapes.document, withoutWords(past)), documentHash, `the state of event ${eventId}`);
  }
  await checkServer(folder, events, eventsWithWords);
  const after = await outputOf(['verify', '--deep', '--data-dir', folder]);
  assert.deepEqual(after.damages, []);
}
