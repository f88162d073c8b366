/** Errors as OpenFeature clients read them: those about one flag name it, and each has a code of the protocol. */
import * as v from 'valibot';
import { COMMON_ERRORS, ERROR_STATUS, type ErrorName, type ErrorShape } from '../dispatch/errors.ts';
import { JSON_HEADERS } from '../dispatch/json-response.ts';
import type { Params } from '../dispatch/params.ts';

const ERROR_CODES = ['FLAG_NOT_FOUND', 'PARSE_ERROR', 'INVALID_CONTEXT', 'GENERAL'] as const;

type ErrorCode = (typeof ERROR_CODES)[number];

const OfrepErrorSchema = v.pipe(
  v.object({
    key: v.exactOptional(v.pipe(v.string(), v.description('Only where the path names a flag.'))),
    errorCode: v.picklist(ERROR_CODES),
    errorDetails: v.string(),
  }),
  v.title('OfrepError'),
);

export const OFREP_ERRORS: ErrorShape = {
  messageOnly: new Set(),
  own: {
    schema: OfrepErrorSchema,
    example: (name, message) => bodyOf({ errorCode: codeOf(name, ''), errorDetails: message }),
  },
  refusal(refusal, extraHeaders = [], params = null) {
    const { name, message, details } = refusal;
    const errorCode = codeOf(name, details[0]?.path ?? '', params);
    const { headers } = COMMON_ERRORS.refusal(refusal, extraHeaders);
    const body = bodyOf({ key: params?.featureName, errorCode, errorDetails: message });
    return { status: ERROR_STATUS[name], headers, body: JSON.stringify(body) };
  },
  fault() {
    const { errorId, response } = COMMON_ERRORS.fault();
    const errorDetails = `The server failed to answer this request; its log has the details under the id ${errorId}.`;
    const body = JSON.stringify(bodyOf({ errorCode: 'GENERAL', errorDetails }));
    return { errorId, response: { status: response.status, headers: JSON_HEADERS, body } };
  },
};

interface ErrorParts {
  readonly key?: string | undefined;
  readonly errorCode: ErrorCode;
  readonly errorDetails: string;
}

function bodyOf({ key, ...rest }: ErrorParts): v.InferOutput<typeof OfrepErrorSchema> {
  return { ...(key === undefined ? {} : { key }), ...rest };
}

/** `path` is where in the request the fault is. */
function codeOf(name: ErrorName, path: string, params: Params | null = null): ErrorCode {
  if (name === 'NotFoundError' && params?.featureName !== undefined) return 'FLAG_NOT_FOUND';
  if (path.startsWith('/body/context')) return 'INVALID_CONTEXT';
  return path.startsWith('/body') || name === 'UnsupportedMediaTypeError' ? 'PARSE_ERROR' : 'GENERAL';
}
