/** Starts a process with clients of the stream of changes (stream-clients-process.ts), and gives it orders. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '../../../test/support/source.ts';
import type { Target } from '../measurement.ts';
import { FLAG_ENVIRONMENT } from '../servers/data-set.ts';
import { request } from './client.ts';
import type {
  StreamClientsOrder,
  StreamClientsPlan,
  StreamClientsReport,
  SwitchTimes,
} from './stream-clients-process.ts';

const PROCESS_FILE = fileURLToPath(new URL('./stream-clients-process.ts', import.meta.url));

export interface StreamClients {
  /** Resolves when all of them have got what streams begin with. */
  open(count: number): Promise<void>;
  /** Sends a switch (a path below `/api/admin`) that all streams hear of. */
  switchFlag(path: string): Promise<SwitchTimes>;
  /** Cuts all of them at once. */
  cut(): Promise<void>;
  /** Streams that are open. */
  count(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * `areStreams` false: connections that have had one response each, which show what a socket costs by itself. `edge`: the one from which
 * the streams are; switches are sent to the target.
 */
export async function startStreamClients(
  target: Target,
  areStreams = true,
  edge: Target = target,
): Promise<StreamClients> {
  const body = { tokenName: 'streams', type: 'client', environment: FLAG_ENVIRONMENT };
  const made = await request(target, { method: 'POST', path: '/api-tokens', body });
  const { secret } = JSON.parse(made.body.toString()) as { readonly secret: string };
  const { hostname, port } = new URL(edge.origin);
  const plan: StreamClientsPlan = {
    host: hostname,
    port: Number(port),
    adminPort: Number(new URL(target.origin).port),
    token: secret,
    adminToken: target.token,
    streamPath: areStreams ? `${edge.basePath}/api/client/streaming` : null,
  };
  const child = spawn(process.execPath, nodeArguments(PROCESS_FILE, JSON.stringify(plan)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const report = async (): Promise<StreamClientsReport | 'ready'> => {
    const ended = exited.then(([code]) => {
      throw new Error(`the clients of streams ended with ${String(code)}`);
    });
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message as StreamClientsReport | 'ready';
  };
  const ordered = (order: StreamClientsOrder) => {
    const reported = report();
    child.send(order);
    return reported;
  };
  await report();
  return {
    async open(count) {
      const before = (await ordered({ kind: 'count' })) as number;
      const after = (await ordered({ kind: 'open', count })) as number;
      if (after - before !== count) throw new Error(`${after - before} of ${count} streams were opened`);
    },
    async switchFlag(path) {
      const times = await ordered({ kind: 'switch', path: `${target.basePath}/api/admin${path}` });
      return times as SwitchTimes;
    },
    async cut() {
      await ordered({ kind: 'cut' });
    },
    count: async () => (await ordered({ kind: 'count' })) as number,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
