/** Lets one of all who wait go on in each round of the event loop, in the order in which they came. */
export function inTurns(nextRound: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(nextRound);
    return last;
  };
}
