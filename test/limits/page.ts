/** The page docs/limits.md, made of the table of limits. */
import { join } from 'node:path';
import { OTHERS_BYTES, YOUNG_BYTES } from '../../src/actors/memory-budget.ts';
import { ROOT_FOLDER } from '../support/server.ts';
import {
  BESIDE_PARTS,
  bytes,
  heapShares,
  type LimitSection,
  OTHER_PARTS,
  SECTIONS,
  totalOf,
} from './rows.ts';

export const LIMITS_PAGE = join(ROOT_FOLDER, 'docs/limits.md');

const INTRODUCTION = `# Limits and budgets

Everything that waits, is cached, or comes from a client is bounded. This page has the limits with their defaults, their settings, and what happens beyond them. The description of the interface under
\`/docs\` has the lengths of names and texts, the [specification](specification/limits.md) the rules. \`test/limits/render.ts\` writes this page from the constants of the code.
`;

/** Measured, not made of constants. */
const ROOM_AT_THE_TOP = `## Room at the top
\`npm run bench:top -- --flags 1000000 --events 20000000 --heap 12288\` makes such a folder, with 4.8 GB of journal, and uses it. On two processors with a load of 4 to 10 of other work, so
that times are long:

| what | 1,000,000 flags, 20,000,000 events |
|---|---|
| start, until \`/ready\` | 24–28 s, of which 15.5 s of processor time, before searches waited for the index; 6.8 s of processor time with 3,000,000 events since |
| memory once all flags are decoded | 2.9 GiB of heap, 3.75 GiB resident |
| reads of single flags, 64 connections | 14,700 a second |
| durable switches, 64 connections | 21,200 a second |
| search for events by type, project or flag | 1.3–2.2 ms |
| search for a text in all events | 4.7 s |
| overview of a project with all flags | 503 at the deadline of 30 s, or 413: ask for pages of \`/api/admin/search/features\` |
| a snapshot when 256 flags were switched since the last one, with 3,000,000 events | 23–24 s, of which 4 s of processor time; the first one after a start, which decodes all flags, 124 s and 36 s |
| beyond the memory budget | a new flag gets 507, a switch 200 |

After such a start the server reads 4.8 GB of old history ([operating.md](operating.md)) in the background. It takes \`--max-old-space-size\` of 6 GiB and more; the memory budget follows from it.
`;

export function limitsPage(): string {
  return [INTRODUCTION, ...SECTIONS.map(sectionText), sumOfMemory(), ROOM_AT_THE_TOP].join('\n');
}

const MIB = 2 ** 20;

/** Heaps of `--max-old-space-size` as it is in a small container, and in a large one. */
export const OLD_SPACES_MIB = [512, 4096];

function sumOfMemory(): string {
  const shares = OLD_SPACES_MIB.map((mib) => heapShares(mib * MIB));
  const mib = (count: number): string => `${Math.floor(count / MIB)} MiB`;
  const line = (what: string, take: (one: (typeof shares)[number]) => number): string =>
    `| ${what} | ${shares.map((one) => mib(take(one))).join(' | ')} |`;
  const listed = (parts: typeof OTHER_PARTS): string =>
    parts.map(([what, count]) => `${what} ${bytes(count)}`).join('; ');
  return `## Sum of the memory
The parts of V8's heap add up to what it may use, with the default settings and with any that a start accepts. These are the figures with
\`--max-semi-space-size=64\`, as \`npm start\` runs the server. Without it V8 has 144 MiB less in all, and the state 72 MiB less:

| part | ${OLD_SPACES_MIB.map((one) => `\`--max-old-space-size=${one}\``).join(' | ')} |
|---|---|---|
${line('young objects', () => YOUNG_BYTES)}
${line('the state', ({ state }) => state)}
${line('the cache', ({ cache }) => cache)}
${line('others', () => OTHERS_BYTES)}
${line('requests under way, and garbage', ({ work }) => work)}
${line('all', ({ heap }) => heap)}

The others are at most: ${listed(OTHER_PARTS)}.

Beside the heap the process takes some 80 MiB for its program, 36 bytes for each event, and at most: ${listed(BESIDE_PARTS)}; in all
${bytes(totalOf(BESIDE_PARTS))}. Some of the cache is there too. With less than 512 MiB for old objects, the state gets an eighth of the heap, and the others do not all
fit at their most.
`;
}

function sectionText({ title, introduction, rows }: LimitSection): string {
  const lines = rows.map(({ counted, limit, setting, beyond }) => {
    const name = setting === null ? '–' : `\`${setting}\``;
    return `| ${counted} | ${limit} | ${name} | ${beyond} |`;
  });
  const head = ['| what is counted | limit | setting | beyond it |', '|---|---|---|---|'];
  return [`## ${title}`, introduction, '', ...head, ...lines, ''].join('\n');
}
