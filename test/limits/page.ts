/** The page docs/limits.md, made of the table of limits. */
import { join } from 'node:path';
import { OTHERS_BYTES, YOUNG_BYTES } from '../../src/actors/memory-budget.ts';
import { ROOT_FOLDER } from '../support/server.ts';
import {
  BESIDE_PARTS,
  bytes,
  heapShares,
  type LimitSection,
  PROGRAM_BYTES,
  processBytes,
  SECTIONS,
  totalOf,
} from './rows.ts';

export const LIMITS_PAGE = join(ROOT_FOLDER, 'docs/limits.md');

const INTRODUCTION = `# Limits and budgets

Everything that waits, is cached, or comes from a client is bounded; \`/docs\` has the lengths of names and texts.
`;

export function limitsPage(): string {
  // The rows cite pages by their paths in the repository, as all sources do.
  return [INTRODUCTION, ...SECTIONS.map(sectionText), sumOfMemory()].join('\n').replaceAll('](docs/', '](');
}

const MIB = 2 ** 20;

/** Heaps of `--max-old-space-size` as it is in a small container, and in a large one. */
export const OLD_SPACES_MIB = [512, 4096];

function sumOfMemory(): string {
  const shares = OLD_SPACES_MIB.map((mib) => heapShares(mib * MIB));
  const mib = (count: number): string => `${Math.floor(count / MIB)} MiB`;
  const line = (what: string, take: (one: (typeof shares)[number]) => number): string =>
    `| ${what} | ${shares.map((one) => mib(take(one))).join(' | ')} |`;
  return `## Sum of the memory
The parts of V8's heap add up to what it may use. With \`--max-semi-space-size=16\`, as in \`npm start\`:

| part | ${OLD_SPACES_MIB.map((one) => `\`--max-old-space-size=${one}\``).join(' | ')} |
|---|---|---|
${line('young objects', () => YOUNG_BYTES)}
${line('the state', ({ state }) => state)}
${line('the cache', ({ cache }) => cache)}
${line('others', () => OTHERS_BYTES)}
${line('requests under way, and garbage', ({ work }) => work)}
${line('all', ({ heap }) => heap)}
${line('the process, with what is outside the heap', ({ heap }) => processBytes(heap))}

Others are responses for \`Idempotency-Key\`, regular expressions, changes, counts and applications. Outside the heap are some ${bytes(PROGRAM_BYTES)} for the program, 36 bytes an event, some of the cache, and at most ${bytes(totalOf(BESIDE_PARTS))} of responses, bodies, waiting requests, and changes not on disk yet.
Below 512 MiB of old objects the state gets an eighth of the heap, and the others do not all fit.
`;
}

/** Limits without a setting have no column for one; where only some have one, it stands behind the number. */
function sectionText({ title, introduction, last = 'beyond it', rows }: LimitSection): string {
  const allSettings = rows.every(({ setting }) => setting !== null);
  const lines = rows.map(({ counted, limit, setting, beyond }) => {
    const name = setting === null ? '' : ` (\`${setting}\`)`;
    const cells = allSettings
      ? [counted, limit, `\`${setting}\``, beyond]
      : [counted, `${limit}${name}`, beyond];
    return `| ${cells.join(' | ')} |`;
  });
  const head = allSettings ? ['counted', 'limit', 'setting', last] : ['counted', 'limit', last];
  return [
    `## ${title}`,
    introduction,
    '',
    `| ${head.join(' | ')} |`,
    `|${'---|'.repeat(head.length)}`,
    ...lines,
    '',
  ].join('\n');
}
