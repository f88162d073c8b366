/** `flagstaff plan`, `apply` and `promote`: what files, or another environment, have otherwise than a server, and carrying it out. */
import { writeFileSync } from 'node:fs';
import * as v from 'valibot';
import { checkStorable, jsonEqual } from '../../domain/json/json.ts';
import type { AdminClient } from '../../host/admin-client.ts';
import { type AddCommand, type CommandContext, jsonText, withJson } from '../../host/command.ts';
import { CommandFailure, misuse } from '../../host/command-failure.ts';
import { count, printable } from '../../host/format.ts';
import { progressOn } from '../../host/progress.ts';
import { withServer } from '../../host/remote-server.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { carryOut, type Request } from './carry-out.ts';
import { type Change, ENVIRONMENT_FIELDS, partOf } from './flag-file.ts';
import { type ProjectPlan, planFiles, readProject, type Tell } from './plan.ts';
import { readFiles, textOf } from './read-files.ts';
import { changeSentence, conflictSentence } from './sentences.ts';

const EXITS = `
It ends with 2 where somebody else changed what the files would change; these parts stay as they are and are named.`;

interface Options {
  readonly prune?: boolean;
  readonly out?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export const addPlan: AddCommand = (program, context) => {
  const command = program
    .command('plan')
    .description('Show what files of flags would change on the server.')
    .argument('<files...>', 'files of flags, in YAML or JSON')
    .option('--prune', 'also archive the flags of the projects that no file has')
    .option('--out <file>', 'write the plan, for flagstaff apply');
  withJson(command)
    .addHelpText(
      'after',
      `${EXITS}\n\nExamples:\n  flagstaff plan flags.yaml\n  flagstaff plan flags.yaml --out plan.json`,
    )
    .action((paths: string[], options: Options) =>
      withServer(context, (client, url) => plan(context, client, url, paths, options)),
    );
};

async function plan(
  context: CommandContext,
  client: AdminClient,
  url: string,
  paths: readonly string[],
  options: Options,
): Promise<void> {
  const projects = await planned(context, client, paths, options);
  if (options.out !== undefined)
    writeFileSync(options.out, JSON.stringify({ format: PLAN_VERSION, url, projects }));
  context.terminal.out(options.json ? jsonText({ projects }) : textOfPlans(projects).join('\n'));
  finishDrift(context, projects);
}

function planned(
  context: CommandContext,
  client: AdminClient,
  paths: readonly string[],
  { prune = false }: Options,
): Promise<readonly ProjectPlan[]> {
  const files = readFiles(paths);
  return withProgress(context, (tell) => planFiles(client, files, { prunes: prune, tell }));
}

export const addApply: AddCommand = (program, context) => {
  const command = program
    .command('apply')
    .description('Make flags on the server as files of flags, or a plan of them, say.')
    .argument('<files...>', 'files of flags, or the plan that flagstaff plan --out wrote')
    .option('--prune', 'also archive the flags of the projects that no file has')
    .option('-y, --yes', 'ask nothing');
  withJson(command)
    .addHelpText(
      'after',
      `${EXITS} In an environment that takes change
requests, the result is a change request, whose address is printed.

Examples:
  flagstaff apply flags.yaml
  flagstaff apply plan.json --yes`,
    )
    .action((paths: string[], options: Options) =>
      withServer(context, (client, url) => apply(context, client, url, paths, options)),
    );
};

async function apply(
  context: CommandContext,
  client: AdminClient,
  url: string,
  paths: readonly string[],
  options: Options,
): Promise<void> {
  const projects = planIn(paths, url, options) ?? (await planned(context, client, paths, options));
  if (!options.json) context.terminal.out(textOfPlans(projects).join('\n'));
  const isAny = projects.some(({ changes }) => changes.length > 0);
  if (isAny && context.terminal.isInteractive && !options.yes) {
    const answer = await context.terminal.ask('Change this? [y/N] ');
    if (!/^y(?:es)?$/i.test(answer.trim())) throw misuse('Nothing was changed.');
  }
  await carryOutAll(context, client, url, projects, options);
}

async function carryOutAll(
  context: CommandContext,
  client: AdminClient,
  url: string,
  projects: readonly ProjectPlan[],
  { json }: Options,
): Promise<void> {
  const requests: Request[] = [];
  await withProgress(
    context,
    async (tell) => {
      for (const one of projects)
        if (one.changes.length > 0) requests.push(...(await carryOut(client, url, one, tell)));
    },
    'What was sent happens as a whole or not at all; plan again to see what is left.',
  );
  if (json) context.terminal.out(jsonText({ projects, requests }));
  else for (const request of requests) context.terminal.out(printable(requestSentence(request)));
  if (requests.some(({ isNew }) => !isNew)) context.finish(EXIT.drift);
  else finishDrift(context, projects);
}

const requestSentence = ({ environment, url, isNew }: Request): string =>
  isNew
    ? `Proposed the changes in ${environment}: ${url}`
    : `Nothing was proposed in ${environment}, because your change request there is open: ${url}`;

function finishDrift(context: CommandContext, projects: readonly ProjectPlan[]): void {
  if (projects.some(({ conflicts }) => conflicts.length > 0)) context.finish(EXIT.drift);
}

/** The format of plans in files, to which its version is added. */
const PLAN_FORMAT = 'flagstaff-plan-';
const PLAN_VERSION = `${PLAN_FORMAT}1`;
const PLAN_BYTES_MAX = 64 * 1024 * 1024;

/** No deeper than what the server takes, so that it can be shown. */
const Value = v.pipe(
  v.any(),
  v.check((value) => checkStorable(value) === null),
);

const PART = { flag: v.string(), environment: v.nullable(v.string()), field: v.string() };

const PlanSchema = v.object({
  format: v.literal(PLAN_VERSION),
  url: v.string(),
  projects: v.pipe(
    v.array(
      v.object({
        project: v.string(),
        changes: v.array(v.object({ ...PART, before: Value, after: Value })),
        conflicts: v.array(
          v.object({
            ...PART,
            event: v.nullable(v.object({ id: v.number(), createdBy: v.string(), createdAt: v.string() })),
          }),
        ),
      }),
    ),
    v.check((all) => new Set(all.map(({ project }) => project)).size === all.length),
  ),
});

/** The projects of a plan in a file; null where the file is none. The server checks each change of it again. */
function planIn(paths: readonly string[], url: string, { prune }: Options): readonly ProjectPlan[] | null {
  const [path = ''] = paths;
  if (!path.endsWith('.json')) return null;
  const text = textOf(path, PLAN_BYTES_MAX);
  if (!text.includes(`"${PLAN_FORMAT}`)) return null;
  if (paths.length > 1 || prune) throw misuse(`${path} is a plan, which is applied alone and as it is.`);
  const sent = v.safeParse(v.pipe(v.string(), v.parseJson(), PlanSchema), text);
  if (!sent.success)
    throw new CommandFailure(
      EXIT.damagedData,
      `${path}:1: this plan is damaged, or of another version; make another one.`,
    );
  const { url: of, projects } = sent.output;
  if (of !== url) throw misuse(`${path} is a plan for ${of}, and ${url} is another server.`);
  return projects as readonly ProjectPlan[];
}

export async function withProgress<T>(
  { terminal, monotonicMs }: CommandContext,
  work: (tell: Tell) => Promise<T>,
  left = 'Nothing was changed.',
): Promise<T> {
  const progress = progressOn(terminal, 'flags', monotonicMs);
  const interrupt = () => {
    progress.end();
    terminal.err(`flagstaff: Interrupted. ${left}`);
    process.exit(EXIT.interrupted);
  };
  process.once('SIGINT', interrupt);
  try {
    return await work((phase, done, total) => progress.show(phase, done, total));
  } finally {
    process.off('SIGINT', interrupt);
    progress.end();
  }
}

function textOfPlans(projects: readonly ProjectPlan[]): readonly string[] {
  return projects.flatMap(({ project, changes, conflicts }) => [
    changes.length === 0
      ? `Project ${project}: nothing to change.`
      : `Project ${project}: ${count(changes.length, 'change')}.`,
    ...changes.map((change) => `- ${changeSentence(change)}`),
    ...conflicts.map((conflict) => `! ${conflictSentence(conflict)}`),
  ]);
}

// `flagstaff promote`.

interface PromoteOptions extends Options {
  readonly from: string;
  readonly to: string;
  readonly project: string;
}

export const addPromote: AddCommand = (program, context) => {
  const command = program
    .command('promote')
    .description('Make flags in one environment as they are in another.')
    .argument('[flags...]', 'names of flags; all of the project unless given')
    .requiredOption('--from <environment>', 'the environment that has them')
    .requiredOption('--to <environment>', 'the environment that gets them')
    .option('--project <id>', 'the project of the flags', 'default')
    .option('--dry-run', 'show the differences, and change nothing')
    .option('-y, --yes', 'ask nothing');
  withJson(command)
    .addHelpText(
      'after',
      `
Strategies, variants and the switch are brought. A terminal asks which of the differences. Where the environment takes change
requests, they are proposed as one, whose address is printed.

Examples:
  flagstaff promote --from staging --to production --dry-run
  flagstaff promote --from staging --to production checkout search`,
    )
    .action((names: string[], options: PromoteOptions & { readonly dryRun?: boolean }) =>
      withServer(context, (client, url) => promote(context, client, url, names, options)),
    );
};

async function promote(
  context: CommandContext,
  client: AdminClient,
  url: string,
  names: readonly string[],
  options: PromoteOptions & { readonly dryRun?: boolean },
): Promise<void> {
  const { from, to, project } = options;
  if (from === to) throw misuse('Flags are promoted from one environment to another.');
  const { flags } = await withProgress(context, (tell) => readProject(client, project, tell));
  for (const name of names)
    if (flags.get(name)?.presence !== 'active')
      throw misuse(`The project "${project}" has no active flag "${name}".`);
  const wanted = names.length === 0 ? [...flags.keys()] : names;
  const changes = wanted.flatMap((flag): readonly Change[] => {
    const shown = flags.get(flag);
    for (const environment of [from, to])
      if (shown?.environments.every(({ name }) => name !== environment))
        throw misuse(`The project "${project}" does not have the environment "${environment}".`);
    return shown?.presence === 'active' ? differences(flag, shown, options) : [];
  });
  const { terminal } = context;
  if (!options.json) {
    const lines = changes.map((change, at) => `${at + 1}. ${changeSentence(change)}`);
    terminal.out(lines.length === 0 ? `Nothing differs between ${from} and ${to}.` : lines.join('\n'));
  }
  if (options.dryRun) {
    if (options.json) terminal.out(jsonText({ projects: [{ project, changes, conflicts: [] }] }));
    return;
  }
  const asks = terminal.isInteractive && !options.yes && changes.length > 0;
  const chosen = asks
    ? chosenOf(changes, await terminal.ask('Bring which? [all, none, or numbers] '))
    : changes;
  await carryOutAll(context, client, url, [{ project, changes: chosen, conflicts: [] }], options);
}

function differences(
  flag: string,
  shown: Parameters<typeof partOf>[0],
  { from, to }: PromoteOptions,
): readonly Change[] {
  return (Object.keys(ENVIRONMENT_FIELDS) as (keyof typeof ENVIRONMENT_FIELDS)[]).flatMap((field) => {
    const before = partOf(shown, { environment: to, field });
    const after = partOf(shown, { environment: from, field });
    return jsonEqual(before, after) ? [] : [{ flag, environment: to, field, before, after }];
  });
}

function chosenOf(changes: readonly Change[], answer: string): readonly Change[] {
  const text = answer.trim().toLowerCase();
  if (text === 'all') return changes;
  if (text === '' || text === 'none') throw misuse('Nothing was changed.');
  const numbers = text.split(/[\s,]+/).map(Number);
  const wrong = numbers.find((one) => !Number.isInteger(one) || one < 1 || one > changes.length);
  if (wrong !== undefined) throw misuse(`The numbers are from 1 to ${changes.length}. Nothing was changed.`);
  return changes.filter((_, at) => numbers.includes(at + 1));
}
