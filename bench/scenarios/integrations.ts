/**
 * Integrations: the time from a change to the first attempt to deliver it, and switches beside a hundred integrations of which half are
 * dead. The receivers are in this process.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { switchesBeside } from '../lib/beside.ts';
import { request } from '../lib/load/client.ts';
import type { ClosedLoopRun } from '../lib/load/closed-loop-run.ts';
import { timedMs } from '../lib/load/timed-get.ts';
import type { BenchRun, Effort, Measurement, Scenario } from '../lib/measurement.ts';
import { environmentPath } from '../lib/paths.ts';
import { mainThreadMicrosOf } from '../lib/servers/cpu-time.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
import { freePort, type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { median, quantile } from '../lib/statistics.ts';

const FLAGS = 100;
const CHANGES: Readonly<Record<Effort['name'], number>> = { full: 200, quick: 20, tiny: 2 };
/** Integrations that deliver, those whose receivers refuse the connection, and those whose receivers never respond. */
const COUNTS: Readonly<Record<Effort['name'], readonly [live: number, refused: number, hanging: number]>> = {
  full: [50, 25, 25],
  quick: [10, 5, 5],
  tiny: [2, 1, 1],
};
/** A share of 98 % is within the noise of a few pairs. */
const ROUNDS: Readonly<Record<Effort['name'], number>> = { full: 15, quick: 2, tiny: 1 };

export const integrations: Scenario = {
  name: 'integrations',
  title: 'Integrations',
  run: async (bench) => [await firstAttempts(bench), await switchesBesideDead(bench)],
};

async function firstAttempts(bench: BenchRun): Promise<Measurement> {
  let arrived = (_ms: number): void => undefined;
  const times: number[] = [];
  const count = CHANGES[bench.effort.name];
  await withServer(bench, async (server) => {
    await withReceiver(
      (_, response) => {
        arrived(performance.now());
        response.end();
      },
      async (url) => {
        await integrate(server, url);
        // Twice as many: the server compiles what it runs often.
        for (let change = 0; change < 2 * count; change += 1) {
          const path = `${environmentPath(Math.floor(change / 2) % FLAGS)}/${change % 2 === 0 ? 'on' : 'off'}`;
          const arrival = new Promise<number>((resolve) => {
            arrived = resolve;
          });
          const startedAt = performance.now();
          await timedMs(server.target, { method: 'POST', path });
          times.push((await arrival) - startedAt);
        }
      },
    );
  });
  const measured = times.slice(count);
  const values = { p50: quantile(measured, 0.5), p99: quantile(measured, 0.99) };
  bench.say(`from a change to the first attempt: p99 ${values.p99.toFixed(1)} ms`);
  return { table: 'first-attempt', what: 'switch', at: 1, values };
}

function switchesBesideDead(bench: BenchRun): Promise<Measurement> {
  const [live, refused, hanging] = COUNTS[bench.effort.name];
  const count = live + refused + hanging;
  return withServer(bench, (server) =>
    withReceiver(
      ({ url }, response) => {
        if (url === '/live') response.end();
      },
      async (url) => {
        const dead = `http://127.0.0.1:${await freePort()}/`;
        for (let at = 0; at < live; at += 1) await integrate(server, `${url}live`);
        for (let at = 0; at < refused; at += 1) await integrate(server, dead);
        for (let at = 0; at < hanging; at += 1) await integrate(server, `${url}hanging`);
        const micros = new Map<boolean, number[]>([
          [true, []],
          [false, []],
        ]);
        const around = async (of: ServerProcess, run: () => Promise<ClosedLoopRun>) => {
          const before = mainThreadMicrosOf(of);
          const done = await run();
          micros.get(of === server)?.push((mainThreadMicrosOf(of) - before) / done.requests);
          return done;
        };
        const rounds = ROUNDS[bench.effort.name];
        const beside = await switchesBeside(bench, { server, flags: FLAGS, rounds, around });
        const [own = [], others = []] = micros.values();
        const values = { ...beside, micros: median(own), withoutMicros: median(others) };
        bench.say(
          `switches beside ${count} integrations: ${Math.round(values.share * 100)} % of without, ${values.micros.toFixed(1)} µs for ${values.withoutMicros.toFixed(1)}`,
        );
        return { table: 'beside-integrations', what: 'toggle', at: count, values };
      },
    ),
  );
}

async function withServer<T>(bench: BenchRun, work: (server: ServerProcess) => Promise<T>): Promise<T> {
  const folder = await dataFolderOf(bench, { flags: FLAGS, projects: 1, events: 0 });
  const server = await startServerProcess(folder, { env: { INTEGRATION_PRIVATE_HOSTS: '127.0.0.1' } });
  try {
    return await work(server);
  } finally {
    await server.kill();
  }
}

async function withReceiver<T>(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const receiver = createServer(respond).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    return await work(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  } finally {
    receiver.close();
    receiver.closeAllConnections();
  }
}

async function integrate({ target }: ServerProcess, url: string): Promise<void> {
  const events = ['feature-environment-enabled', 'feature-environment-disabled'];
  const body = { provider: 'webhook', enabled: true, parameters: { url }, events };
  await request(target, { method: 'POST', path: '/addons', body });
}
