/** Long work, cut into slices, so that other requests are served in between. */
import { performance } from 'node:perf_hooks';

/** How long a slice holds the event loop. */
const SLICE_MS = 5;

/** Calls `advance` until it returns true. A single call must be short. */
export async function inSlices(advance: () => boolean): Promise<void> {
  for (;;) {
    const end = performance.now() + SLICE_MS;
    do if (advance()) return;
    while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
