/** Writes docs/limits.md from the table of limits: `node --import tsx test/limits/render.ts`. */
import { writeFileSync } from 'node:fs';
import { LIMITS_PAGE, limitsPage } from './page.ts';

writeFileSync(LIMITS_PAGE, limitsPage());
