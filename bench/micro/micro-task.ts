/** One thing that a micro benchmark does again and again. */
export interface MicroTask {
  readonly name: string;
  readonly run: () => unknown;
  /** How often in one sample, where once is too short for the clock; once when absent. */
  readonly times?: number;
  readonly end?: () => Promise<void>;
}
