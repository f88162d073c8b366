/** Rights that the operations of this add-on ask for, for the tests of rights. */

/** Operations by the permission that they ask for. */
export const OPERATIONS = {
  admin: [
    ...['getOidcSettings', 'setOidcSettings', 'getSamlSettings', 'setSamlSettings'],
    ...['changeUserPassword', 'resetUserPassword'],
    ...['getAllPublicSignupTokens', 'createPublicSignupToken', 'updatePublicSignupToken'],
  ],
  personal: ['changeMyPassword'],
};
