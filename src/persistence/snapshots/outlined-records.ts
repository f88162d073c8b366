/** Records of a block of kind 5, which release 0.2.0 wrote for flags: a table of ends stands before them, and an outline, which is skipped. */
import { guard, unpack } from '../codec/message-pack.ts';

/** Bytes of the place where a record ends, and of the length of an outline. */
const LENGTH_BYTES = 4;

/** Throws where the parts do not fit the payload, and where a record is not one whole value that the server writes. */
export function* outlinedRecords(payload: Buffer, count: number): Generator<unknown, void> {
  const endsAt = LENGTH_BYTES + (payload.length < LENGTH_BYTES ? 0 : payload.readUInt32LE(0));
  const recordsAt = endsAt + LENGTH_BYTES * count;
  const misfit = new Error('the ends of records do not fit their block');
  if (recordsAt > payload.length) throw misfit;
  let start = recordsAt;
  for (let at = 0; at < count; at += 1) {
    const end = recordsAt + payload.readUInt32LE(endsAt + LENGTH_BYTES * at);
    if (end <= start || end > payload.length) throw misfit;
    const bytes = payload.subarray(start, end);
    const { problem } = guard(bytes);
    if (problem !== null) throw new Error(problem);
    yield unpack(bytes);
    start = end;
  }
  if (start !== payload.length) throw misfit;
}
