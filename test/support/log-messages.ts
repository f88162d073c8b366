/**
 * The messages that the server logs, and what an operator does about each, read from the source. The line above a logging statement
 * says it: `// Operators: <what to do>`. Where the message is no literal, or is logged elsewhere, the line names it as well:
 * `// Operators, of "<message>": <what to do>`, with `…` for what varies.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT_FOLDER } from './server.ts';

export interface LogMessage {
  readonly message: string;
  /** Links begin at the root of the repository. */
  readonly advice: string;
}

/** Without `fatal`, of which exit codes say what to do, and `debug`. */
const LEVELS: ReadonlySet<string> = new Set(['info', 'warn', 'error']);
const NOTE = /^\/\/ Operators(?:, of "(.+)")?: (.+)$/;

const SOURCES: readonly string[] = readdirSync(join(ROOT_FOLDER, 'src'), { recursive: true })
  .map((name) => join('src', String(name)))
  .filter((path) => path.endsWith('.ts'))
  .sort();

/** The messages of all sources. Throws for a logging statement without a line for operators. */
export function logMessages(): LogMessage[] {
  return SOURCES.flatMap((path) => messagesOf(path, readFileSync(join(ROOT_FOLDER, path), 'utf8')));
}

export function messagesOf(path: string, text: string): LogMessage[] {
  const named = text
    .split('\n')
    .map((line) => NOTE.exec(line.trim()))
    .filter((match) => match?.[1] !== undefined)
    .map((match) => ({ message: match?.[1] ?? '', advice: match?.[2] ?? '' }));
  const logged = loggingCalls(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)).flatMap(
    (call) => {
      const note = noteAbove(call, text);
      if (note === null) {
        const { line } = call.getSourceFile().getLineAndCharacterOfPosition(call.getStart());
        throw new Error(
          `${path}:${line + 1} logs without a line "// Operators: …" above that says what to do`,
        );
      }
      return note[1] === undefined ? [{ message: literalOf(call) ?? '', advice: note[2] ?? '' }] : [];
    },
  );
  return [...logged, ...named];
}

/** Calls of a level with fields and a message. Where both come from elsewhere, the call only passes them on. */
function loggingCalls(node: ts.Node): ts.CallExpression[] {
  const inner: ts.CallExpression[] = [];
  ts.forEachChild(node, (child) => void inner.push(...loggingCalls(child)));
  if (!ts.isCallExpression(node) || !LEVELS.has(calledName(node))) return inner;
  const [fields] = node.arguments;
  const isLogging =
    fields !== undefined && (ts.isObjectLiteralExpression(fields) || literalOf(node) !== null);
  return isLogging ? [node, ...inner] : inner;
}

function calledName({ expression }: ts.CallExpression): string {
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text.replace('#', '');
  return ts.isIdentifier(expression) ? expression.text : '';
}

/** The message, with `…` for what is put into it; null where it is no literal. */
function literalOf({ arguments: [, message] }: ts.CallExpression): string | null {
  if (message === undefined) return null;
  if (ts.isStringLiteralLike(message)) return message.text;
  if (!ts.isTemplateExpression(message)) return null;
  const parts = [message.head.text, ...message.templateSpans.map(({ literal }) => `…${literal.text}`)];
  return parts.join('').replaceAll('……', '…');
}

/** The nearest line for operators above the call, in its statement or property. */
function noteAbove(call: ts.Node, text: string): RegExpExecArray | null {
  for (let node = call; !ts.isBlock(node) && !ts.isSourceFile(node); node = node.parent) {
    const comments = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
    const notes = comments
      .map(({ pos, end }) => NOTE.exec(text.slice(pos, end)))
      .filter((note) => note !== null);
    const last = notes.at(-1);
    if (last !== undefined) return last;
    if (ts.isPropertyAssignment(node)) return null;
  }
  return null;
}
