/**
 * The document that the `stopped` folder is imported from: the seed state of a new folder, and what only an import
 * brings, such as creation and archive times in the past.
 */
import { STATE_FORMAT_VERSION } from '../../src/domain/desired/state-document.ts';
import { digestOf } from '../../src/http/serving/access.ts';

const LONG_AGO = '2019-03-04T05:06:07.000Z';
const LATER = '2021-01-02T03:04:05.678Z';

const environment = (name: string, sortOrder: number) => ({
  name,
  type: name,
  enabled: true,
  protected: false,
  sortOrder,
});

const strategy = (id: string, sortOrder: number, fields: object = {}) => ({
  id: `11111111-2222-4333-8444-${id.padStart(12, '0')}`,
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  constraints: [],
  parameters: {},
  variants: [],
  segments: [],
  sortOrder,
  ...fields,
});

const flag = (name: string, fields: object = {}) => ({
  name,
  description: null,
  type: 'release',
  stale: false,
  impressionData: false,
  createdAt: LONG_AGO,
  archivedAt: null,
  environments: [],
  tags: [],
  dependencies: [],
  ...fields,
});

const IMPORTED_FLAGS = [
  flag('imported-parent', {
    description: 'Älteste Flagge 旗',
    type: 'permission',
    impressionData: true,
    environments: [
      {
        name: 'development',
        enabled: true,
        strategies: [
          strategy('1', 0, { parameters: { rollout: 12.5, groupId: 'grüße' }, title: 'Zwölf Prozent' }),
          strategy('2', 1.5, { disabled: true, segments: [3, 1] }),
        ],
        variants: [
          { name: 'blau', weight: 1000, weightType: 'variable', stickiness: 'default', overrides: [] },
        ],
      },
    ],
    tags: [{ type: 'team', value: 'größe' }],
  }),
  flag('imported-child', {
    stale: true,
    dependencies: [{ feature: 'imported-parent', enabled: true, variants: ['blau'] }],
  }),
  flag('imported-archived', { archivedAt: LATER }),
  flag('imported-complete', {
    createdBy: 7,
    completed: { status: 'kept', statusValue: 'blau', at: LATER },
    links: [{ id: 'ticket', url: 'https://tracker.example/9', title: 'Größe' }],
  }),
];

const DEFAULT_STRATEGY = { name: 'flexibleRollout', parameters: { rollout: '50' }, segments: [3] };

const segment = (id: number, name: string) => ({
  id,
  name,
  description: null,
  project: null,
  constraints: [{ contextName: 'land', operator: 'IN', values: ['Österreich'] }],
  createdBy: 'Zoë',
  createdAt: LONG_AGO,
});

const project = (id: string, flags: readonly object[]) => ({
  id,
  name: id === 'default' ? 'Default' : 'Imported – 輸入',
  description: '',
  mode: id === 'default' ? 'open' : 'protected',
  defaultStickiness: 'default',
  createdAt: LONG_AGO,
  updatedAt: LATER,
  environments: ['development', 'production'],
  members: [{ userId: 1, role: 'Owner' }],
  groups: id === 'default' ? [] : [{ groupId: 4, role: 'Freigeber' }],
  defaultStrategies: id === 'default' ? [] : [{ ...DEFAULT_STRATEGY, environment: 'production' }],
  flags,
});

export const IMPORT_DOCUMENT = {
  formatVersion: STATE_FORMAT_VERSION,
  environments: [environment('development', 1), environment('production', 2)],
  users: [
    { id: 1, name: null, username: 'admin', email: null, rootRole: 'Admin', createdAt: LONG_AGO },
    { id: 7, name: 'Zoë', username: null, email: 'zoe@example.com', rootRole: 'Viewer', createdAt: LATER },
  ],
  roles: [
    {
      id: 9,
      name: 'Freigeber',
      type: 'custom',
      description: 'Größe',
      permissions: [{ name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'production' }],
    },
  ],
  groups: [
    {
      id: 4,
      name: 'Eingeführt 組',
      description: null,
      rootRole: null,
      mappingsSSO: ['team'],
      users: [7],
      createdAt: LATER,
      createdBy: 'Zoë',
    },
  ],
  segments: [segment(1, 'Eingeführt'), segment(3, '輸入')],
  contextFields: [
    {
      name: 'land-of-birth',
      description: '',
      stickiness: true,
      sortOrder: 7,
      legalValues: [{ value: '日本', description: 'Japan' }],
      createdAt: LONG_AGO,
    },
  ],
  strategyTypes: [{ name: 'byMood', title: null, description: '', parameters: [], deprecated: true }],
  tagTypes: [{ name: 'owner', description: 'Wer', icon: null, color: '#123456' }],
  tags: [{ type: 'owner', value: 'größe' }],
  favorites: [{ userId: 7, projects: ['imported'], flags: ['imported-parent'] }],
  settings: [{ id: 'frontend', frontendApiOrigins: ['https://shop.example'] }],
  projects: [project('default', []), project('imported', IMPORTED_FLAGS)],
  credentials: {
    apiTokens: [
      {
        digest: digestOf('default:development.imported'),
        tokenName: 'imported',
        type: 'client',
        projects: ['default', 'imported'],
        environment: 'development',
        createdAt: LATER,
        expiresAt: null,
      },
    ],
    personalTokens: [
      {
        id: 5,
        userId: 7,
        digest: digestOf('user:imported'),
        description: 'für Skripte',
        createdAt: LATER,
        expiresAt: '2999-01-01T00:00:00.000Z',
      },
    ],
  },
};
