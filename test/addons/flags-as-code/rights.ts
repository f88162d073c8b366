/** Rights that the operations of this add-on ask for, for the tests of rights. */

/** Operations by the permission that they ask for. An apply asks for more in the turn of its command. */
export const OPERATIONS = {
  read: ['getFlagsAsCode', 'applyFlagsAsCode'],
};
