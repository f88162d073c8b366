/** The environment that a command reads from and writes to: that of the process, or that of a test. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

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
  /** Whether the result is shown in colours: a person reads it, and has not turned them off (NO_COLOR). */
  readonly hasColours?: boolean;
  readonly barStream: NodeJS.WritableStream;
  /** Resolves with the line that was typed, empty at the end of the input. A secret is not shown while it is typed. */
  ask(question: string, as?: 'secret'): Promise<string>;
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
    hasColours: process.stdout.isTTY === true && process.stdout.hasColors(),
    barStream: process.stderr,
    ask,
  };
}

async function ask(question: string, as?: 'secret'): Promise<string> {
  const { stdin: input, stderr } = process;
  if (as !== undefined) stderr.write(question);
  const output = as === undefined ? stderr : new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output, terminal: input.isTTY === true });
  try {
    const ended = once(lines, 'close').then(() => '');
    return await Promise.race([lines.question(as === undefined ? question : ''), ended]);
  } finally {
    lines.close();
    if (as !== undefined) stderr.write('\n');
  }
}
