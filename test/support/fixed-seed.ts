/**
 * Gives the property tests of a process the seed that `npm test` chose, so that a run that is repeated tries the same values.
 * A file that is run by itself still tries others each time.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['SEED']) });
