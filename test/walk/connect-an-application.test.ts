/** The examples of docs/connect-an-application.md, each as it stands on the page, but for the port. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, mock, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
// Here, because it looks for the whole of a browser where it finds a window.
import 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { register } from 'tsx/esm/api';
import { makeRunningFlag } from '../support/applications.ts';
import { openPage } from '../support/browser/browser-page.ts';
import {
  type Call,
  ROOT_FOLDER,
  startTestServer,
  type TestServer,
  temporaryFolder,
} from '../support/server.ts';
import { walksOf } from '../support/walk.ts';

const PAGE = readFileSync(join(ROOT_FOLDER, 'docs/connect-an-application.md'), 'utf8');

/** The tokens that the page says it has. */
const SETTINGS = Object.fromEntries(
  [...PAGE.matchAll(/(INIT_[A-Z_]+)='([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
);

const FOR_ADA = { constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }] };

/** SDKs for pages leave their timers to the end of the page, which there is none of here. */
function letTimersEndWithProcess(): void {
  const { setInterval: every, setTimeout: once } = globalThis;
  mock.method(globalThis, 'setInterval', (...sent: Parameters<typeof every>) => every(...sent).unref());
  mock.method(globalThis, 'setTimeout', (...sent: Parameters<typeof once>) => once(...sent).unref());
}

describe('the page about applications', () => {
  const walks = walksOf(PAGE);
  const run = new Set<string>();
  let server: TestServer;
  let folder: string;
  before(async () => {
    // Examples are JSX, which Node does not read.
    register();
    letTimersEndWithProcess();
    server = await startTestServer({ env: SETTINGS });
    const token = SETTINGS.INIT_ADMIN_API_TOKENS ?? null;
    const call: Call = (method, path, body) => server.call(method, path, body, { token });
    await makeRunningFlag(call, 'new-checkout', FOR_ADA);
    folder = temporaryFolder();
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    symlinkSync(join(ROOT_FOLDER, 'node_modules'), join(folder, 'node_modules'));
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  function linesOf(name: string): string {
    const lines = walks.get(name);
    assert(lines !== undefined, `there is no example "${name}"`);
    run.add(name);
    return lines.replaceAll('http://localhost:4242', server.origin);
  }

  /** Runs the module and returns what it exports. */
  async function imported(name: string): Promise<{ readonly default?: () => Promise<never> }> {
    const file = join(folder, `${name}.jsx`);
    // What Next.js and the build tools for React set for all files.
    writeFileSync(file, `/** @jsxRuntime automatic */\n/** @jsxImportSource react */\n${linesOf(name)}`);
    return import(pathToFileURL(file).href);
  }

  /** Resolves with what the module prints until it has run to its end. */
  async function printed(test: TestContext, name: string): Promise<string[]> {
    const log = test.mock.method(console, 'log', () => undefined);
    await imported(name);
    return log.mock.calls.map((call) => call.arguments.join(' '));
  }

  for (const name of ['node', 'browser', 'ofrep', 'unleash-provider']) {
    it(`has an example that reads a flag: ${name}`, async (test) => {
      assert.deepEqual(await printed(test, name), ['new-checkout is on for Ada: true']);
    });
  }

  it('has a page of Next.js', async () => {
    const { default: Page } = await imported('next');
    assert.equal(renderToString(await Page?.()), '<h1>The new checkout</h1>');
  });

  const shell = async (name: string): Promise<string> =>
    (await promisify(execFile)('bash', ['-ec', linesOf(name)])).stdout;

  it('asks by curl', async () => {
    const [toggles, evaluation] = (await shell('curl'))
      .replace('}{', '}\n{')
      .split('\n')
      .map((text) => JSON.parse(text));
    assert.deepEqual(
      toggles.toggles.map((one: { name: string }) => one.name),
      ['new-checkout'],
    );
    assert.deepEqual([evaluation.key, evaluation.value], ['new-checkout', true]);
  });

  it('makes a token by curl', async () => {
    const { type, secret } = JSON.parse(await shell('token'));
    assert.equal(type, 'frontend');
    assert.match(secret, /^default:development\..+/);
  });

  it('has a page of React', async (test) => {
    // It stays open to the end, since nothing in the example unmounts what it has rendered.
    const page = openPage('http://shop.example/');
    test.mock.method(globalThis, 'fetch', page.fetch);
    await imported('react');
    await page.shows('The new checkout');
  });

  it('has no other examples', () => {
    assert.deepEqual([...run].sort(), [...walks.keys()].sort());
  });
});
