#!/usr/bin/env node
// The entry of the operators' commands: plain JavaScript, since a bin entry is started without any flags.
import { register } from 'tsx/esm/api';

register();
const { runCommands } = await import('../src/cli/main.ts');
const { processTerminal } = await import('../src/cli/terminal.ts');

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
process.exitCode = await runCommands(process.argv.slice(2), processTerminal());
