#!/usr/bin/env -S node --max-semi-space-size=16
import { processTerminal } from '../host/terminal.ts';
/** The program `flagstaff`. Its first line lets the young generation of the heap grow as `npm start` does. */
import { runCommands } from './main.ts';

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
process.exitCode = await runCommands(process.argv.slice(2), processTerminal());
