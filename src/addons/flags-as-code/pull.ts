/** `flagstaff pull`: writes what flags are on the server into files, with the comments and the order that these have. */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { Document, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { jsonEqual } from '../../domain/json/json.ts';
import { type AddCommand, type CommandContext, jsonText, withJson } from '../../host/command.ts';
import { misuse } from '../../host/command-failure.ts';
import { count } from '../../host/format.ts';
import { withServer } from '../../host/remote-server.ts';
import { withProgress } from './commands.ts';
import {
  ENVIRONMENT_FIELDS,
  FIELDS,
  type Field,
  type FileFlag,
  FLAG_FIELDS,
  INITIAL,
  type ShownFlag,
} from './flag-file.ts';
import { readProject } from './plan.ts';
import { type ReadFile, readFiles, readFlagFile } from './read-files.ts';

interface PullOptions {
  readonly project?: string;
  readonly json?: boolean;
}

export const addPull: AddCommand = (program, context) => {
  const command = program
    .command('pull')
    .description('Write what flags are on the server into files of flags.')
    .argument(
      '<files...>',
      'all files of one project; flags that none has go into the last, which may be a new file',
    )
    .option('--project <id>', 'the project of a new file (default: that of the other files, else default)');
  withJson(command)
    .addHelpText(
      'after',
      `
Comments and the order of what is there stay. A flag that a file has gets the fields and the environments that it has there; a flag
that is no longer on the server leaves its file.

Examples:
  flagstaff pull flags.yaml
  flagstaff pull --project shop shop.yaml`,
    )
    .action((paths: string[], options: PullOptions) => pull(context, paths, options));
};

async function pull(context: CommandContext, paths: readonly string[], options: PullOptions): Promise<void> {
  const newest = paths.filter((path) => !existsSync(path));
  if (newest.length > 1 || (newest.length === 1 && newest[0] !== paths.at(-1)))
    throw misuse(`Only the last file may be a new one; there is no ${newest[0]}.`);
  const files = readFiles(paths.filter((path) => existsSync(path)));
  const projects = new Set([
    ...files.map(({ file }) => file.project),
    ...(options.project === undefined ? [] : [options.project]),
  ]);
  const [project = 'default'] = projects;
  if (projects.size > 1) throw misuse(`The files are of several projects: ${[...projects].join(', ')}.`);
  const all = [...files, ...newest.map((path) => newFile(path, project))];
  const { flags, eventId } = await withServer(context, (client) =>
    withProgress(context, (tell) => readProject(client, project, tell)),
  );
  const active = [...flags.values()].filter(({ presence }) => presence === 'active');
  const named = new Set(all.flatMap(({ file }) => file.flags.map(({ name }) => name)));
  // In the order in which they were created, in which an apply elsewhere creates them.
  const added = active.filter(({ name }) => !named.has(name));
  const texts = all.map((one, at) => {
    const own = one.file.flags.flatMap((flag) => {
      const shown = flags.get(flag.name);
      return shown?.presence === 'active' ? [likeBefore(shown, flag)] : [];
    });
    const managed = new Set(one.file.managed);
    const others = at === all.length - 1 ? added.map((shown) => whole(shown, managed)) : [];
    return { path: one.path, text: textWith(one, [...own, ...others], eventId) };
  });
  // All of them are read back before one is written.
  for (const { path, text } of texts) readFlagFile(path, text);
  for (const { path, text } of texts) {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }
  const result = { project, eventId, flags: active.length, files: paths };
  context.terminal.out(
    options.json
      ? jsonText(result)
      : `Wrote ${count(active.length, 'flag')} of the project ${project} as of event ${eventId}.`,
  );
}

function newFile(path: string, project: string): ReadFile {
  return readFlagFile(path, JSON.stringify({ project, flags: [] }));
}

type Written = Readonly<Record<string, unknown>> & { readonly name: string };
type Here = ShownFlag['environments'][number];

const ENVIRONMENT_NAMES = Object.keys(ENVIRONMENT_FIELDS) as (keyof typeof ENVIRONMENT_FIELDS)[];

/** The parts that the file has of the flag. */
function likeBefore(shown: ShownFlag, before: FileFlag): Written {
  const fields = Object.keys(FLAG_FIELDS).filter((field) => before[field as keyof FileFlag] !== undefined);
  const environments = before.environments.flatMap((one) => {
    const here = shown.environments.find(({ name }) => name === one.name);
    return here === undefined
      ? []
      : [
          inFile(
            here,
            ENVIRONMENT_NAMES.filter((field) => one[field] !== undefined),
          ),
        ];
  });
  const written = Object.fromEntries(fields.map((field) => [field, shown[field]]));
  return { name: shown.name, ...written, ...(before.environments.length === 0 ? {} : { environments }) };
}

/** All that the file manages, without what a new flag has by itself. */
function whole(shown: ShownFlag, managed: ReadonlySet<Field>): Written {
  const fields = (Object.keys(FLAG_FIELDS) as Field[]).filter(
    (field) => managed.has(field) && (field === 'type' || !jsonEqual(shown[field], INITIAL[field])),
  );
  const names = ENVIRONMENT_NAMES.filter((field) => managed.has(field));
  const environments = shown.environments.map((here) =>
    inFile(
      here,
      names.filter((field) => field !== 'variants' || here.variants.length > 0),
    ),
  );
  const written = Object.fromEntries(fields.map((field) => [field, shown[field]]));
  return { name: shown.name, ...written, ...(names.length === 0 ? {} : { environments }) };
}

const STRATEGY_INITIAL: Readonly<Record<string, unknown>> = {
  ...{ title: null, disabled: false, constraints: [], parameters: {}, variants: [], segments: [] },
};

function inFile(here: Here, fields: readonly (keyof typeof ENVIRONMENT_FIELDS)[]): Written {
  const parts = fields.map((field) => {
    if (field !== 'strategies') return [field, here[field]];
    const shortened = here.strategies.map((one) =>
      Object.fromEntries(
        Object.entries(one).filter(
          ([key, value]) => !(key in STRATEGY_INITIAL && jsonEqual(value, STRATEGY_INITIAL[key])),
        ),
      ),
    );
    return [field, shortened];
  });
  return { name: here.name, ...Object.fromEntries(parts) };
}

/** JSON stays JSON. */
function textWith({ path, text, file }: ReadFile, flags: readonly Written[], eventId: number): string {
  if (path.endsWith('.json')) {
    const { $schema, project, managed } = file;
    const isPartial = managed.length < FIELDS.length;
    const head = { ...($schema && { $schema }), project, base: eventId, ...(isPartial && { managed }) };
    return `${JSON.stringify({ ...head, flags }, null, 2)}\n`;
  }
  const document = parseDocument(text, { uniqueKeys: false });
  const target =
    isMap(document.contents) && document.contents.flow !== true
      ? document
      : new Document({ project: file.project });
  target.set('base', eventId);
  const list = target.get('flags', true);
  if (isSeq(list)) merge(target, list, flags);
  else target.set('flags', target.createNode(flags));
  return target.toString({ lineWidth: 0 });
}

/** Makes the node hold the value, and leaves nodes that do already as they are, with their comments. */
function merge(document: Document, node: YAMLMap | YAMLSeq, value: unknown): void {
  if (isSeq(node)) mergeList(document, node, value as readonly unknown[]);
  else {
    const fields = value as Readonly<Record<string, unknown>>;
    for (const { key } of [...node.items])
      if (!((isScalar(key) ? String(key.value) : '') in fields)) node.delete(key);
    for (const [key, one] of Object.entries(fields)) {
      const merged = mergedNode(document, node.get(key, true) as Node | undefined, one);
      if (merged !== null) node.set(key, merged);
    }
  }
}

/** Items go by their names, or else by their places. */
function mergeList(document: Document, node: YAMLSeq, value: readonly unknown[]): void {
  const before = node.items as Node[];
  const nameOf = (one: unknown) =>
    isMap(one) ? one.get('name') : (one as { readonly name?: unknown } | null)?.name;
  const byName = new Map(before.map((one) => [nameOf(one), one]));
  const isNamed = byName.size === before.length && !byName.has(undefined);
  if (before.length === 0 && value.length > 0) node.flow = false;
  node.items = value.map((one, at) => {
    const present = isNamed ? byName.get(nameOf(one)) : before[at];
    return mergedNode(document, present, one) ?? present;
  });
}

/** The node to put there; null where the one that is there has the value by now. */
function mergedNode(document: Document, present: Node | undefined, value: unknown): Node | null {
  const isList = Array.isArray(value);
  if (isList ? isSeq(present) : isMap(present) && typeof value === 'object' && value !== null) {
    merge(document, present as YAMLMap | YAMLSeq, value);
    return null;
  }
  if (isScalar(present) && present.value === value) return null;
  return document.createNode(value);
}
