/**
 * Examples, one for each component, so that every use of a component shows the same. They tell one story: the flag
 * `checkout-redesign` of the project `default`. The tests hold each one against its schema.
 */

import { CLIENT_EXAMPLES } from './client-examples.ts';
import type { JsonSchema } from './component-schemas.ts';
import { DIRECTORY_EXAMPLES } from './directory-examples.ts';
import { FLAG_EXAMPLES } from './flag-examples.ts';
import { FRONTEND_EXAMPLES } from './frontend-examples.ts';
import { PLAYGROUND_EXAMPLES } from './playground-examples.ts';
import { REPORT_EXAMPLES } from './report-examples.ts';
import { TARGETING_EXAMPLES } from './targeting-examples.ts';
import { TRANSFER_EXAMPLES } from './transfer-examples.ts';
import { USAGE_EXAMPLES } from './usage-examples.ts';

/** By the name of the component. */
export const COMPONENT_EXAMPLES: Readonly<Record<string, unknown>> = {
  ...FLAG_EXAMPLES,
  ...DIRECTORY_EXAMPLES,
  ...CLIENT_EXAMPLES,
  ...FRONTEND_EXAMPLES,
  ...TARGETING_EXAMPLES,
  ...PLAYGROUND_EXAMPLES,
  ...USAGE_EXAMPLES,
  ...REPORT_EXAMPLES,
  ...TRANSFER_EXAMPLES,
};

const ADD_VARIANT = [
  { op: 'add', path: '/0', value: { name: 'one-page', weight: 1000, weightType: 'variable' } },
];

/** Where a component's example would not fit the operation, or there is no component. By operation id. */
const OPERATION_EXAMPLES: Readonly<Record<string, { readonly body?: unknown; readonly response?: unknown }>> =
  {
    checkDependenciesExist: { response: true },
    listParentVariantOptions: { response: ['one-page', 'classic'] },
    listParentOptions: { response: ['new-payment-provider'] },
    patchEnvironmentsFeatureVariants: { body: ADD_VARIANT },
    patchFeatureStrategy: { body: [{ op: 'replace', path: '/parameters/rollout', value: 50 }] },
    patchFeatureVariants: { body: ADD_VARIANT },
  };

export function exampleOf(operationId: string, side: 'body' | 'response', schema: JsonSchema): unknown {
  return OPERATION_EXAMPLES[operationId]?.[side] ?? ofSchema(schema);
}

function ofSchema(schema: JsonSchema): unknown {
  const { $ref, items } = schema as { readonly $ref?: string; readonly items?: JsonSchema };
  if ($ref !== undefined) return COMPONENT_EXAMPLES[$ref.slice($ref.lastIndexOf('/') + 1)];
  const item = items === undefined ? undefined : ofSchema(items);
  return item === undefined ? undefined : [item];
}
