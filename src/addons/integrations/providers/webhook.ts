/** Any receiver: the event as JSON, or a body by a template. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { MARKDOWN } from './dialect.ts';
import { messageOf } from './message.ts';
import { bodyTemplate, CUSTOM_HEADERS, customHeaders, headerValueIssue, webhookUrl } from './parameters.ts';
import type { Provider } from './provider.ts';
import { sentEvent } from './sent-event.ts';
import { signingSecretsIssue } from './signature.ts';
import { rendered } from './template.ts';

const JSON_TYPE = 'application/json';

export const WEBHOOK: Provider = {
  name: 'webhook',
  displayName: 'Webhook',
  description: 'Posts each event to an address of yours.',
  documentationUrl: 'https://www.standardwebhooks.com/',
  howTo:
    'Enter the address of a service that accepts POST requests. Deliveries are signed as Standard Webhooks asks if you give a signing secret.',
  parameters: [
    webhookUrl('Webhook URL', 'The address that each event is posted to.'),
    {
      name: 'contentType',
      displayName: 'Content-Type',
      placeholder: JSON_TYPE,
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
    bodyTemplate(
      '{\n  "event": "{{event.type}}",\n  "flag": "{{event.featureName}}",\n  "message": "{{eventMarkdown}}",\n  "json": {{{eventJson}}}\n}',
      'A Mustache template of the body: {{event.type}} and other fields of the event, {{{eventJson}}}, {{eventMarkdown}}. The event as JSON is sent if left empty.',
    ),
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
  requests(event, parameters, surroundings) {
    const { url = '', authorization, bodyTemplate: template } = parameters;
    const contentType = parameters['contentType'] || JSON_TYPE;
    const sent = sentEvent(event);
    const view = { event: sent.event, eventMarkdown: messageOf(event, surroundings, MARKDOWN).text };
    const body = template ? rendered(template, view, /json/i.test(contentType)) : sent.json;
    if (typeof body !== 'string') return body;
    const headers = {
      'content-type': contentType,
      ...(authorization ? { authorization } : {}),
      ...customHeaders(parameters),
    };
    return [{ method: 'POST', url, headers, body }];
  },
};
