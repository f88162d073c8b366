/** The environment that a command reads from and writes to: that of the process, or that of a test. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes the result of a command: one line or several. */
  out(text: string): void;
  /** Writes a piece of a result, as it is; resolves when there is room for the next one. */
  write(piece: string): Promise<void>;
  /** Writes everything else, such as errors and remarks for people. */
  err(text: string): void;
  /** Whether a person is watching. Progress bars and questions appear only then. */
  readonly isInteractive: boolean;
  readonly barStream: NodeJS.WritableStream;
  ask(question: string): Promise<string>;
}

export function processTerminal(): Terminal {
  return {
    env: process.env,
    out: (text) => process.stdout.write(`${text}\n`),
    write: async (piece) => {
      if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
    },
    err: (text) => process.stderr.write(`${text}\n`),
    isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    barStream: process.stderr,
    ask,
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
