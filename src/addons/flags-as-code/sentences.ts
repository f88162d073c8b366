/** Changes and conflicts in sentences. */
import { isJsonArray, isJsonObject, jsonEqual } from '../../domain/json/json.ts';
import { printable } from '../../host/format.ts';
import type { Change } from './flag-file.ts';
import type { Conflict } from './plan.ts';

/** Differences inside one part, such as a list of strategies, that a sentence names. */
const DIFFERENCES_SHOWN = 3;
const VALUE_LENGTH_MAX = 100;

export function changeSentence(change: Change): string {
  const { flag, field, before, after } = change;
  if (field === 'presence') {
    const verb = after === 'archived' ? 'archive' : before === 'absent' ? 'create' : 'revive';
    return printable(`${verb} flag "${flag}"`);
  }
  if (field === 'enabled') return printable(`${placeOf(change)}: turn ${after === true ? 'on' : 'off'}`);
  const found = [...differences(field, before, after)];
  const more = found.length > DIFFERENCES_SHOWN ? `, and ${found.length - DIFFERENCES_SHOWN} more` : '';
  return printable(`${placeOf(change)}: ${found.slice(0, DIFFERENCES_SHOWN).join(', ')}${more}`);
}

export function conflictSentence(conflict: Conflict): string {
  const { field, event } = conflict;
  const what = field === 'presence' ? 'whether it is there' : field;
  const who =
    event === null
      ? 'by somebody, in events that are not kept any more'
      : `by ${event.createdBy} at event ${event.id} (${event.createdAt})`;
  return printable(`${placeOf(conflict)}: ${what} was changed ${who}, and stays as it is`);
}

const placeOf = ({ flag, environment }: Pick<Change, 'flag' | 'environment'>): string =>
  environment === null ? `flag "${flag}"` : `flag "${flag}" in ${environment}`;

function* differences(path: string, before: unknown, after: unknown): Generator<string> {
  if (jsonEqual(before, after)) return;
  if (isJsonArray(before) && isJsonArray(after)) {
    for (let at = 0; at < Math.max(before.length, after.length); at += 1)
      yield* differences(`${path}[${at}]`, before[at], after[at]);
  } else if (isJsonObject(before) && isJsonObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* differences(`${path}.${key}`, before[key], after[key]);
  } else yield `${path} ${textOf(before)} → ${textOf(after)}`;
}

function textOf(value: unknown): string {
  const text = value === undefined ? 'none' : JSON.stringify(value);
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text;
}
