/** The difference between two moments of a data folder. */
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { difference, type ThingChange } from './diff.ts';
import { takePicture } from './items.ts';
import { type Moment, resolveMoment } from './moment.ts';
import { OperationError } from './operation-error.ts';
import { StateAt, type StateProgress } from './state-at.ts';

export interface CompareOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  readonly from: Moment;
  /** Null for now. */
  readonly to: Moment | null;
  /** Limits the comparison to this project and its flags; null for everything. */
  readonly project: string | null;
  onProgress?(progress: StateProgress): void;
}

export interface Comparison {
  /** The last events of the two states. */
  readonly from: number;
  readonly to: number;
  readonly changes: readonly ThingChange[];
}

/** `to` may be before `from`; the result then says what going back would change. */
export async function diffBetween(options: CompareOptions): Promise<Comparison> {
  const { fs, folder, project, onProgress } = options;
  const from = await resolveMoment({ fs, folder }, options.from);
  const to = await resolveMoment({ fs, folder }, options.to);
  const isBackward = to < from;
  const state = await StateAt.open({
    fs,
    folder,
    upTo: isBackward ? to : from,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  const early = { id: state.lastId, picture: takePicture(state.world, project) };
  await state.advance(isBackward ? from : to);
  const late = { id: state.lastId, picture: takePicture(state.world, project) };
  if (project !== null && early.picture.size + late.picture.size === 0) {
    throw new OperationError('missing', `There was no project "${project}" at either moment.`);
  }
  const [before, after] = isBackward ? [late, early] : [early, late];
  return { from: before.id, to: after.id, changes: difference(before.picture, after.picture) };
}
