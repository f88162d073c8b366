/**
 * Holds what a decision would make of the state to two bounds: the documents that applications read, and the memory that the state takes
 * after a restart (docs/limits.md#memory). Only growth is refused.
 */
import { stateBytes } from '../state/records.ts';
import { type Refusal, refuse } from '../state/refusal.ts';
import { documentTooLarge, SDK_DOCUMENT_BYTES_MAX } from '../state/served-bytes.ts';
import { ALL, type World } from '../state/world.ts';

export const MEMORY_BUDGET_SETTING = 'MEMORY_BUDGET_BYTES';

export function refuseBeyondMemory(before: World, after: World, budgetBytes: number): Refusal | null {
  const bytes = stateBytes(after);
  if (bytes <= budgetBytes || bytes <= stateBytes(before)) return null;
  return refuse(
    'InsufficientStorageError',
    `With this change the state ${beyondMemory(bytes, budgetBytes)}. Delete flags that are archived, or make others smaller; switching, archiving and deleting go on.`,
  );
}

/** A message about a state of `bytes`, without its subject. */
export function beyondMemory(bytes: number, budgetBytes: number): string {
  return `would take ${mebibytes(bytes)} MiB of memory; the budget is ${mebibytes(budgetBytes)} MiB (${MEMORY_BUDGET_SETTING})`;
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

/**
 * Refuses documents that would be too large, of any client token. A token for several projects is held to no more than each of them: to
 * add them up for thousands of tokens would hold each change up. Where they are too many together, the document says so before it is
 * built (client-documents.ts).
 */
export function refuseLargeDocuments(before: World, after: World, clockMs: number): Refusal | null {
  const hasSegmentsOfBefore = before.directory.segments === after.directory.segments;
  if (hasSegmentsOfBefore && before.served === after.served) return null;
  for (const { name } of after.directory.environments) {
    if (hasSegmentsOfBefore && after.served.isAsBefore(before.served, name)) continue;
    if (documentBytes(after, name, ALL) <= SDK_DOCUMENT_BYTES_MAX) continue;
    for (const scope of scopesRead(after, name, clockMs)) {
      const bytes = documentBytes(after, name, scope);
      if (bytes <= SDK_DOCUMENT_BYTES_MAX || bytes <= documentBytes(before, name, scope)) continue;
      return refuse('PayloadTooLargeError', `With this change ${documentTooLarge(bytes, name)}`);
    }
  }
  return null;
}

const documentBytes = ({ served, directory }: World, environment: string, project: string): number =>
  served.documentBytes(directory.segments, environment, project === ALL ? ALL : [project]);

/** The projects of client tokens for the environment, each by itself; ALL where one reads them together. */
function scopesRead({ directory }: World, environment: string, clockMs: number): ReadonlySet<string> {
  const scopes = new Set<string>();
  for (const token of directory.apiTokens.values()) {
    if (token.type !== 'client' || token.environment !== environment) continue;
    if (token.expiresAt !== null && Date.parse(token.expiresAt) <= clockMs) continue;
    for (const project of token.projects) scopes.add(project);
  }
  return scopes;
}
