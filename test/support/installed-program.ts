import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian has Chromium with windows and without; the one without takes two thirds of the time. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  chromium: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
};

/** The path of a program that not every machine has: what the variable of its name says, such as CHROMIUM, or where PATH has it. */
export function installedProgram(tool: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = (NAMES[tool] ?? [tool]).flatMap((name) => folders.map((folder) => join(folder, name)));
  return process.env[tool.toUpperCase().replace('-', '_')] ?? found.find((path) => existsSync(path));
}
