/** Datadog's stream of events. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { MARKDOWN } from './dialect.ts';
import { messageOf } from './message.ts';
import { bodyTemplate, CUSTOM_HEADERS, headerValueIssue, jsonRequest } from './parameters.ts';
import type { Provider } from './provider.ts';
import { sentEvent } from './sent-event.ts';
import { rendered } from './template.ts';

const US1_URL = 'https://api.datadoghq.com/api/v1/events';

/** Datadog shows no more. */
const TEXT_LENGTH_MAX = 4000;
const TAG_LENGTH_MAX = 200;

export const DATADOG: Provider = {
  name: 'datadog',
  displayName: 'Datadog',
  description: 'Posts events to the event stream of Datadog, with the tags of the flag.',
  documentationUrl: 'https://docs.datadoghq.com/api/latest/events/post-an-event/',
  parameters: [
    {
      name: 'url',
      displayName: 'Datadog events URL',
      placeholder: US1_URL,
      description: 'The address of your Datadog site; that of US1 if left empty.',
      type: 'url',
      required: false,
      sensitive: false,
    },
    {
      name: 'apiKey',
      displayName: 'Datadog API key',
      description: 'An API key of your organization.',
      type: 'text',
      required: true,
      sensitive: true,
      issueOf: headerValueIssue('API key'),
    },
    {
      name: 'sourceTypeName',
      displayName: 'Datadog source type name',
      description: 'The source_type_name of the events.',
      type: 'text',
      required: false,
      sensitive: false,
    },
    CUSTOM_HEADERS,
    bodyTemplate(
      '{{event.createdBy}}: {{event.type}} {{event.featureName}}',
      'A Mustache template of the text, with the fields of the event. A sentence is sent if left empty.',
    ),
  ],
  events: EVENT_TYPES,
  tagTypes: [{ name: 'datadog', description: 'Is sent to Datadog with the events of a flag.', icon: 'D' }],
  requests(event, parameters, surroundings) {
    const { apiKey = '', sourceTypeName, bodyTemplate: template } = parameters;
    const message = messageOf(event, surroundings, MARKDOWN).text;
    const text = template
      ? rendered(template, { event: sentEvent(event).event, eventMarkdown: message }, false)
      : `%%%\n${message.replaceAll('%%', '%\u2060%')}\n%%%`;
    if (typeof text !== 'string') return text;
    const { environment, project, featureName: feature, tags } = event;
    const named = Object.entries({ environment, project, feature }).filter(([, value]) => value !== null);
    const body = {
      title: `Flagstaff: ${event.type}`,
      text: text.slice(0, TEXT_LENGTH_MAX),
      tags: [
        ...tags.map(({ type, value }) => `${type}:${value}`),
        ...named.map(([name, value]) => `${name}:${value}`),
      ].map((tag) => tag.slice(0, TAG_LENGTH_MAX)),
      ...(sourceTypeName ? { source_type_name: sourceTypeName } : {}),
    };
    const to = { ...parameters, url: parameters['url'] || US1_URL };
    return [jsonRequest(to, body, { 'dd-api-key': apiKey })];
  },
};
