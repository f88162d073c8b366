/** The log would not keep what it acknowledges. The message is everything that the operator needs to read. */
export class UnsafeLogError extends Error {
  override readonly name = 'UnsafeLogError';
}
