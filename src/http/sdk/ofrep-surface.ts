/** What OpenFeature clients ask for, by the OpenFeature Remote Evaluation Protocol. */
import { sdkAccess } from '../serving/sdk-access.ts';
import type { Surface } from '../serving/surface.ts';
import { OFREP_ERRORS } from './ofrep-errors.ts';
import { evaluateRoutes } from './ofrep-evaluate.ts';
import { eventStreamRoute, STREAMS_PATH } from './ofrep-streams.ts';

export const ofrepSurface: Surface = {
  prefix: '/ofrep/v1',
  access: sdkAccess('frontend', 'client'),
  errors: OFREP_ERRORS,
  routes: evaluateRoutes,
  isForPages: true,
  description: `\`/ofrep/v1\` is the OpenFeature Remote Evaluation Protocol: flags evaluated for one context, of the projects and
the environment that a frontend or client token covers. Pages of other origins may call it.`,
};

/** The streams that evaluations name; their path is what shows that a client may open them. */
export const ofrepStreamSurface: Surface = {
  prefix: STREAMS_PATH,
  access: null,
  errors: OFREP_ERRORS,
  routes: [eventStreamRoute],
  isForPages: true,
  description: `\`${STREAMS_PATH}\` are the streams that evaluations name. They need no token.`,
};
