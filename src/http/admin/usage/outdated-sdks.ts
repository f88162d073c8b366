/**
 * Which SDKs are outdated: those that are older than the version from which Unleash calls them current. SDKs that are not in the table,
 * and versions that are no semantic versions, are not outdated.
 */
import { compareVersions, parseSemanticVersion } from '../../../domain/evaluation/semantic-version.ts';

/** The first version that is not outdated. Newer SDKs for Node name themselves in another way, and are all current. */
const CURRENT_SINCE: ReadonlyMap<string, string> = new Map([
  ['unleash-client-node', '5.3.2'],
  ['unleash-client-java', '9.0.0'],
  ['unleash-client-go', '4.1.0'],
  ['unleash-client-python', '5.9.2'],
  ['unleash-client-ruby', '5.0.0'],
  ['unleash-client-dotnet', '4.1.3'],
  ['unleash-client-php', '1.13.0'],
]);

/** `sdk`: a name and a version, such as `unleash-client-node:6.12.1`. */
export function isOutdatedSdk(sdk: string): boolean {
  const colon = sdk.indexOf(':');
  const since = parseSemanticVersion(CURRENT_SINCE.get(sdk.slice(0, colon)) ?? '');
  const version = parseSemanticVersion(sdk.slice(colon + 1));
  return since !== null && version !== null && compareVersions(version, since) < 0;
}
