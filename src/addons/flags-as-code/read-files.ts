/**
 * Reads files of flags, in YAML or JSON. A file that cannot be used ends the command with one sentence that names the file and the line.
 * Its bytes and the characters that begin a value are counted before it is parsed, so it takes neither much memory nor much time.
 */
import { readFileSync, statSync } from 'node:fs';
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml';
import * as v from 'valibot';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { issuesOf } from '../../domain/json/issues.ts';
import { CommandFailure, misuse } from '../../host/command-failure.ts';
import { bytesText, numberText, printable } from '../../host/format.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { type FlagFile, FlagFileSchema } from './flag-file.ts';

/** Long descriptions and lists of values are large, and cheap to parse. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
/** Bounds memory to 200 MB with the program. Every value of YAML stands behind one of `VALUE_STARTS`. */
const VALUES_MAX = 100_000;
const VALUE_STARTS = new Set(Array.from('\n:,[{', (character) => character.charCodeAt(0)));

export interface ReadFile {
  readonly path: string;
  readonly text: string;
  readonly file: FlagFile;
}

/** All of the files, of which no two have the same flag. */
export function readFiles(paths: readonly string[]): readonly ReadFile[] {
  const files = paths.map((path) => readFlagFile(path, textOf(path)));
  const holders = new Map<string, string>();
  for (const { path, file } of files) {
    for (const { name } of file.flags) {
      const other = holders.get(name);
      if (other !== undefined)
        throw misuse(`Two of the files have the flag "${name}": ${other} and ${path}.`);
      holders.set(name, path);
    }
  }
  return files;
}

/** Throws before a large file is read. */
export function textOf(path: string, bytesMax = FILE_BYTES_MAX): string {
  const { size } = statSync(path);
  if (size > bytesMax)
    throw new CommandFailure(
      EXIT.damagedData,
      `${path}:1: a file of flags has at most ${bytesText(bytesMax)}, and this one ${bytesText(size)}; divide it into several.`,
    );
  return readFileSync(path, 'utf8');
}

export function readFlagFile(path: string, text: string): ReadFile {
  const refuse = (line: number, sentence: string): never => {
    throw new CommandFailure(EXIT.damagedData, printable(`${path}:${line}: ${sentence}`));
  };
  const line = lineBeyondValues(text);
  if (line !== null)
    refuse(line, `A file of flags has at most ${numberText(VALUES_MAX)} values; divide it into several.`);
  const { success, output, issues } = v.safeParse(FlagFileSchema, contentOf(text, refuse));
  if (success) return { path, text, file: output };
  const [issue] = issuesOf(issues);
  const sentence = issue?.message.replace(
    / must be never, not .*/,
    ' is none that a file of flags has there.',
  );
  return refuse(lineOf(text, issue?.path ?? ''), sentence ?? '');
}

/** This library reads several times as fast as the one that keeps comments. */
function contentOf(text: string, refuse: (line: number, sentence: string) => never): unknown {
  try {
    const content = load(text, { schema: CORE_SCHEMA });
    // Aliases of aliases are few in the file and many in its value.
    if (hasTooManyValues(content))
      return refuse(1, `Its aliases make more than ${numberText(VALUES_MAX)} values of it.`);
    return content;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return refuse((error.mark?.line ?? 0) + 1, `This is no YAML: ${error.reason}.`);
  }
}

function hasTooManyValues(content: unknown): boolean {
  const waiting = [content];
  for (let values = 1; waiting.length > 0; ) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const inner of Object.values(value)) waiting.push(inner);
    values += Object.keys(value).length;
    if (values > VALUES_MAX) return true;
  }
  return false;
}

function lineBeyondValues(text: string): number | null {
  let [line, values] = [1, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10) line += 1;
    if (VALUE_STARTS.has(code)) values += 1;
    if (values > VALUES_MAX) return line;
  }
  return null;
}

/** The line of the value that a JSON pointer names, or of the nearest one around it. */
function lineOf(text: string, pointer: string): number {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: false });
  const path = pointer.split('/').slice(1);
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length).map(keyOf), true);
    if (isNode(node) && node.range) return Math.max(1, lineCounter.linePos(node.range[0]).line);
  }
  return 1;
}

const keyOf = (token: string): string | number =>
  /^\d+$/.test(token) ? Number(token) : token.replaceAll('~1', '/').replaceAll('~0', '~');
