/**
 * Fills a new, empty Unleash and records what it answers to a migration: `node --import tsx test/addons/migration/record-unleash.ts URL`,
 * with an admin token in UNLEASH_TOKEN. migrate.test.ts plays the answers.
 */
import { writeFileSync } from 'node:fs';
import { readServer } from '../../../src/addons/migration/read-server.ts';
import { AdminClient } from '../../../src/host/admin-client.ts';
import { RECORDED_FILE, type RecordedUnleash } from '../../support/unleash/recorded-unleash.ts';
import { fillUnleash } from './fill-unleash.ts';

const FLAGS = 36;

class RecordingClient extends AdminClient {
  readonly responses: Record<string, unknown> = {};

  override async get(path: string): Promise<unknown> {
    const response = await super.get(path);
    this.responses[path] = response;
    return response;
  }
}

const [url = 'http://localhost:4242'] = process.argv.slice(2);
const options = { url, token: process.env['UNLEASH_TOKEN'] ?? '' };
const client = new RecordingClient(options);
await fillUnleash(client, FLAGS);
await readServer(client);
const { secret } = (await client.call('POST', '/api-tokens', {
  tokenName: 'recording',
  type: 'client',
  environment: 'production',
  projects: ['*'],
})) as { secret: string };
const features = await fetch(`${url}/api/client/features`, { headers: { authorization: secret } });
const recorded: RecordedUnleash = {
  version: ((await client.call('GET', '/ui-config')) as { version: string }).version,
  admin: client.responses,
  exported: await client.call('POST', '/features-batch/export', {
    environment: 'production',
    features: Array.from({ length: FLAGS }, (_, at) => `flag-${String(at).padStart(4, '0')}`),
  }),
  client: await features.json(),
};
writeFileSync(RECORDED_FILE, `${JSON.stringify(recorded)}\n`);
