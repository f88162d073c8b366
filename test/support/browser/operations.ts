/** The operations of the administrative interface, and those that the console does without. */
import type { TestServer } from '../server.ts';

const IN_LIST = 'the list that the console reads says the same of all of them';
const IN_FLAG = 'the flag itself, which the console reads, says it';
const CHECKED_WHEN_SENT =
  'the request of the form is checked in the same way, and refused at the field at fault';
const SAME_CHANGE = 'another operation, which the console sends, makes the same change';
const BY_ENVIRONMENT =
  'environments share the variants of a flag in the console; strategies have those of their own';
const OF_THE_SERVER = 'the environment of the server decides it; the console shows it';
const FOR_PROGRAMS = 'programs read it, in a form that is not for people';

/** Operations that the console does without, and why. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  ...reasoned(IN_LIST, [
    'getUser',
    'getStrategy',
    'getTagType',
    'getAddon',
    'getGroup',
    'getApiTokensByName',
    'getArchivedFeatures',
    'listFeatures',
    'getProjectChangeRequests',
    'getProjectChangeRequestsCount',
    'getActionableChangeRequests',
    'getPendingChangeRequestsForUser',
    'getScheduledChangeRequests',
    'getContextFieldsForProject',
  ]),
  ...reasoned(IN_FLAG, [
    'getFeatureEnvironment',
    'getFeatureStrategies',
    'getFeatureStrategy',
    'getFeatureVariants',
    'listTags',
  ]),
  ...reasoned(CHECKED_WHEN_SENT, ['validateFeature', 'validateConstraint', 'validateArchiveFeatures']),
  ...reasoned(SAME_CHANGE, [
    'archiveFeature',
    'deleteFeature',
    'patchFeature',
    'patchFeatureStrategy',
    'patchFeatureVariants',
    'deleteFeatureDependencies',
    'setProjectAccess',
    'getEvents',
    'getEventsForToggle',
  ]),
  ...reasoned(BY_ENVIRONMENT, ['overwriteEnvironmentFeatureVariants', 'patchEnvironmentsFeatureVariants']),
  ...reasoned('what the console begins with, which it asks for in one request, has it', [
    'getProfile',
    'getMe',
  ]),
  ...reasoned('the page of a change request shows what it changes', ['getChangeRequestPlayground']),
  ...reasoned(OF_THE_SERVER, ['setOidcSettings', 'setSamlSettings']),
  ...reasoned(FOR_PROGRAMS, ['streamWholeEvents', 'streamEventLines']),
};

function reasoned(reason: string, operations: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(operations.map((operation) => [operation, reason]));
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
}

interface Operation {
  readonly id: string;
  readonly method: string;
  /** The path with its parameters by name, in the form of the description. */
  readonly described: string;
  readonly path: RegExp;
}

/** The operations of the administrative interface, and which of them a request is. */
export class Operations {
  readonly #all: readonly Operation[];

  constructor({ paths }: Described) {
    const parameters = (path: string): number => path.match(/\{/g)?.length ?? 0;
    this.#all = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/admin/'))
      // A path that is written out goes before one with a parameter in that place.
      .sort(([one], [other]) => parameters(one) - parameters(other))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId = '' }]) => ({
          id: operationId,
          method: method.toUpperCase(),
          described: path,
          path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        })),
      )
      .filter(({ id }) => id !== '');
  }

  get ids(): readonly string[] {
    return this.#all.map(({ id }) => id);
  }

  get all(): readonly Operation[] {
    return this.#all;
  }

  of(method: string, url: string): string | null {
    const { pathname } = new URL(url);
    return this.#all.find((one) => one.method === method && one.path.test(pathname))?.id ?? null;
  }
}

export async function operationsOf({ origin }: TestServer): Promise<Operations> {
  const described = await fetch(`${origin}/docs/openapi.json`);
  return new Operations((await described.json()) as Described);
}
