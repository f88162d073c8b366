/** Rights that the operations of this add-on ask for, for the tests of rights. */

/** Operations by the permission that they ask for. */
export const OPERATIONS = {
  read: [
    ...['getProjectChangeRequestConfig', 'getProjectChangeRequests', 'getProjectChangeRequestsCount'],
    ...['getPendingChangeRequestsForFeature', 'getScheduledChangeRequests'],
    ...['getAvailableReviewers', 'getChangeRequest'],
    ...['getChangeRequestApprovers', 'searchChangeRequests'],
  ],
  'project:write': ['updateProjectChangeRequestConfig'],
  personal: [
    ...['getActionableChangeRequests', 'getPendingChangeRequestsForUser', 'addChange', 'editChange'],
    ...['discardChange', 'discardChangeRequest', 'changeChangeRequestState', 'updateChangeRequestTitle'],
    ...['updateChangeRequestApprovers', 'addChangeRequestComment'],
  ],
};

/** Permissions of custom roles, each with the operations that need it. */
export const NEEDED = {
  PROJECT_CHANGE_REQUEST_WRITE: ['updateProjectChangeRequestConfig'],
};
