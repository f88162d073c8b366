/** The headings under which the description lists operations. */
import assert from 'node:assert/strict';

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['API tokens', 'Tokens of applications and scripts.'],
  ['Archive', 'Flags that are out of use, and changes of many flags at once.'],
  ['Client', 'Flags for server-side SDKs, and what these report.'],
  ['Context', 'Fields of the context that constraints compare.'],
  ['Dependencies', 'Flags that count only while another flag is on.'],
  ['Edge', 'For Unleash Edge.'],
  ['Environments', 'Where applications run, such as development and production.'],
  ['Events', 'What has changed, when, and by whom.'],
  ['Export and import', 'Flags in a file, to take them to another environment, project or service.'],
  ['Favorites', 'What users mark to find it again.'],
  ['Features', 'Flags: to create, read, change, clone, archive and roll back.'],
  ['Frontend', 'Flags for SDKs in browsers and phones, evaluated here.'],
  ['Instance', 'Figures of the running server.'],
  ['OpenFeature', 'Flags for OpenFeature clients, by the OpenFeature Remote Evaluation Protocol.'],
  ['Personal tokens', 'Tokens of users.'],
  ['Playground', 'What flags would be for a context, and why.'],
  ['Probes', 'Whether the server runs, is ready, and what it measures.'],
  ['Projects', 'Groups of flags with members of their own.'],
  ['Segments', 'Constraints that strategies of many flags share.'],
  ['Service accounts', 'Programs with a name, a role and memberships of their own, and their tokens.'],
  ['Sessions', 'Signing in to the pages, and out of them.'],
  ['Strategies', 'Who gets a flag in an environment, and the types of strategies.'],
  ['Tags', 'Labels of flags.'],
  ['Usage', 'What applications report: which flags they evaluate, and how often.'],
  ['Users', 'People, their roles and their rights.'],
  ['Variants', 'Values that a flag has for different shares of users.'],
]);

/** Each of the names once, with what it stands for. */
export function tagsOf(names: readonly string[]): { readonly name: string; readonly description: string }[] {
  return [...new Set(names)].map((name) => {
    const description = DESCRIPTIONS.get(name);
    assert(description !== undefined, `the tag ${name} has no description in tags.ts`);
    return { name, description };
  });
}
