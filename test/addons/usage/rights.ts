/** Rights that the operations of this add-on ask for, for the tests of rights. */

/** Operations by the permission that they ask for. */
export const OPERATIONS = {
  read: [
    'getApplication',
    'getApplicationEnvironmentInstances',
    'getApplicationOverview',
    'getApplications',
    'getFeatureUsageSummary',
    'getOutdatedProjectSdks',
    'getProjectApplications',
    'getRawFeatureMetrics',
    'getUsage',
  ],
  'targeting:write': ['createApplication', 'deleteApplication'],
};

/** Permissions of custom roles, each with the operations that need it. */
export const NEEDED = { UPDATE_APPLICATION: ['createApplication', 'deleteApplication'] };
