/** The headers that name an event to any receiver: those of Standard Webhooks without the signature, and those of CloudEvents 1.0. */
import type { LoggedEvent } from '../../../persistence/event-log/logged-event.ts';
import type { Surroundings } from './provider.ts';

export interface EventHeaders extends Readonly<Record<string, string>> {
  /** The id of the event, which repeats where an attempt does. */
  readonly 'webhook-id': string;
  /** Seconds since 1970 at the attempt. */
  readonly 'webhook-timestamp': string;
}

export function eventHeaders(event: LoggedEvent, { publicUrl, at }: Surroundings): EventHeaders {
  const { id, type, createdAt, environment, project, featureName } = event;
  const named = { environment, project, feature: featureName };
  const extensions = Object.entries(named).flatMap(([name, value]) =>
    value === null ? [] : [[`ce-${name}`, headerText(value)] as const],
  );
  return {
    'webhook-id': `${id}`,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'ce-specversion': '1.0',
    'ce-id': `${id}`,
    'ce-type': headerText(type),
    'ce-source': headerText(publicUrl ?? '/'),
    'ce-time': createdAt,
    ...Object.fromEntries(extensions),
  };
}

/** The text as CloudEvents encodes it in a header: everything but printable ASCII, and space, `"` and `%`, as percent-encoded UTF-8. */
function headerText(text: string): string {
  return text.replaceAll(/[^!#$&-~]/gu, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}
