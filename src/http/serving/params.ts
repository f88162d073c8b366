/** The parameters in the paths of the routes. */

/** The names that handlers read. Rows of kinds may have others. */
export type ParamName =
  | 'projectId'
  | 'featureName'
  | 'environment'
  | 'strategyId'
  | 'userId'
  | 'roleId'
  | 'id'
  | 'child'
  | 'parent'
  | 'type'
  | 'value'
  | 'name'
  | 'token'
  | 'tokenId'
  | 'contextField'
  | 'strategyName'
  | 'appName'
  | 'ticket'
  | 'linkId';

/** Parameters of one request, by name, decoded. A route's handler reads only those in its path; there are no others. */
export type Params = { readonly [Name in ParamName]: string };

/** Looks up a value when it is read: an object with the names of each route takes longer to make. */
class PathParams {
  readonly names: readonly ParamName[];
  readonly values: readonly string[];

  constructor(names: readonly ParamName[], values: readonly string[]) {
    this.names = names;
    this.values = values;
  }

  static canRead(name: ParamName): void {
    if (name in PathParams.prototype) return;
    Object.defineProperty(PathParams.prototype, name, {
      get(this: PathParams) {
        return this.values[this.names.indexOf(name)];
      },
    });
  }
}

/** The names in a pattern such as `/projects/:projectId`, in its order. */
export function paramNamesOf(pattern: string): readonly ParamName[] {
  const names = [...pattern.matchAll(/(?<=\/:)[^/]+/g)].map(([name]) => name as ParamName);
  for (const name of names) PathParams.canRead(name);
  return names;
}

/** `values` in the order of `names`. */
export function paramsOf(names: readonly ParamName[], values: readonly string[]): Params {
  return new PathParams(names, values) as unknown as Params;
}
