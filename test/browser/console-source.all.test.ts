/** The console's own source: what can be said of it without a browser. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { ROOT_FOLDER } from '../support/server.ts';
import { CONSOLE_TYPES_FILE, consoleTypes } from './console-types.ts';

const FOLDER = join(ROOT_FOLDER, 'web/console');
const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.[a-z]+$/.test(name) && join(FOLDER, name) !== CONSOLE_TYPES_FILE)
  .map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));
const scripts = sources.filter(({ name }) => /\.jsx?$/.test(name));

/** Reads the types of the interface as the description has them at this moment, whatever file an editor was given. */
async function hostWithTypes(options: ts.CompilerOptions): Promise<ts.CompilerHost> {
  const types = await consoleTypes();
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  return Object.assign(host, {
    readFile: (name: string) => (name === CONSOLE_TYPES_FILE ? types : readFile(name)),
    fileExists: (name: string) => name === CONSOLE_TYPES_FILE || fileExists(name),
  });
}

describe("the console's source", () => {
  it('passes the strict type check, by the types in its comments and those of the description', async () => {
    const config = ts.getParsedCommandLineOfConfigFile(
      join(ROOT_FOLDER, 'web/tsconfig.json'),
      {},
      {
        ...ts.sys,
        onUnRecoverableConfigFileDiagnostic: (fault) => assert.fail(String(fault.messageText)),
      },
    );
    assert(config !== undefined);
    assert(config.fileNames.length > scripts.length, 'every script is checked, and the types besides');
    const host = await hostWithTypes(config.options);
    const faults = ts.getPreEmitDiagnostics(ts.createProgram(config.fileNames, config.options, host));
    assert.deepEqual(
      faults.map(
        ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      ),
      [],
    );
  });

  it('never makes markup or code of a string', () => {
    assert(scripts.length > 10);
    for (const { name, text } of scripts) {
      assert.doesNotMatch(
        text,
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/,
        name,
      );
    }
  });

  it('stores nothing in the browser but which pages somebody uses, and names no other host', () => {
    for (const { name, text } of sources) {
      assert.doesNotMatch(text, /sessionStorage|indexedDB|document\.cookie/, name);
      if (!name.endsWith('kept.js')) assert.doesNotMatch(text, /localStorage/, name);
      assert.doesNotMatch(text.replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\//, name);
    }
  });
});
