import assert from 'node:assert/strict';
import { it } from 'node:test';
import { responsesIn, runWalk } from '../support/walk.ts';

it("the operators' drill brings deleted flags back, switched as they were", async () => {
  const { output } = await runWalk('drill');
  assert.match(output, /Copied the data folder of a running server up to event \d+ into .*, verified\./);
  assert.match(output, /^ +\d+ {2}\S+ {2}feature-archived +default\/checkout {2}by admin$/m);
  assert.match(
    output,
    /^- flag default\/checkout removed\n(?: {4}.*\n)* {4}environments\[production\]\.enabled: was true$/m,
  );
  assert.match(output, /^- flag default\/basket removed$/m);
  assert.match(output, /Restored the state as of event \d+ /);
  assert.equal(output.match(/All is well\./g)?.length, 2, output);
  const flag = responsesIn(output).at(-1);
  assert.equal(flag?.name, 'checkout', output);
  const production = flag.environments.find((one: { name: string }) => one.name === 'production');
  assert.deepEqual([production.enabled, production.strategies.length], [true, 1]);
});
