/** Prints the description of the interface, for programs that check it: `.ci/lint-description`. */
import { describeInterface } from '../../../src/http/description/document.ts';
import { VERSION } from '../../../src/process/installation.ts';
import { SURFACES } from '../../support/surfaces.ts';

const description = describeInterface({ surfaces: SURFACES, version: VERSION, basePath: '', open: false });
process.stdout.write(JSON.stringify(description));
