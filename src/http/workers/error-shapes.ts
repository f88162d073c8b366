/** The surfaces as a worker knows them: enough to word the refusals of its engine, since the main thread may be what is too slow. */
import { COMMON_ERRORS, type ErrorShape } from '../dispatch/errors.ts';
import { SDK_ERRORS } from '../dispatch/sdk-access.ts';
import type { Surface } from '../dispatch/surface.ts';
import { OFREP_ERRORS } from '../ofrep/errors.ts';

/** A shape is made of functions, which no message can carry: it has a name. */
export const ERROR_SHAPES = { common: COMMON_ERRORS, sdk: SDK_ERRORS, ofrep: OFREP_ERRORS } as const;

export interface SurfaceOutline extends Pick<Surface, 'prefix'> {
  readonly errors: keyof typeof ERROR_SHAPES;
  /** Whether pages of other origins call it. */
  readonly isForPages: boolean;
}

export function outlineOf({ prefix, errors, isForPages = false }: Surface): SurfaceOutline {
  return { prefix, errors: nameOf(errors), isForPages };
}

function nameOf(shape: ErrorShape): SurfaceOutline['errors'] {
  for (const [name, one] of Object.entries(ERROR_SHAPES))
    if (one === shape) return name as SurfaceOutline['errors'];
  throw new Error('HTTP workers do not know the shape of the errors of a surface');
}
