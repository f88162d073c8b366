/** Rights that the operations of this add-on ask for, for the tests of rights. */

/** Operations by the permission that they ask for. */
export const OPERATIONS = {
  read: ['getAddons', 'getAddon'],
  admin: [
    ...['createAddon', 'updateAddon', 'deleteAddon', 'getIntegrationEvents'],
    ...['getIntegrationDelivery', 'retryIntegration', 'moveIntegration', 'testIntegration'],
  ],
};

/** Permissions of custom roles, each with the operations that need it. */
export const NEEDED = {
  CREATE_ADDON: ['createAddon'],
  UPDATE_ADDON: [
    ...['updateAddon', 'getIntegrationDelivery', 'retryIntegration', 'moveIntegration', 'testIntegration'],
  ],
  DELETE_ADDON: ['deleteAddon'],
};
