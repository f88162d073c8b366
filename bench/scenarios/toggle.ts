/**
 * POST on and off: the smallest durable write. For a client that is alone, the disk is most of it; so its median is
 * also held against one write and sync of the same bytes, taken in turn with it.
 */

import { medianSyncMs } from '../lib/disk-probe.ts';
import { type ExtraParts, httpScenario } from '../lib/http-scenario.ts';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import { toggles } from '../lib/load/operation.ts';
import type { Measurement } from '../lib/measurement.ts';
import { environmentPath, flagsInTurn } from '../lib/paths.ts';
import { median } from '../lib/statistics.ts';

/** Bytes of the frame of a switch in the journal. */
const FRAME_BYTES = 160;

export const toggle = httpScenario({
  name: 'toggle',
  title: 'Switch a flag',
  limit: 'group-commit',
  goalConnections: [64, 256],
  prepare: async (_, load) => ({ requests: toggles(flagsInTurn(load).map(environmentPath)) }),
  extra: async (parts) => [await alone(parts)],
});

async function alone({ bench, server, flags }: ExtraParts): Promise<Measurement> {
  const { folder, effort } = bench;
  const operation = { requests: toggles(flagsInTurn({ flags, connections: 1 }).map(environmentPath)) };
  const load = { target: server.target, operation, connections: 1, seconds: effort.runSeconds, folder };
  const rounds: { readonly toggleMs: number; readonly syncMs: number }[] = [];
  for (let round = 0; round < effort.roundsForGoals; round += 1) {
    const toggleMs = (await runClosedLoop(load)).p50;
    rounds.push({ toggleMs, syncMs: medianSyncMs(folder, FRAME_BYTES) });
  }
  const values = {
    toggleMs: median(rounds.map(({ toggleMs }) => toggleMs)),
    syncMs: median(rounds.map(({ syncMs }) => syncMs)),
    ratio: median(rounds.map(({ toggleMs, syncMs }) => toggleMs / syncMs)),
  };
  bench.say(`toggle alone: ${values.toggleMs.toFixed(2)} ms, one sync ${values.syncMs.toFixed(2)} ms`);
  return { table: 'alone', what: 'toggle', at: null, values };
}
