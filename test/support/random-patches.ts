/** JSON Patches for properties: aimed at what flags, strategies and variants have, and beside it. */
import fc from 'fast-check';
import type { PatchOperation } from '../../src/domain/json/json-patch.ts';

const values = fc.constantFrom<unknown>(
  null,
  true,
  false,
  '',
  'x',
  'release',
  7,
  [],
  {},
  { rollout: 5 },
  [{ name: 'v1', weight: 0, stickiness: 'default' }],
  { name: 'v9', weight: 10, weightType: 'variable', stickiness: 'default' },
);

function operationsOn(...pointers: readonly string[]): fc.Arbitrary<readonly PatchOperation[]> {
  const path = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pointers) },
    { weight: 1, arbitrary: fc.constantFrom('/missing', '/__proto__/x', '') },
  );
  const operation: fc.Arbitrary<PatchOperation> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ op: fc.constantFrom('add', 'replace'), path, value: values }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('test'), path, value: values }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('remove'), path }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path }) },
  ) as fc.Arbitrary<PatchOperation>;
  return fc.array(operation, { minLength: 1, maxLength: 2 });
}

export const PATCH_OPERATIONS = {
  flag: operationsOn('/description', '/type', '/stale', '/impressionData', '/variants', '/name', '/archived'),
  strategy: operationsOn(
    '/title',
    '/parameters',
    '/parameters/rollout',
    '/variants',
    '/sortOrder',
    '/segments',
    '/id',
  ),
  variants: operationsOn('/0', '/-', '/1', '/0/stickiness', '/0/name', '/0/weight', '/0/weightType'),
} as const;
