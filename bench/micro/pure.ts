/** Without disk and network: the machines and their tables, encoding of frames, answers as JSON. */
import { transition } from 'xstate';
import { NEVER_SEEN } from '../../src/actors/usage-view.ts';
import { environmentSwitchMachine, nextSwitch } from '../../src/domain/flags/environment-switch.ts';
import { wholeFlag } from '../../src/http/admin/render-flag.ts';
import { projectOverview } from '../../src/http/admin/render-project.ts';
import type { Frame } from '../../src/persistence/journal/frame.ts';
import { OWN_STAMP } from '../../src/persistence/journal/frame-format.ts';
import { decodePayload, encodePayload } from '../../src/persistence/journal/frame-payload.ts';
import { flagName } from '../lib/servers/data-set.ts';
import type { MicroTask } from './micro-task.ts';
import { MicroWorld } from './micro-world.ts';

const FLAGS = 1_000;
const NOW_MS = Date.UTC(2024, 4, 1);

export function pureTasks(): MicroTask[] {
  return [...machineTasks(), ...frameTasks(), ...responseTasks()];
}

/** The same switch by the interpreter and by the table made from it: why the hot path uses the table. */
function machineTasks(): MicroTask[] {
  const context = { strategyCount: 2 };
  const before = environmentSwitchMachine.resolveState({ value: 'disabled', context });
  return [
    {
      name: 'switch by the XState machine',
      run: () => transition(environmentSwitchMachine, before, { type: 'ON' }),
    },
    { name: 'switch by the table made from it', run: () => nextSwitch(false, 'ON', 2), times: 1_000 },
  ];
}

/** A frame as `switch-environment` makes it. */
export function sampleFrame(id: number): Frame {
  const event = {
    type: 'feature-environment-enabled',
    project: 'default',
    featureName: flagName(id % FLAGS),
    environment: 'production',
    data: null,
    preData: null,
  };
  return { id, at: NOW_MS + id, by: 'bench', userId: -42, events: [event] };
}

function frameTasks(): MicroTask[] {
  const frame = sampleFrame(123_456);
  const payload = Buffer.from(encodePayload(frame));
  return [
    { name: 'encode a frame', run: () => encodePayload(frame), times: 100 },
    { name: 'decode a frame', run: () => decodePayload(payload, OWN_STAMP), times: 100 },
  ];
}

function responseTasks(): MicroTask[] {
  const micro = new MicroWorld(FLAGS);
  const { world, project } = micro;
  const record = micro.record(flagName(0));
  const sources = { world, seen: NEVER_SEEN };
  let turn = 0;
  return [
    {
      name: 'answer a flag, made anew',
      run: () => {
        record.slot.derived = null;
        return wholeFlag(sources, project, record);
      },
    },
    { name: 'answer a flag, kept', run: () => wholeFlag(sources, project, record), times: 1_000 },
    {
      name: `overview of ${FLAGS} flags, one changed`,
      run: () => {
        const enabled = turn++ % 2 === 0;
        const place = { project: 'default', flag: flagName(0), environment: 'production' };
        micro.carryOut({ type: 'switch-environment', ...place, enabled });
        return projectOverview(
          { ...sources, favorites: null, requester: { name: 'bench' }, bytesMax: 2 ** 26, now: NOW_MS },
          project,
        );
      },
    },
  ];
}
