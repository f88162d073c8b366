/** Modules that the tests of several add-ons have under one name, such as their parts of a table that a test of the core goes through. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT_FOLDER } from './server.ts';
import { runnable } from './source.ts';

const FOLDER = join(ROOT_FOLDER, 'test/addons');

/** The modules of that name, of the add-ons that are there. */
export async function addonModules<Module>(name: string): Promise<readonly Module[]> {
  if (!existsSync(FOLDER)) return [];
  const files = readdirSync(FOLDER).map((addon) => join(FOLDER, addon, runnable(name)));
  const modules = files.filter((file) => existsSync(file)).map((file) => import(pathToFileURL(file).href));
  return Promise.all(modules);
}
