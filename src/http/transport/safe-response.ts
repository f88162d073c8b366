/**
 * Makes sure that there is always something to send. An invalid response becomes a 500, and when the body of that 500
 * cannot be made either, it is sent without a body. So an engine can respond whatever happens above it.
 */
import type { RequestRefusal } from './received-request.ts';
import { HANDLER_FAILED } from './received-request.ts';
import { NO_HEADERS } from './response-headers.ts';
import type { HttpResponse, TransportOptions, TransportRequestHead } from './transport.ts';

type Above = Pick<TransportOptions, 'refuse' | 'log'>;

/** The response to a request that is refused for `refusal`; `head` is null where there is none. Never throws. */
export function refusalResponse(
  above: Above,
  refusal: RequestRefusal,
  head: TransportRequestHead | null,
): HttpResponse {
  try {
    const response = above.refuse(refusal.status, refusal.reason, head);
    response.headers.startOf(response.status);
    return response;
  } catch (error) {
    // Operators: report it with the log line
    above.log.error(
      { err: error, status: refusal.status },
      'The response to a refused request could not be made.',
    );
    return { status: refusal.status, headers: NO_HEADERS, body: null };
  }
}

/** Returns `response`, or a 500 when it is invalid. Never throws. */
export function sendableResponse(
  above: Above,
  response: HttpResponse,
  head: TransportRequestHead,
): HttpResponse {
  try {
    response.headers.startOf(response.status);
    return response;
  } catch (error) {
    // Operators: report it with the log line
    above.log.error({ err: error, status: response.status }, 'A response was invalid and was not sent.');
    return refusalResponse(above, HANDLER_FAILED, head);
  }
}
