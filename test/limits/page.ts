/** The page docs/limits.md, made of the table of limits. */
import { join } from 'node:path';
import { ROOT_FOLDER } from '../support/server.ts';
import { type LimitSection, SECTIONS } from './rows.ts';

export const LIMITS_PAGE = join(ROOT_FOLDER, 'docs/limits.md');

const INTRODUCTION = `# Limits and budgets

Everything that waits, or is kept, or comes from a client is bounded. This page lists the limits with their defaults, their settings if
they have one, and what happens beyond them. The lengths of single names and texts stand in the description of the interface, under
\`/docs\`. \`test/limits/render.ts\` writes this page from the constants of the code. The rules behind the limits
are in the [specification](specification/limits.md). Settings are environment variables.
`;

export function limitsPage(): string {
  return `${[INTRODUCTION, ...SECTIONS.map(sectionText)].join('\n')}`;
}

function sectionText({ title, introduction, rows }: LimitSection): string {
  const lines = rows.map(({ counted, limit, setting, beyond }) => {
    const name = setting === null ? '–' : `\`${setting}\``;
    return `| ${counted} | ${limit} | ${name} | ${beyond} |`;
  });
  const head = ['| what is counted | limit | setting | beyond it |', '|---|---|---|---|'];
  return [`## ${title}`, introduction, '', ...head, ...lines, ''].join('\n');
}
