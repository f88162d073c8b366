/** Microsoft Teams, by a workflow that posts the adaptive cards that its webhook gets. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { MARKDOWN, written } from './dialect.ts';
import { messageOf } from './message.ts';
import { CUSTOM_HEADERS, jsonRequest, webhookUrl } from './parameters.ts';
import type { Provider } from './provider.ts';

export const TEAMS_WORKFLOW: Provider = {
  name: 'teamsworkflow',
  displayName: 'Microsoft Teams - Workflow',
  description: 'Posts events to a workflow of Microsoft Teams.',
  documentationUrl: 'https://support.microsoft.com/office/8ae491c7-0394-4861-ba59-055e33f75498',
  howTo:
    'In Microsoft Teams, create a workflow that posts to a channel when a webhook request is received, and enter its address.',
  parameters: [
    webhookUrl('Microsoft Teams workflow webhook URL', 'The address that the workflow shows.'),
    CUSTOM_HEADERS,
  ],
  events: EVENT_TYPES,
  requests(event, parameters, surroundings) {
    const { text, href } = messageOf(event, surroundings, MARKDOWN);
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.5',
      body: [
        { type: 'TextBlock', text, wrap: true },
        {
          type: 'FactSet',
          facts: [
            { title: 'User:', value: written([{ name: event.createdBy }], MARKDOWN) },
            { title: 'Action:', value: event.type },
          ],
        },
      ],
      ...(href === null
        ? {}
        : { actions: [{ type: 'Action.OpenUrl', title: 'Open in Flagstaff', url: href }] }),
    };
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
    return [jsonRequest(parameters, { type: 'message', attachments: [attachment] })];
  },
};
