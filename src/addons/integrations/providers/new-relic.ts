/** New Relic's custom events. */
import { isJsonObject } from '../../../domain/json/json.ts';
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import type { LoggedEvent } from '../../../persistence/event-log/logged-event.ts';
import { PLAIN } from './dialect.ts';
import { messageOf } from './message.ts';
import { bodyTemplate, CUSTOM_HEADERS, headerValueIssue, jsonRequest } from './parameters.ts';
import type { Parameters, Provider } from './provider.ts';
import { sentEvent } from './sent-event.ts';
import { rendered } from './template.ts';

/** New Relic refuses longer ones, and events of more than 1 MB. */
const DATA_FIELDS_MAX = 50;
const FIELD_NAME_LENGTH_MAX = 255;
const FIELD_LENGTH_MAX = 4096;

export const NEW_RELIC: Provider = {
  name: 'new-relic',
  displayName: 'New Relic',
  description: 'Posts events to the Event API of New Relic.',
  documentationUrl: 'https://docs.newrelic.com/docs/data-apis/ingest-apis/event-api/introduction-event-api/',
  parameters: [
    {
      name: 'url',
      displayName: 'New Relic event URL',
      placeholder: 'https://insights-collector.newrelic.com/v1/accounts/ACCOUNT/events',
      description: 'The address of the Event API for your account, in the region of your data.',
      type: 'url',
      required: true,
      sensitive: false,
    },
    {
      name: 'licenseKey',
      displayName: 'New Relic license key',
      description: 'The license key of your account.',
      type: 'text',
      required: true,
      sensitive: true,
      issueOf: headerValueIssue('license key'),
    },
    CUSTOM_HEADERS,
    bodyTemplate(
      '{\n  "eventType": "flagstaff",\n  "event": "{{event.type}}",\n  "flag": "{{event.featureName}}"\n}',
      'A Mustache template of the event as JSON, which needs an eventType. Fields of the event are sent if left empty.',
    ),
  ],
  events: EVENT_TYPES,
  tagTypes: [
    { name: 'new-relic', description: 'Is sent to New Relic with the events of a flag.', icon: 'N' },
  ],
  requests(event, parameters, surroundings) {
    const request = jsonRequest(
      parameters,
      { ...attributes(event), message: messageOf(event, surroundings, PLAIN).text },
      { 'api-key': parameters['licenseKey'] ?? '' },
    );
    const body = templated(event, parameters) ?? request.body;
    return typeof body === 'string' ? [{ ...request, body }] : body;
  },
};

const templated = (event: LoggedEvent, { bodyTemplate: template }: Parameters) =>
  template ? rendered(template, { event: sentEvent(event).event }, true) : null;

/** The names that Unleash uses, so that dashboards stay as they are. Its own come last, since no field of the data may replace them. */
function attributes({ id, type, featureName, environment, project, tags, data, ...event }: LoggedEvent) {
  const own = {
    eventType: 'UnleashServiceEvent',
    unleashEventType: type,
    id,
    featureName,
    environment,
    project,
    createdBy: event.createdBy,
    createdByUserId: event.createdByUserId,
    createdAt: Date.parse(event.createdAt),
    tags: tags.map((tag) => `${tag.type}:${tag.value}`).join(','),
  };
  const fields = isJsonObject(data) ? Object.entries(data).slice(0, DATA_FIELDS_MAX) : [];
  const all = [...fields, ...Object.entries(own)].flatMap(([name, value]) =>
    value === null || name.length > FIELD_NAME_LENGTH_MAX ? [] : [[name, attribute(value)] as const],
  );
  return Object.fromEntries(all);
}

/** Texts and numbers are all that New Relic takes. */
const attribute = (value: unknown): string | number =>
  typeof value === 'number'
    ? value
    : (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, FIELD_LENGTH_MAX);
