/** The access rules that the surfaces for SDKs share: one kind of token each, and errors as SDKs read them. */
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { Caller } from '../../http/serving/access.ts';
import { COMMON_ERRORS, type ErrorName, type ErrorShape } from '../../http/serving/errors.ts';
import type { SurfaceAccess } from '../../http/serving/surface.ts';

/** For a surface that takes tokens of these kinds alone, and all callers where authentication is off. */
export function sdkAccess(...kinds: readonly ('client' | 'frontend')[]): SurfaceAccess {
  const kind = kinds.join(' or ');
  return {
    unauthenticated: refuse(
      'AuthenticationRequired',
      `A valid ${kind} token is required in the header Authorization.`,
    ),
    refuse: (_, caller) =>
      caller.kind === 'anyone' || kinds.some((one) => one === caller.kind)
        ? null
        : wrongToken(kind, caller.kind),
    whoMay: () => `A ${kind} token, for the projects and the environment that it covers.`,
    credentials: `A ${kind} token \`<project>:<environment>.<secret>\`, with \`*\` for every project and \`[]\` for several.`,
  };
}

/** Begins with the message of Unleash, by which SDKs and Unleash Edge may know it. */
function wrongToken(expected: string, sent: Caller['kind']): Refusal {
  return refuse(
    'NoAccessError',
    `invalid token: expected a different token type for this endpoint: a ${expected} token, and not ${SENT[sent]}`,
  );
}

const SENT: Readonly<Record<Caller['kind'], string>> = {
  ...{ client: 'a client token', frontend: 'a frontend token', admin: 'an admin token' },
  ...{ user: 'a personal token', anyone: 'none' },
};

/** The refusals that stop an SDK for good; it looks at their status and their message, and at nothing else. */
const MESSAGE_ONLY: ReadonlySet<ErrorName> = new Set(['AuthenticationRequired', 'NoAccessError']);

export const SDK_ERRORS: ErrorShape = {
  messageOnly: MESSAGE_ONLY,
  bodyOf(error, id, params) {
    const { name, message } = error;
    return (MESSAGE_ONLY as ReadonlySet<string>).has(name)
      ? { message }
      : COMMON_ERRORS.bodyOf(error, id, params);
  },
};
