/** The entry point of `npm start`: a server that takes its settings from environment variables alone. */
import { EXIT } from './process/exit-codes.ts';
import { VERSION } from './process/installation.ts';
import { runServer } from './server.ts';
import { exitWith } from './start/failures.ts';

/** Ends the process for `--version`, and for an argument that somebody takes for a setting. */
function readArguments([first]: readonly string[]): void {
  if (first === undefined) return;
  if (first !== '--version')
    exitWith(EXIT.usage, `The server takes no argument but --version; "${first}" means nothing to it.`);
  process.stdout.write(`${VERSION}\n`);
  process.exit(EXIT.ok);
}

readArguments(process.argv.slice(2));
await runServer(process.env);
