/** An app of uWebSockets.js that answers every request at once, with one and the same response. */
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import { statusLine } from '../../../src/http/transport/response.ts';

export interface BareResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly bodyFile: string;
}

type Respond = (res: HttpResponse) => void;

export function responderOf({ status, headers, bodyFile }: BareResponse): Respond {
  const body = readFileSync(bodyFile);
  const line = statusLine(status);
  return (res) => {
    if (status !== 200) res.writeStatus(line);
    for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i] ?? '', headers[i + 1] ?? '');
    res.end(body);
  };
}

export function serveBare(app: TemplatedApp, respond: Respond): void {
  app.get('/*', (res) => respond(res));
  app.any('/*', (res) => {
    res.onAborted(() => undefined);
    res.onData((_, isLast) => {
      if (isLast) respond(res);
    });
  });
}
