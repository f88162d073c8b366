/** Waiting: for a time, without keeping the process alive, and for the next round of the event loop. */

/** Calls `run` later, once; returns what cancels it. */
export type Timer = (delayMs: number, run: () => void) => () => void;

/** Does not keep the process alive. */
export const unrefTimer: Timer = (delayMs, run) => {
  const timeout = setTimeout(run, delayMs).unref();
  return () => clearTimeout(timeout);
};

export const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
