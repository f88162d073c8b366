/** State documents as whole values, for tests that change them. */
import { exportState as exportLazily, type StateSource } from '../../../src/actors/state-file.ts';
import { jsonPieces } from '../../../src/cli/export.ts';
import { DocumentIssues, type SentFlag } from '../../../src/domain/desired/document-issues.ts';
import type { StateDocument } from '../../../src/domain/desired/state-document.ts';
import type { Issue } from '../../../src/domain/json/issues.ts';
import type { DomainEvent } from '../../../src/domain/state/events.ts';
import type { World } from '../../../src/domain/state/world.ts';

export function exportState(world: World, options?: { readonly credentials: boolean }): StateDocument {
  return JSON.parse([...jsonPieces(exportLazily(world, options))].join('')) as StateDocument;
}

/** The source that a file with this document would be; it may be any value. */
export function sourceOf(document: unknown): Pick<StateSource, 'frame'> & { flags(): Iterable<SentFlag> } {
  const { projects } = (document ?? {}) as Partial<StateDocument>;
  const isWhole = Array.isArray(projects);
  const frame = isWhole
    ? { ...(document as StateDocument), projects: projects.map((one) => ({ ...one, flags: [] })) }
    : document;
  return {
    frame,
    *flags() {
      if (!isWhole) return;
      for (const [project, { flags }] of projects.entries()) {
        for (const [index, value] of flags.entries()) yield { project, index, value };
      }
    },
  };
}

export type ImportPlan =
  | { readonly ok: true; readonly events: readonly DomainEvent[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The events that an import would record, all at once. */
export function planImport(document: unknown): ImportPlan {
  const { frame, flags } = sourceOf(document);
  const checked = DocumentIssues.begin(frame);
  if (!(checked instanceof DocumentIssues)) return { ok: false, issues: checked };
  for (const flag of flags()) checked.check(flag);
  const issues = checked.end();
  if (issues.length > 0) return { ok: false, issues };
  const events = checked.events();
  const planned = [...events.begin()];
  for (const flag of flags()) planned.push(...events.flag(flag));
  return { ok: true, events: [...planned, ...events.end()] };
}
