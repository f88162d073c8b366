/** Where a command reads its surroundings and writes its answer: the process's own, or a test's. */
import { createInterface } from 'node:readline/promises';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The answer of a command: one line, or several. */
  out(text: string): void;
  /** Everything else: what goes wrong, what a human may want to know meanwhile. */
  err(text: string): void;
  /** Whether somebody watches: bars and questions only then. */
  readonly isInteractive: boolean;
  /** The stream of the bars. */
  readonly barStream: NodeJS.WritableStream;
  ask(question: string): Promise<string>;
  /** Aborted when the user wants to stop something that goes on until then. */
  readonly stopped: AbortSignal;
}

export function processTerminal(): Terminal {
  const interruption = new AbortController();
  process.once('SIGINT', () => {
    // The next one ends the process at once.
    interruption.abort();
  });
  return {
    env: process.env,
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    barStream: process.stderr,
    ask,
    stopped: interruption.signal,
  };
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}
