/** The parameters in the paths of the routes. */
import assert from 'node:assert/strict';

export const PARAM_NAMES = [
  'projectId',
  'featureName',
  'environment',
  'strategyId',
  'userId',
  'roleId',
  'id',
  'child',
  'parent',
  'type',
  'value',
  'name',
  'token',
  'tokenId',
  'contextField',
  'legalValue',
  'strategyName',
  'tagType',
  'appName',
  'ticket',
  'linkId',
] as const;

export type ParamName = (typeof PARAM_NAMES)[number];

/** Parameters of one request, by name, decoded. A route's handler reads only those in its path; there are no others. */
export type Params = { readonly [Name in ParamName]: string };

/** The names in a pattern such as `/projects/:projectId`, in its order. */
export function paramNamesOf(pattern: string): readonly ParamName[] {
  return pattern
    .split('/')
    .filter((segment) => segment.startsWith(':'))
    .map((segment) => {
      const name = segment.slice(1) as ParamName;
      assert(PARAM_NAMES.includes(name), `the parameter ${name} of ${pattern} is not among PARAM_NAMES`);
      return name;
    });
}

/** Looks up a value when it is read: an object with the names of each route takes longer to make. */
class PathParams {
  readonly #names: readonly ParamName[];
  readonly #values: readonly string[];

  constructor(names: readonly ParamName[], values: readonly string[]) {
    this.#names = names;
    this.#values = values;
  }

  of(name: ParamName): string | undefined {
    for (let at = 0; at < this.#names.length; at += 1) if (this.#names[at] === name) return this.#values[at];
    return undefined;
  }
}

for (const name of PARAM_NAMES) {
  Object.defineProperty(PathParams.prototype, name, {
    get(this: PathParams) {
      return this.of(name);
    },
  });
}

/** `values` in the order of `names`. */
export function paramsOf(names: readonly ParamName[], values: readonly string[]): Params {
  return new PathParams(names, values) as unknown as Params;
}
