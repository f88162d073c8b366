/** TypeScript types generated from the description of the interface. */
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { describeInterface } from '../../src/http/description/document.ts';
import { SURFACES } from './surfaces.ts';

/** The text of a file of declarations, with a type for each schema under its name. `select` may leave out parts of the description. */
export async function describedTypes(select = (document: OpenAPI3): OpenAPI3 => document): Promise<string> {
  const document = describeInterface({ surfaces: SURFACES, version: '0', basePath: '', open: false });
  // A copy: the generator writes into what it is given.
  const copy = JSON.parse(JSON.stringify(document)) as OpenAPI3;
  return astToString(await openapiTS(select(copy), { rootTypes: true, rootTypesNoSchemaPrefix: true }));
}
