/** Records of managed kinds as responses show them. */
import { shownRecord } from '../../domain/kinds/kind.ts';
import { type ManagedKindName, managedKindOf, type RecordOf } from '../../domain/kinds/kinds.ts';
import type { World } from '../../domain/state/world.ts';
import type { ReadResponse, RequestContext } from '../serving/route.ts';
import { textsResponse } from './responses.ts';

/** JSON of records, without the counts of their use: a list of them may take megabytes, of which a change makes one anew. */
const texts = new WeakMap<object, string>();

export function recordText<Name extends ManagedKindName>(
  world: World,
  kind: Name,
  record: RecordOf<Name>,
): string {
  const { use, idOf } = managedKindOf(kind);
  let text = texts.get(record);
  if (text === undefined) {
    text = JSON.stringify(recordView(kind, record)).slice(0, -1);
    texts.set(record, text);
  }
  if (use?.isShown !== true) return `${text}}`;
  const [features, projects] = useCounts(world, [...world.references.flagCounts(use.by, idOf(record))]);
  return `${text},"usedInFeatures":${features},"usedInProjects":${projects}}`;
}

/** The record without the counts of its use. */
export const recordView = (kind: ManagedKindName, record: { readonly name: string }): object =>
  shownRecord(managedKindOf(kind), record);

function useCounts({ projects }: World, counts: readonly (readonly [string, number])[]) {
  const seen = counts.filter(([project]) => projects.has(project));
  return [seen.reduce((sum, [, count]) => sum + count, 0), seen.length] as const;
}

/** The response with these records in a list, made in slices. */
export function recordsResponse<Name extends ManagedKindName>(
  context: RequestContext<unknown>,
  kind: Name,
  { items, textOf }: { readonly items: readonly RecordOf<Name>[]; textOf(record: RecordOf<Name>): string },
): Promise<ReadResponse> {
  const { list, listVersion } = managedKindOf(kind).routes;
  const version = listVersion === undefined ? '' : `"version":${listVersion},`;
  const [before, after] = list.field === null ? ['[', ']'] : [`{${version}"${list.field}":[`, ']}'];
  return textsResponse(context, [before, after], items, textOf);
}
