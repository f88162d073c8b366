/** The parts by themselves, by tinybench: where the time of a request goes, and what a change of one part does. */
import { Bench } from 'tinybench';
import type { BenchRun, Measurement, Scenario } from '../lib/measurement.ts';
import { commandTasks } from '../micro/commands.ts';
import { diskTasks } from '../micro/disk.ts';
import { evaluationTasks } from '../micro/evaluation.ts';
import type { MicroTask } from '../micro/micro-task.ts';
import { pureTasks } from '../micro/pure.ts';

export const micro: Scenario = {
  name: 'micro',
  title: 'The parts by themselves',
  async run(bench) {
    const tasks = [...commandTasks(), ...pureTasks(), ...evaluationTasks(), ...(await diskTasks(bench))];
    const measurements: Measurement[] = [];
    for (const task of tasks) measurements.push(await measure(task, bench));
    return measurements;
  },
};

async function measure(task: MicroTask, { effort, say }: BenchRun): Promise<Measurement> {
  const time = effort.microMs;
  // A fixed number of turns in tests: a clock's resolution is no reason for one to take longer.
  const iterations = time === 0 ? 2 : 8;
  const bench = new Bench({
    time,
    iterations,
    warmupTime: time / 3,
    warmupIterations: iterations,
    throws: true,
  });
  bench.add(task.name, sample(task));
  await bench.run();
  await task.end?.();
  const [done] = bench.tasks;
  if (done?.result.state !== 'completed') throw new Error(`${task.name} did not complete`);
  const { p50, mean, p99 } = done.result.latency;
  // Milliseconds of a sample → nanoseconds of one.
  const scale = 1e6 / (task.times ?? 1);
  const values = { p50: p50 * scale, mean: mean * scale, p99: p99 * scale };
  say(`${task.name}: ${Math.round(values.p50).toLocaleString('en')} ns`);
  return { table: 'micro', what: task.name, at: null, values };
}

/** Not wrapped in a promise unless the task makes one: that would cost more than most of them. */
function sample({ run, times = 1 }: MicroTask): () => unknown {
  if (times === 1) return run;
  return () => {
    let last: unknown;
    for (let count = 0; count < times; count += 1) last = run();
    return last;
  };
}
