/** Set by `npm run test:all`, whose property tests try more values. */
export const TEST_ALL = 'FLAGSTAFF_TEST_ALL';

/** How many values a property test tries: `few` in `npm test`, `many` in `npm run test:all`. */
export const runs = (few: number, many: number): number => (process.env[TEST_ALL] === undefined ? few : many);
