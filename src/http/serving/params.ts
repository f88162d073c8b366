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
  | 'linkId'
  | 'changeId';

/** Parameters of one request, by name, decoded. A route's handler reads only those in its path; there are no others. */
export type Params = { readonly [Name in ParamName]: string };

export const NO_PARAMS = Object.freeze({}) as Params;
