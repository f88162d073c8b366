/**
 * The total cost of the expensive checks of one request: without it, 1 MiB of small expensive
 * values would hold the event loop for a quarter of a second. The budget goes through valibot with the configuration of a run.
 */
import type * as v from 'valibot';

type Config = v.Config<v.BaseIssue<unknown>>;

/** Half a microsecond each: what the constraints of one strategy need at most, unless settings say otherwise, and 16 ms. */
export const CHECK_UNITS_MAX = 32 * 1024;

/** The configuration of one run, with what is left for it. Schemas pass it on as it is, or, where a run has no budget, another one. */
interface Budgeted extends Config {
  unitsLeft: number;
}

/** Parses as `v.safeParse` does, within a budget of its own. */
export function parseInBudget<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
): v.OutputDataset<T, v.BaseIssue<unknown>> {
  const config: Budgeted = { unitsLeft: CHECK_UNITS_MAX };
  return schema['~run']({ value }, config);
}

/** Takes the units from the budget of the run; false when so many are not left. Runs without a budget may do anything. */
export function spendUnits(config: Config, units: number): boolean {
  const { unitsLeft } = config as Partial<Budgeted>;
  if (unitsLeft === undefined) return true;
  (config as Budgeted).unitsLeft = unitsLeft - units;
  return units <= unitsLeft;
}
