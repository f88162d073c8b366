/** Rights that the operations of this add-on ask for, for the tests of rights. */

/** Operations by the permission that they ask for. */
export const OPERATIONS = {
  read: ['getAdvancedPlayground', 'getChangeRequestPlayground', 'explainFeature'],
};
