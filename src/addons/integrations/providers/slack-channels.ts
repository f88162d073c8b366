/** Channels of Slack that an event goes to, and the errors by which Slack refuses one of them. */
import type { LoggedEvent } from '../../../persistence/event-log/logged-event.ts';
import type { DeliveryFailure, TagTypeOfProvider } from './provider.ts';

/** Channels that one event is posted to; more are left out. Anybody who may tag a flag adds one. */
const CHANNELS_MAX = 20;

export const SLACK_TAG: TagTypeOfProvider = {
  name: 'slack',
  description: 'Names a channel of Slack for the events of a flag.',
  icon: 'S',
};

/** Channels by the flag's tags. */
export const taggedChannels = ({ tags }: LoggedEvent): string[] =>
  tags.filter(({ type }) => type === SLACK_TAG.name).map(({ value }) => value);

export const distinctChannels = (channels: readonly string[]): string[] =>
  [...new Set(channels.map((channel) => channel.trim()).filter((channel) => channel !== ''))].slice(
    0,
    CHANNELS_MAX,
  );

/** Errors that concern one channel or one message. They must not keep the other channels, and later events, waiting. */
const FINAL_ERRORS = new Set([
  'channel_is_archived',
  'channel_not_found',
  'invalid_blocks',
  'is_archived',
  'msg_too_long',
  'no_text',
  'not_in_channel',
  'restricted_action',
]);

export function slackFailure(error: unknown): DeliveryFailure {
  const name = typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? error : 'an unknown error';
  return { reason: `Slack answered with ${name}.`, isFinal: FINAL_ERRORS.has(name) };
}
