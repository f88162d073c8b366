/** Fields of a body that its schema ignores, and whose names are nearly those of fields that were not sent. */
import { shown } from '../../domain/json/issues.ts';
import { isJsonObject } from '../../domain/json/json.ts';
import { pointerToken } from '../../domain/json/json-pointer.ts';
import { nearestName } from '../../domain/json/nearest-name.ts';
import type { Schema } from './route.ts';
import { WARNINGS_MAX, type Warning } from './warnings.ts';

/** Bounds what a body of many names costs. */
const FIELDS_MAX = 100;

const NONE: readonly Warning[] = [];

/** Responses have more fields than requests take, and may be sent back: only near names are slips. */
export function misspeltFields(schema: Schema, sent: unknown): readonly Warning[] {
  if (schema.type !== 'object' || !('entries' in schema) || !isJsonObject(sent)) return NONE;
  const known = schema.entries as object;
  let unsent: readonly string[] | null = null;
  let warnings = NONE;
  for (const name of Object.keys(sent).slice(0, FIELDS_MAX)) {
    if (Object.hasOwn(known, name)) continue;
    unsent ??= Object.keys(known).filter((one) => !Object.hasOwn(sent, one));
    const meant = nearestName(name, unsent);
    if (meant === null) continue;
    const message = `There is no field ${shown(name)}, which is ignored. Did you mean ${shown(meant)}?`;
    warnings = [...warnings, { path: `/${pointerToken(name)}`, message }];
    if (warnings.length === WARNINGS_MAX) break;
  }
  return warnings;
}
