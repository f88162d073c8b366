/**
 * A JSON text in pieces, for values too large for one string: what `JSON.stringify(value, null, 2)` gives, cut between
 * the items of lists that are made while they are read.
 */

/** A list whose items are made one after the other; unlike an array, which is written as a whole. */
const isLazy = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Symbol.iterator in value;

const holdsLazy = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).some(isLazy);

export function* jsonPieces(value: unknown, indent = ''): Generator<string> {
  if (isLazy(value)) yield* listPieces(value, indent);
  else if (holdsLazy(value)) yield* objectPieces(value, indent);
  else yield JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
}

function* listPieces(items: Iterable<unknown>, indent: string): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield `${before}\n${indent}  `;
    yield* jsonPieces(item, `${indent}  `);
    before = ',';
  }
  yield before === '[' ? '[]' : `\n${indent}]`;
}

function* objectPieces(fields: object, indent: string): Generator<string> {
  let before = '{';
  for (const [name, field] of Object.entries(fields)) {
    yield `${before}\n${indent}  ${JSON.stringify(name)}: `;
    yield* jsonPieces(field, `${indent}  `);
    before = ',';
  }
  yield `\n${indent}}`;
}
