/** Any receiver: the event as JSON, or a body by a template. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { CUSTOM_HEADERS, customHeaders, headerValueIssue } from './parameters.ts';
import type { Provider } from './provider.ts';
import { signingSecretsIssue } from './signature.ts';

export const WEBHOOK: Provider = {
  name: 'webhook',
  displayName: 'Webhook',
  description: 'Posts each event to an address of yours.',
  documentationUrl: 'https://www.standardwebhooks.com/',
  howTo:
    'Enter the address of a service that accepts POST requests. Deliveries are signed as Standard Webhooks asks if you give a signing secret.',
  parameters: [
    {
      name: 'url',
      displayName: 'Webhook URL',
      description: 'The address that each event is posted to.',
      type: 'url',
      required: true,
      sensitive: true,
    },
    {
      name: 'contentType',
      displayName: 'Content-Type',
      placeholder: 'application/json',
      description: 'The Content-Type of the body; application/json if left empty.',
      type: 'text',
      required: false,
      sensitive: false,
      issueOf: headerValueIssue('content type'),
    },
    {
      name: 'authorization',
      displayName: 'Authorization',
      placeholder: '',
      description: 'The Authorization header; not sent if left empty.',
      type: 'text',
      required: false,
      sensitive: true,
      issueOf: headerValueIssue('Authorization header'),
    },
    CUSTOM_HEADERS,
    {
      name: 'signingSecrets',
      displayName: 'Signing secrets',
      placeholder: 'whsec_…',
      description: 'Signs each delivery. Two secrets with a space between them sign while you rotate.',
      type: 'text',
      required: false,
      sensitive: true,
      issueOf: signingSecretsIssue,
    },
  ],
  events: EVENT_TYPES,
  requests(event, parameters) {
    const { url = '', contentType, authorization } = parameters;
    const headers = {
      'content-type': contentType || 'application/json',
      ...(authorization ? { authorization } : {}),
      ...customHeaders(parameters),
    };
    return [{ method: 'POST', url, headers, body: JSON.stringify(event) }];
  },
};
