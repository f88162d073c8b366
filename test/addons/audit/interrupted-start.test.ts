/** First starts that end early, each write in one way; the long form, `node --import tsx test/faults/run.ts 'interrupted start'`, ends each in all. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENDS, FOLDERS, interruptStart } from './interrupted-start.ts';

describe('the first start of this version', () => {
  const ends = Object.keys(ENDS);
  for (const folder of Object.keys(FOLDERS))
    it(`may end at any write on ${folder}, and the next start serves and signs`, async () => {
      let write = 1;
      while (await interruptStart({ folder, end: ends[write % ends.length] ?? '', write })) write += 1;
      assert(write > 40, `a start writes ${write} times`);
    });
});
