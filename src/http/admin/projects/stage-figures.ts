/** How many flags are in which stage of their life, and for how long (docs/specification/flags.md#lifecycle). */
import { STAGES, type StageName } from '../../../domain/flags/lifecycle.ts';
import type { Refusal } from '../../../domain/state/refusal.ts';
import type { ProjectState } from '../../../domain/state/world.ts';
import type { RequestContext } from '../../serving/route.ts';
import { inSlices } from '../../serving/slices.ts';
import { stagesView } from '../views/lifecycle-view.ts';
import { flagsNow } from '../views/shelf-walk.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LATELY_MS = 30 * DAY_MS;

interface StageSum {
  /** Flags that are in it. */
  current: number;
  /** Flags that have entered it, whether or not they have left it. */
  entered: number;
  /** That all of them have been in it. */
  ms: number;
  /** Flags in it that have entered it in the last 30 days. */
  lately: number;
}

export type StageFigures = Readonly<Record<StageName, Readonly<StageSum>>>;

/** Over all flags of the projects, in slices. */
export async function stageFigures(
  { world, usage, reads, asker, now }: RequestContext<unknown>,
  projects: Iterable<ProjectState>,
): Promise<StageFigures | Refusal> {
  const nowMs = now();
  const flags = flagsNow(projects);
  return reads.walk(async () => {
    const sums = Object.fromEntries(
      STAGES.map((stage) => [stage, { current: 0, entered: 0, ms: 0, lately: 0 }]),
    ) as Record<StageName, StageSum>;
    await inSlices(() => {
      const { done, value } = flags.next();
      if (done === true) return true;
      const { flag } = value.record;
      const stages = stagesView(world, flag, usage.seen.flag(flag.name));
      for (const [at, { stage, enteredStageAt }] of stages.entries()) {
        const sum = sums[stage];
        const enteredMs = Date.parse(enteredStageAt);
        const next = stages[at + 1];
        sum.entered += 1;
        sum.ms += Math.max(0, (next === undefined ? nowMs : Date.parse(next.enteredStageAt)) - enteredMs);
        if (next !== undefined) continue;
        sum.current += 1;
        if (nowMs - enteredMs <= LATELY_MS) sum.lately += 1;
      }
      return false;
    }, asker);
    return sums;
  }, asker);
}

export function stageSummary(figures: StageFigures) {
  const shown = ({ current, entered, ms }: StageSum) => ({
    averageDays: entered === 0 ? null : Math.round((10 * ms) / entered / DAY_MS) / 10,
    currentFlags: current,
  });
  return {
    initial: shown(figures.initial),
    preLive: shown(figures['pre-live']),
    live: shown(figures.live),
    completed: shown(figures.completed),
    archived: { currentFlags: figures.archived.current, last30Days: figures.archived.lately },
  };
}
