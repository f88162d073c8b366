/**
 * Responses against the schemas that Unleash publishes of the same paths, so that clients generated from them can read
 * what this server sends.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addStrategy, addUser, makeFlag } from '../../support/interface.ts';
import { describeInterface, type TestServer } from '../../support/server.ts';
import { conformsToPublished } from '../../support/unleash/published-schemas.ts';

const DEFAULT = '/projects/default';
const FLAG = `${DEFAULT}/features/flag`;

/** Of paths that can be read as they are, once there is something to read. */
const READS: readonly (readonly [path: string, schema: string])[] = [
  ['/ui-config', 'uiConfigSchema'],
  [`${DEFAULT}/overview`, 'projectOverviewSchema'],
  [DEFAULT, 'deprecatedProjectOverviewSchema'],
  [`${DEFAULT}/dependencies`, 'dependenciesExistSchema'],
  [`${FLAG}/parent-variants`, 'parentVariantOptionsSchema'],
  [`${FLAG}/parents`, 'parentFeatureOptionsSchema'],
  ['/feature-types', 'featureTypesSchema'],
  ['/segments', 'segmentsSchema'],
  ['/context', 'contextFieldsSchema'],
  ['/context/userId', 'contextFieldSchema'],
  ['/strategies', 'strategiesSchema'],
  ['/strategies/default', 'strategySchema'],
  ['/environments', 'environmentsSchema'],
  ['/environments/development', 'environmentSchema'],
  ['/environments/project/default', 'environmentsProjectSchema'],
  ['/projects', 'projectsSchema'],
  ['/archive/features', 'archivedFeaturesSchema'],
  ['/events', 'eventsSchema'],
  ['/events/flag', 'featureEventsSchema'],
  ['/search/events', 'eventsSearchResponseSchema'],
  ['/search/features', 'searchFeaturesSchema'],
  [`${DEFAULT}/flag-creators`, 'projectFlagCreatorsSchema'],
  ['/features/flag/tags', 'tagsSchema'],
  ['/tags', 'tagsSchema'],
  ['/tags/simple', 'tagsSchema'],
  ['/tag-types', 'tagTypesSchema'],
  ['/tag-types/simple', 'tagTypeSchema'],
  [`${FLAG}/environments/development`, 'featureEnvironmentSchema'],
  ['/user-admin', 'usersSchema'],
  ['/user-admin/1', 'userSchema'],
  ['/user-admin/search?q=admin', 'usersSearchSchema'],
  ['/api-tokens', 'apiTokensSchema'],
  ['/user', 'meSchema'],
  ['/metrics/applications', 'applicationsSchema'],
  ['/client-metrics/features/flag', 'featureUsageSchema'],
  ['/client-metrics/features/flag/raw', 'featureMetricsSchema'],
];

/** What `body` makes the path answer. */
const WRITES: readonly (readonly [path: string, body: unknown, schema: string])[] = [
  ['/tag-types/validate', { name: 'team' }, 'validateTagTypeSchema'],
  ['/tag-types', { name: 'team', description: 'Who owns it' }, 'tagTypeSchema'],
  [`${DEFAULT}/archive/validate`, { features: ['flag'] }, 'validateArchiveFeaturesSchema'],
];

/** One of everything that lists show. */
async function fill(server: TestServer): Promise<string> {
  const { call } = server;
  await makeFlag(call, 'flag');
  await makeFlag(call, 'parent');
  const constraint = { contextName: 'userId', operator: 'IN', values: ['1'] };
  await call('POST', '/segments', { name: 'some', constraints: [constraint] });
  await addStrategy(call, 'flag', { constraints: [constraint], segments: [1] });
  await call('POST', `${FLAG}/environments/development/on`);
  await call('POST', `${FLAG}/dependencies`, { feature: 'parent' });
  await call('POST', '/features/flag/tags', { type: 'simple', value: 'red' });
  await call('PUT', `${DEFAULT}/features/parent/variants`, [
    { name: 'a', weight: 1000, stickiness: 'default' },
  ]);
  await makeFlag(call, 'gone');
  await call('DELETE', `${DEFAULT}/features/gone`);
  return (await addUser(server, 1, { name: 'Ada', email: 'ada@example.com' })).token;
}

describeInterface('what Unleash publishes of its responses', (server) => {
  it('holds for those of the same paths here', async () => {
    const token = await fill(server());
    const { call } = server();
    for (const [path, schema] of READS) {
      const { status, body } = await call('GET', path, undefined, { token });
      assert.equal(status, 200, `${path}: ${body?.message}`);
      conformsToPublished(schema, body, path);
    }
    for (const [path, sent, schema] of WRITES) {
      const { status, body } = await call('POST', path, sent, { token });
      assert(status < 300, `${path}: ${body?.message}`);
      conformsToPublished(schema, body, path);
    }
  });
});
