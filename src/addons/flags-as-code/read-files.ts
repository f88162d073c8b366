/**
 * Reads files of flags, in YAML or JSON. A file that cannot be used ends the command with one sentence that names the file and the line.
 * Its bytes and the characters that begin a value are counted before it is parsed, so it takes neither much memory nor much time.
 */
import { readFileSync, statSync } from 'node:fs';
import * as v from 'valibot';
import { type Document, isNode, LineCounter, type ParsedNode, parseDocument, visit } from 'yaml';
import { issuesOf } from '../../domain/json/issues.ts';
import { CommandFailure, misuse } from '../../host/command-failure.ts';
import { bytesText, numberText, printable } from '../../host/format.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { type FlagFile, FlagFileSchema } from './flag-file.ts';

/** Long descriptions and lists of values are large, and cheap to parse. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
/** Parsing takes some 2 KB for each value, and so at most 200 MB with the program. Every value of YAML stands behind one of `VALUE_STARTS`. */
const VALUES_MAX = 120_000;
const VALUE_STARTS = new Set(Array.from('\n:,[{', (character) => character.charCodeAt(0)));
/** Repetitions of values by aliases. */
const ALIASES_MAX = 100;
/** Levels of brackets, because parsers call themselves for each. */
const DEPTH_MAX = 64;

export interface ReadFile {
  readonly path: string;
  readonly file: FlagFile;
  readonly document: Document.Parsed;
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
  const tooLarge = lineBeyondBounds(text);
  if (tooLarge !== null) refuse(...tooLarge);
  const lineCounter = new LineCounter();
  // Keys are compared below: the library compares each with each.
  const document = parseDocument(text, { lineCounter, uniqueKeys: false, prettyErrors: false });
  const lineOf = (offset: number | undefined): number => Math.max(1, lineCounter.linePos(offset ?? 0).line);
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) refuse(lineOf(fault.pos[0]), `${fault.message.split('\n')[0]}`);
  const found = faultIn(document);
  if (found !== null) refuse(lineOf(found.offset), found.sentence);
  const { success, output, issues } = v.safeParse(FlagFileSchema, contentOf(document, refuse));
  if (success) return { path, file: output, document };
  const [issue] = issuesOf(issues);
  const sentence = issue?.message.replace(
    / must be never, not .*/,
    ' is none that a file of flags has there.',
  );
  return refuse(lineOf(offsetAt(document, issue?.path ?? '')), sentence ?? '');
}

/** Aliases of aliases are few in the file and many in its value, so the library counts them. */
function contentOf(document: Document.Parsed, refuse: (line: number, sentence: string) => never): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch {
    return refuse(1, `Its aliases repeat more than ${ALIASES_MAX} values.`);
  }
}

function lineBeyondBounds(text: string): [line: number, sentence: string] | null {
  let [line, values, depth] = [1, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10) line += 1;
    if (code === 0x5b || code === 0x7b) depth += 1;
    else if ((code === 0x5d || code === 0x7d) && depth > 0) depth -= 1;
    if (depth > DEPTH_MAX) return [line, `Brackets are nested more than ${DEPTH_MAX} deep.`];
    if (VALUE_STARTS.has(code)) values += 1;
    if (values > VALUES_MAX)
      return [line, `A file of flags has at most ${numberText(VALUES_MAX)} values; divide it into several.`];
  }
  return null;
}

interface Fault {
  readonly offset: number | undefined;
  readonly sentence: string;
}

/** Keys that stand twice, and aliases that repeat too much: the parser takes both. */
function faultIn(document: Document.Parsed): Fault | null {
  let found: Fault | null = null;
  let aliases = 0;
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<string>();
      for (const { key } of items) {
        const node = key as ParsedNode | null;
        const text = String(isNode(node) && 'value' in node ? node.value : node);
        if (keys.has(text)) {
          found = { offset: node?.range?.[0], sentence: `The key "${text}" stands there twice.` };
          return visit.BREAK;
        }
        keys.add(text);
      }
      return undefined;
    },
    Alias(_, { range, source }) {
      aliases += 1;
      if (aliases <= ALIASES_MAX) return undefined;
      const sentence = `The alias "*${source}" is one too many: a file has at most ${ALIASES_MAX}.`;
      found = { offset: range?.[0], sentence };
      return visit.BREAK;
    },
  });
  return found;
}

/** The place of the value that a JSON pointer names, or of the nearest one around it. */
function offsetAt(document: Document.Parsed, pointer: string): number | undefined {
  const path = pointer.split('/').slice(1);
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length).map(keyOf), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

const keyOf = (token: string): string | number =>
  /^\d+$/.test(token) ? Number(token) : token.replaceAll('~1', '/').replaceAll('~0', '~');
