/** Set by `npm run test:all`, whose property tests try more values. */
export const TEST_ALL = 'FLAGSTAFF_TEST_ALL';

/** How many values a property test tries: `few` in `npm test`, `many` in `npm run test:all`. */
export const runs = (few: number, many: number): number => (process.env[TEST_ALL] === undefined ? few : many);

/** The step of a loop over all places, such as each bit of a file: `npm test` takes one of `few`, another one for each seed. */
export const places = (few: number): { readonly first: number; readonly step: number } =>
  process.env[TEST_ALL] === undefined
    ? { first: Number(process.env['SEED'] ?? 1) % few, step: few }
    : { first: 0, step: 1 };
