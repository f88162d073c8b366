/** Slack, by an incoming webhook that may write to several channels, which Slack has deprecated. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { SLACK as MRKDWN } from './dialect.ts';
import { messageOf } from './message.ts';
import { CUSTOM_HEADERS, jsonRequest, webhookUrl } from './parameters.ts';
import { type Provider, statusFailure } from './provider.ts';
import { distinctChannels, SLACK_TAG, slackFailure, taggedChannels } from './slack-channels.ts';

export const SLACK: Provider = {
  name: 'slack',
  displayName: 'Slack',
  description: 'Posts events to an incoming webhook of Slack.',
  documentationUrl: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
  deprecated: 'Slack has deprecated incoming webhooks that choose a channel. Use the App for Slack instead.',
  parameters: [
    webhookUrl('Slack webhook URL', 'The address of the incoming webhook.'),
    {
      name: 'username',
      displayName: 'Username',
      placeholder: 'Flagstaff',
      description: 'The name that messages have as their sender.',
      type: 'text',
      required: false,
      sensitive: false,
    },
    {
      name: 'emojiIcon',
      displayName: 'Emoji icon',
      placeholder: ':triangular_flag_on_post:',
      description: 'The emoji beside the name.',
      type: 'text',
      required: false,
      sensitive: false,
    },
    {
      name: 'defaultChannel',
      displayName: 'Default channel',
      placeholder: 'releases',
      description: 'The channel for events of flags that have no tag of the type slack.',
      type: 'text',
      required: true,
      sensitive: false,
    },
    CUSTOM_HEADERS,
  ],
  events: EVENT_TYPES,
  tagTypes: [SLACK_TAG],
  requests(event, parameters, surroundings) {
    const { text, href } = messageOf(event, surroundings, MRKDWN);
    const message = {
      username: parameters['username'] || 'Flagstaff',
      icon_emoji: parameters['emojiIcon'] || ':triangular_flag_on_post:',
      text,
      parse: 'none',
      link_names: false,
      ...(href === null
        ? {}
        : { attachments: [{ actions: [{ type: 'button', text: 'Open in Flagstaff', url: href }] }] }),
    };
    const tagged = distinctChannels(taggedChannels(event));
    const channels = tagged.length > 0 ? tagged : distinctChannels([parameters['defaultChannel'] ?? '']);
    return channels.map((channel) =>
      jsonRequest(parameters, { ...message, channel: `#${channel.replace(/^#/, '')}` }),
    );
  },
  /** The body names the error: a channel may be missing, or the webhook itself. */
  failureOf(response) {
    const failure = statusFailure(response);
    const named = slackFailure(response.body.trim());
    return failure !== null && named.isFinal ? named : failure;
  },
};
