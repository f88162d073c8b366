import type { Cache, CachePart } from '../../../actors/cache.ts';
import type { Outcome, RenderedOutcome } from './outcome.ts';

/**
 * The bytes that stay beside outcomes, as part of the cache. A payload is up to six times as long as JSON, and a flag comes to as many
 * outcomes as it has variants.
 */
export type Renderings = CachePart<RenderedOutcome, Outcome>;

export function renderingsOf(cache: Cache, onEvicted: () => void = () => undefined): Renderings {
  return cache.part({
    bytesOf: (_, { bytes }) => bytes.byteLength,
    onEvicted: ({ rendered }, evicted) => {
      if (rendered.toggle === evicted) rendered.toggle = null;
      else rendered.evaluation = null;
      onEvicted();
    },
  });
}
