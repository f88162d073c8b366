/** The bench's end of the probe (probe.ts). Questions are asked one at a time. */
import { once } from 'node:events';
import type { ProbeQuestion, ProbeResponses } from './probe.ts';
import type { ServerProcess } from './server-process.ts';

export async function askProbe<Q extends ProbeQuestion>(
  { child }: ServerProcess,
  question: Q,
): Promise<ProbeResponses[Q]> {
  const responded = once(child, 'message');
  child.send(question);
  const [message] = (await responded) as [{ readonly question: Q; readonly response: ProbeResponses[Q] }];
  if (message.question !== question) throw new Error(`the probe answered ${message.question} to ${question}`);
  return message.response;
}
