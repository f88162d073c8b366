/** Slack, by the interface for apps: one message for each channel. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { SLACK } from './dialect.ts';
import { messageOf } from './message.ts';
import { headerValueIssue, jsonRequest } from './parameters.ts';
import { type Provider, type ReceivedResponse, statusFailure } from './provider.ts';
import { distinctChannels, SLACK_TAG, slackFailure, taggedChannels } from './slack-channels.ts';

export const SLACK_APP: Provider = {
  name: 'slack-app',
  displayName: 'App for Slack',
  description: 'Posts events to channels of a Slack workspace.',
  documentationUrl: 'https://docs.slack.dev/reference/methods/chat.postMessage',
  howTo:
    'Create an app in your Slack workspace with the scopes chat:write and chat:write.public, install it, and enter its bot token. Tags of the type slack on a flag add channels for that flag.',
  parameters: [
    {
      name: 'accessToken',
      displayName: 'Access token',
      placeholder: 'xoxb-…',
      description: 'The bot token of the app.',
      type: 'text',
      required: true,
      sensitive: true,
      issueOf: headerValueIssue('access token'),
    },
    {
      name: 'defaultChannels',
      displayName: 'Channels',
      placeholder: 'releases, checkout-team',
      description: 'Channels that get every event, separated by commas.',
      type: 'text',
      required: false,
      sensitive: false,
    },
  ],
  events: EVENT_TYPES,
  tagTypes: [SLACK_TAG],
  requests(event, { accessToken = '', defaultChannels = '' }, surroundings) {
    const { text, href } = messageOf(event, surroundings, SLACK);
    // Slack makes no links and mentions of what it finds in the text by itself.
    const message = {
      text,
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } },
        ...(href === null ? [] : [buttonTo(href)]),
      ],
      parse: 'none',
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    };
    return distinctChannels([...taggedChannels(event), ...defaultChannels.split(',')]).map((channel) =>
      jsonRequest(
        { url: 'https://slack.com/api/chat.postMessage' },
        { channel, ...message },
        { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${accessToken}` },
      ),
    );
  },
  /** Slack answers with status 200 for most errors too. */
  failureOf(response) {
    return statusFailure(response) ?? failureIn(response);
  },
};

const buttonTo = (url: string) => ({
  type: 'actions',
  elements: [{ type: 'button', url, text: { type: 'plain_text', text: 'Open in Flagstaff' } }],
});

function failureIn({ body }: ReceivedResponse) {
  try {
    const { ok, error } = JSON.parse(body) as { readonly ok?: unknown; readonly error?: unknown };
    return ok === true ? null : slackFailure(error);
  } catch {
    return slackFailure(null);
  }
}
