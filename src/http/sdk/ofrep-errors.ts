/** Errors as OpenFeature clients read them: those about one flag name it, and each has a code of the protocol. */
import * as v from 'valibot';
import type { ErrorShape, HttpError } from '../serving/errors.ts';
import type { Params } from '../serving/params.ts';

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
  bodyOf({ name, message, details }, _, params) {
    return bodyOf({
      key: params?.featureName,
      errorCode: codeOf(name, details[0]?.path ?? '', params),
      errorDetails: message,
    });
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
function codeOf(name: HttpError['name'], path: string, params: Params | null = null): ErrorCode {
  if (name === 'NotFoundError' && params?.featureName !== undefined) return 'FLAG_NOT_FOUND';
  if (path.startsWith('/body/context')) return 'INVALID_CONTEXT';
  return path.startsWith('/body') || name === 'UnsupportedMediaTypeError' ? 'PARSE_ERROR' : 'GENERAL';
}
