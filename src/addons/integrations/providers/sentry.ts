/** Sentry's change tracking, as its generic provider takes it: changes of flags beside the errors that they may have caused. */
import { createHmac } from 'node:crypto';
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { jsonRequest } from './parameters.ts';
import type { Provider } from './provider.ts';

const ACTIONS: Readonly<Record<string, 'created' | 'deleted'>> = {
  'feature-created': 'created',
  'feature-archived': 'deleted',
  'feature-deleted': 'deleted',
};

/** Sentry refuses longer names. */
const NAME_LENGTH_MAX = 100;

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export const SENTRY: Provider = {
  name: 'sentry',
  displayName: 'Sentry',
  description: 'Tells the change tracking of Sentry when a flag changes.',
  documentationUrl: 'https://docs.sentry.io/organization/integrations/feature-flag/generic/',
  howTo:
    'In Sentry, add the provider Generic to the change tracking of feature flags. Enter its webhook URL here, and the same secret in both places. Choose the environment production to leave out changes elsewhere.',
  parameters: [
    {
      name: 'url',
      displayName: 'Sentry webhook URL',
      placeholder: 'https://sentry.io/api/0/organizations/ORGANIZATION/flags/hooks/provider/generic/',
      description: 'The address that Sentry shows for the provider Generic.',
      type: 'url',
      required: true,
      sensitive: false,
    },
    {
      name: 'signingSecret',
      displayName: 'Signing secret',
      description: 'The secret that Sentry has for the provider Generic.',
      type: 'text',
      required: true,
      sensitive: true,
    },
  ],
  events: EVENT_TYPES.filter((type) => type.startsWith('feature-')),
  requests(event, parameters) {
    const { id, type, createdAt, createdBy, createdByUserId, featureName } = event;
    if (featureName === null) return [];
    const isEmail = EMAIL.test(createdBy) && createdBy.length <= NAME_LENGTH_MAX;
    const change = {
      action: ACTIONS[type] ?? 'updated',
      change_id: id,
      created_at: createdAt,
      created_by: isEmail
        ? { id: createdBy, type: 'email' }
        : createdBy.trim() === ''
          ? { id: `${createdByUserId}`, type: 'id' }
          : { id: createdBy.slice(0, NAME_LENGTH_MAX), type: 'name' },
      flag: featureName.slice(0, NAME_LENGTH_MAX),
    };
    const request = jsonRequest(parameters, { data: [change], meta: { version: 1 } });
    const signature = createHmac('sha256', parameters['signingSecret'] ?? '')
      .update(request.body)
      .digest('hex');
    return [{ ...request, headers: { ...request.headers, 'x-sentry-signature': signature } }];
  },
};
