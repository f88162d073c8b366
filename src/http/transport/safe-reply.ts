/**
 * Makes sure that there is always something to send: a reply that must not go out becomes a 500, and a 500 that
 * cannot be worded becomes one without words. So an engine can answer whatever happens above it.
 */
import type { Fault } from './received-request.ts';
import { HANDLER_FAILED } from './received-request.ts';
import { NO_HEADERS } from './reply-headers.ts';
import type { Reply, TransportOptions } from './transport.ts';

type Above = Pick<TransportOptions, 'refuse' | 'log'>;

/** The answer to a request that is refused for `fault`. Never throws. */
export function refusal(above: Above, fault: Fault): Reply {
  try {
    const reply = above.refuse(fault.status, fault.reason);
    reply.headers.startOf(reply.status);
    return reply;
  } catch (error) {
    above.log.error(
      { err: error, status: fault.status },
      'The response to a refused request could not be made.',
    );
    return { status: fault.status, headers: NO_HEADERS, body: null };
  }
}

/** `reply`, or a 500 in its place when it must not be sent. Never throws. */
export function sendableReply(above: Above, reply: Reply): Reply {
  try {
    reply.headers.startOf(reply.status);
    return reply;
  } catch (error) {
    above.log.error({ err: error, status: reply.status }, 'A response was invalid and was not sent.');
    return refusal(above, HANDLER_FAILED);
  }
}
