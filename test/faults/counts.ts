/** The counts of the fault tests when they ran last with `--record`: the numbers of docs/reliability.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('../../docs/reliability.json', import.meta.url));

export interface Counted {
  /** Why it was not run; null when it was. */
  readonly skipped: string | null;
  readonly done: number;
  readonly total: number;
  readonly seconds: number;
  readonly counts: Readonly<Record<string, number>>;
}

export interface Recorded {
  /** By the name of the long form. */
  readonly longForms: Readonly<Record<string, Counted>>;
}

export function recordedCounts(): Recorded {
  if (!existsSync(FILE)) return { longForms: {} };
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recorded;
}

/** Replaces what was run; the rest stays as it was counted before. */
export function keepCounts(longForms: Readonly<Record<string, Counted>>): void {
  const after: Recorded = { longForms: { ...recordedCounts().longForms, ...longForms } };
  writeFileSync(FILE, `${JSON.stringify(after, null, 2)}\n`);
}
