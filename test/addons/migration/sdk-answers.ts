/** The answers that applications get from a server, by a real SDK. */
import { once } from 'node:events';
import { type Context, InMemStorageProvider, Unleash } from 'unleash-client';
import { seededRandom } from '../../support/seeded-random.ts';

/** The body of `GET /api/client/features`. */
export interface ClientFeatures {
  readonly features: readonly { readonly name: string }[];
  readonly segments?: readonly unknown[];
}

export type SdkContext = Context;

/** Contexts on both sides of every rule that fill-unleash.ts writes. */
export function contexts(count: number, seed: number): readonly SdkContext[] {
  const random = seededRandom(seed);
  const one = <T>(items: readonly T[]): T => items[random.below(items.length)] as T;
  return Array.from({ length: count }, () => ({
    userId: String(random.below(50)),
    sessionId: String(random.below(1_000_000)),
    appName: one(['Flock', 'deck', 'other']),
    properties: {
      country: one(['DE', 'US', 'IT']),
      age: one(['6', '7', '8']),
      appVersion: one(['1.2.3', '1.10.0']),
    },
  }));
}

/** For each context, the name of each flag that is on, with the variant's; of an SDK that is given the flags instead of asking for them. */
export async function sdkAnswers(
  { features, segments }: ClientFeatures,
  asked: readonly SdkContext[],
): Promise<readonly string[][]> {
  const client = new Unleash({
    appName: 'migration',
    url: 'http://127.0.0.1:9/',
    disableMetrics: true,
    disableAutoStart: true,
    skipInstanceCountWarning: true,
    storageProvider: new InMemStorageProvider(),
    refreshInterval: 0,
    bootstrap: { data: features as never, segments: (segments ?? []) as never },
  });
  // It cannot reach the server that it does not need.
  client.on('error', () => undefined);
  client.on('warn', () => undefined);
  const ready = once(client, 'ready');
  await client.start();
  await ready;
  const names = features.map(({ name }) => name).toSorted();
  const answers = answersOf(client, names, asked);
  client.destroy();
  return answers;
}

/** The same of an SDK that fetches the flags itself, as an application does. */
export async function fetchedAnswers(
  { url, token }: { readonly url: string; readonly token: string },
  asked: readonly SdkContext[],
): Promise<readonly string[][]> {
  const client = new Unleash({
    ...{ url, appName: 'migration', customHeaders: { Authorization: token } },
    ...{ disableMetrics: true, skipInstanceCountWarning: true },
    storageProvider: new InMemStorageProvider(),
  });
  await once(client, 'synchronized');
  const names = client.getFeatureToggleDefinitions().map(({ name }) => name);
  const answers = answersOf(client, names.toSorted(), asked);
  client.destroy();
  return answers;
}

function answersOf(
  client: Unleash,
  names: readonly string[],
  asked: readonly SdkContext[],
): readonly string[][] {
  return asked.map((context) =>
    names
      .filter((name) => client.isEnabled(name, context))
      .map((name) => {
        const { name: variant, payload } = client.getVariant(name, context);
        return `${name}: ${variant} ${payload?.value ?? ''}`;
      }),
  );
}
