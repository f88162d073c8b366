/**
 * Runs the long forms of the fault tests: `npm run test:faults`, or some of them by name. Ends with 1 when one fails.
 * `--first 17 --total 1` runs one from its 17th step, or seed, on, and that many steps of it.
 *
 * FAULTS_BUDGET_SECONDS bounds the time: what is left of it is shared evenly by the forms that are left. A form whose
 * smallest batch takes longer than its share is skipped, and says so. With `--record`, what was counted is kept for docs/reliability.md (render.ts writes that page).
 */
import { parseArgs } from 'node:util';
import { type Counted, keepCounts } from './counts.ts';
import { type Counts, LONG_FORMS, type LongForm } from './long-forms.ts';

const { values, positionals } = parseArgs({
  options: {
    record: { type: 'boolean', default: false },
    first: { type: 'string', default: '1' },
    total: { type: 'string' },
  },
  allowPositionals: true,
});
const budgetSeconds = Number(process.env.FAULTS_BUDGET_SECONDS ?? Number.POSITIVE_INFINITY);
const startedAt = performance.now();
const secondsGone = (): number => (performance.now() - startedAt) / 1000;

/** Names of counts of which the largest of several batches counts, not the sum. */
const LARGEST = /Most|slowest|Bytes/;

function add(sum: Counts, more: Counts): Counts {
  const added: Record<string, number> = { ...sum };
  for (const [name, count] of Object.entries(more)) {
    const before = added[name] ?? 0;
    added[name] = LARGEST.test(name) ? Math.max(before, count) : before + count;
  }
  return added;
}

function whyTooLong({ leastSeconds }: LongForm, share: number): string | null {
  if (leastSeconds === undefined || share >= leastSeconds) return null;
  return `it takes ${leastSeconds} s; ${Math.max(0, Math.floor(share))} s of the budget are its share`;
}

async function runForm(form: LongForm, formsLeft: number): Promise<Counted> {
  const begunAt = secondsGone();
  const share = (budgetSeconds - begunAt) / formsLeft;
  const reason = form.skipped?.() ?? whyTooLong(form, share);
  const total = Number(values.total ?? form.total);
  if (reason !== null) return { skipped: reason, done: 0, total, seconds: 0, counts: {} };
  let done = 0;
  let counts: Counts = {};
  while (done < total && (done === 0 || secondsGone() - begunAt < share)) {
    const count = Math.min(form.batch, total - done);
    const first = done + Number(values.first);
    const ran = await form.run(count, first).catch((cause: unknown) => {
      throw new Error(`'${form.name}' --first ${first} --total ${count} fails`, { cause });
    });
    counts = add(counts, ran);
    done += count;
  }
  return { skipped: null, done, total, seconds: Math.round(secondsGone() - begunAt), counts };
}

const forms = LONG_FORMS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const results: Record<string, Counted> = {};
for (const [index, form] of forms.entries()) {
  try {
    const result = await runForm(form, forms.length - index);
    results[form.name] = result;
    const { done, total, seconds, skipped, counts } = result;
    const what = skipped ?? `${done} of ${total} in ${seconds} s  ${JSON.stringify(counts)}`;
    console.log(`${form.name.padEnd(16)} ${what}`);
  } catch (error) {
    console.log(`${form.name.padEnd(16)} FAILED`);
    console.error(error);
    process.exitCode = 1;
  }
}
if (values.record) keepCounts(results);
