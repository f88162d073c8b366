/** Prints the description of the interface, for programs that check it: `.ci/lint-description`. */
import { describeInterface } from '../../../src/http/openapi/document.ts';
import { SURFACES } from '../../../src/http/surfaces.ts';
import { VERSION } from '../../../src/installation.ts';

const description = describeInterface({ surfaces: SURFACES, version: VERSION, basePath: '', open: false });
process.stdout.write(JSON.stringify(description));
