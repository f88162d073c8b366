/** Microsoft Teams, by an incoming webhook that takes message cards, which Microsoft has deprecated. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { MARKDOWN, PLAIN, written } from './dialect.ts';
import { messageOf } from './message.ts';
import { CUSTOM_HEADERS, jsonRequest, webhookUrl } from './parameters.ts';
import type { Provider } from './provider.ts';

export const TEAMS: Provider = {
  name: 'teams',
  displayName: 'Microsoft Teams',
  description: 'Posts events to an incoming webhook of Microsoft Teams.',
  documentationUrl:
    'https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using',
  deprecated:
    'Microsoft retires the connectors that take these messages. Use Microsoft Teams - Workflow instead.',
  parameters: [
    webhookUrl('Microsoft Teams webhook URL', 'The address of the incoming webhook.'),
    CUSTOM_HEADERS,
  ],
  events: EVENT_TYPES,
  requests(event, parameters, surroundings) {
    const { text, href } = messageOf(event, surroundings, MARKDOWN);
    const card = {
      '@type': 'MessageCard',
      '@context': 'https://schema.org/extensions',
      themeColor: '0076D7',
      summary: messageOf(event, surroundings, PLAIN).text,
      sections: [
        {
          activityTitle: text,
          activitySubtitle: 'Flagstaff',
          facts: [
            { name: 'User', value: written([{ name: event.createdBy }], MARKDOWN) },
            { name: 'Action', value: event.type },
          ],
        },
      ],
      ...(href === null
        ? {}
        : {
            potentialAction: [
              { '@type': 'OpenUri', name: 'Open in Flagstaff', targets: [{ os: 'default', uri: href }] },
            ],
          }),
    };
    return [jsonRequest(parameters, card)];
  },
};
