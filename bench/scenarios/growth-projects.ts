/** The same flags in more and more projects: reads and switches go to all of them in turn. */

import { type Operation, toggles } from '../lib/load/operation.ts';
import type { BenchRun, Measurement, Scenario } from '../lib/measurement.ts';
import { runPaired } from '../lib/paired.ts';
import { askProbe } from '../lib/servers/ask-probe.ts';
import { FLAG_ENVIRONMENT, flagName, projectName } from '../lib/servers/data-set.ts';
import { type GrowingServer, load, withGrowing } from '../lib/servers/growing-server.ts';

/** Enough for every project to be among them, and for no two requests under way to meet. */
const FLAGS_IN_TURN_MAX = 2_000;

export const growthProjects: Scenario = {
  name: 'growth-projects',
  title: 'More projects',
  async run(bench) {
    const { projectSizes, flagsAmongProjects: flags } = bench.effort;
    return withGrowing(bench, { flags, projects: 1, events: 0 }, async (reference) => {
      const measurements: Measurement[] = [];
      for (const projects of projectSizes) {
        const values = await withGrowing(bench, { flags, projects, events: 0 }, (server) =>
          measured(bench, server, reference),
        );
        bench.say(
          `${projects} projects: reads ${percent(values.readRatio)}, switches ${percent(values.toggleRatio)}`,
        );
        measurements.push({ table: 'projects', what: `${flags} flags`, at: projects, values });
      }
      return measurements;
    });
  },
};

const percent = (share: number): string => `${Math.round(share * 100)} %`;

async function measured(bench: BenchRun, server: GrowingServer, reference: GrowingServer) {
  const { heap, rss } = await askProbe(server.process, 'memory');
  const pair = (operationOf: (server: GrowingServer) => Operation) =>
    runPaired(
      bench.effort.rounds,
      () => load(bench, server, operationOf(server)),
      () => load(bench, reference, operationOf(reference)),
    );
  const read = await pair(reads);
  const toggle = await pair(switches);
  return {
    startMs: server.startMs,
    heap,
    rss,
    readPerSecond: read.ours.perSecond,
    readRatio: read.share,
    togglePerSecond: toggle.ours.perSecond,
    toggleRatio: toggle.share,
  };
}

function flagPaths({ set }: GrowingServer): string[] {
  return Array.from({ length: Math.min(set.flags, FLAGS_IN_TURN_MAX) }, (_, number) => {
    const project = projectName(number % set.projects);
    return `/projects/${project}/features/${flagName(number)}`;
  });
}

function reads(server: GrowingServer): Operation {
  return { requests: flagPaths(server).map((path) => ({ method: 'GET', path })) };
}

function switches(server: GrowingServer): Operation {
  return { requests: toggles(flagPaths(server).map((path) => `${path}/environments/${FLAG_ENVIRONMENT}`)) };
}
