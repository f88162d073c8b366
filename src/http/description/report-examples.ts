/** Examples of what sums up projects, users and the service. By the name of the component. */
import { AT } from './flag-examples.ts';

const COUNTS = { activeCount: 8, potentiallyStaleCount: 1, staleCount: 1 };
const IMAGE = 'https://gravatar.com/avatar/00?s=42&d=retro&r=g';
const OWNER = { ownerType: 'user', name: 'Ada', email: 'ada@example.com', imageUrl: IMAGE };
const LEAD_TIME = {
  projectAverage: 3.5,
  features: [{ name: 'checkout-redesign', timeToProduction: 3.5 }],
};
const STATS = {
  avgTimeToProdCurrentWindow: 3.5,
  createdCurrentWindow: 2,
  createdPastWindow: 1,
  archivedCurrentWindow: 1,
  archivedPastWindow: 0,
  projectActivityCurrentWindow: 40,
  projectActivityPastWindow: 25,
  projectMembersAddedCurrentWindow: 1,
};

export const REPORT_EXAMPLES: Readonly<Record<string, unknown>> = {
  LeadTime: LEAD_TIME,
  ProjectStats: STATS,
  ProjectInsights: {
    stats: STATS,
    health: { rating: 80, ...COUNTS },
    leadTime: LEAD_TIME,
    featureTypeCounts: [{ type: 'release', count: 10 }],
    members: { currentMembers: 3, change: 1 },
  },
  ProjectStatus: {
    activityCountByDate: [{ date: '2024-05-01', count: 7 }],
    health: { current: 80 },
    resources: { apiTokens: 1, members: 3, segments: 0 },
    staleFlags: { total: 2 },
    lifecycleSummary: {
      initial: { averageDays: 1.5, currentFlags: 2 },
      preLive: { averageDays: 4, currentFlags: 3 },
      live: { averageDays: 20.3, currentFlags: 5 },
      completed: { averageDays: null, currentFlags: 0 },
      archived: { currentFlags: 4, last30Days: 1 },
    },
  },
  StageCounts: { initial: 2, preLive: 3, live: 5, completed: 0, archived: 4 },
  HealthReport: {
    version: 1,
    name: 'Default',
    description: '',
    members: 3,
    defaultStickiness: 'default',
    createdAt: AT,
    updatedAt: AT,
    environments: [{ environment: 'development' }],
    mode: 'open',
    health: 100,
    ...{ activeCount: 0, potentiallyStaleCount: 0, staleCount: 0 },
    features: [],
  },
  PersonalDashboard: {
    projects: [{ id: 'default', name: 'Default', health: 80, memberCount: 3, featureCount: 10 }],
    flags: [{ name: 'checkout-redesign', project: 'default', type: 'release' }],
    admins: [{ id: 1, username: 'admin', imageUrl: IMAGE }],
    projectOwners: [OWNER],
  },
  PersonalProject: {
    insights: {
      avgHealthCurrentWindow: null,
      avgHealthPastWindow: null,
      totalFlags: 10,
      activeFlags: 8,
      staleFlags: 1,
      potentiallyStaleFlags: 1,
      health: 80,
    },
    onboardingStatus: { status: 'onboarded' },
    latestEvents: [
      {
        id: 42,
        summary: 'ada: feature-environment-enabled checkout-redesign in development',
        createdBy: 'ada',
        createdByImageUrl: IMAGE,
        createdAt: AT,
      },
    ],
    owners: [OWNER],
    roles: [{ id: 4, name: 'Owner', type: 'project' }],
  },
  EventCreator: { id: 1, name: 'ada' },
  TelemetrySettings: { versionInfoCollectionEnabled: false, featureInfoCollectionEnabled: false },
  CreateFeedback: { feedbackId: 'pnps', neverShow: true },
  UpdateFeedback: { neverShow: true },
  Feedback: { userId: 1, feedbackId: 'pnps', neverShow: true, given: null },
  UiError: { errorMessage: 'x is undefined' },
  UiConfigUpdate: { frontendSettings: { frontendApiOrigins: ['https://shop.example'] } },
  Splash: { userId: 1, splashId: 'new-menu', seen: true },
  InstanceStatistics: {
    instanceId: '3f9a1c07',
    timestamp: AT,
    versionOSS: '0.1.0',
    users: 3,
    activeUsers: { last7: 1, last30: 2, last60: 2, last90: 3 },
    featureToggles: 12,
    projects: 1,
    contextFields: 3,
    roles: 5,
    groups: 0,
    environments: 2,
    segments: 1,
    strategies: 2,
    SAMLenabled: false,
    OIDCenabled: false,
    clientApps: [
      { range: 'allTime', count: 3 },
      { range: '30d', count: 2 },
      { range: '7d', count: 1 },
    ],
    featureExports: 0,
    featureImports: 0,
    apiTokens: { admin: 1, client: 2, frontend: 1 },
  },
};
