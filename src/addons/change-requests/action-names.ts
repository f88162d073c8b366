/** The changes that a request may have, by the names that clients give them. */
export const ACTION_NAMES = [
  'updateEnabled',
  'addStrategy',
  'updateStrategy',
  'deleteStrategy',
  'patchVariant',
  'reorderStrategy',
  'archiveFeature',
  'addDependency',
  'deleteDependency',
  'updateSegment',
  'deleteSegment',
] as const;

export type ActionName = (typeof ACTION_NAMES)[number];
