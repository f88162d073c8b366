/** The GitHub Action: its step as a runner starts it, against a server and an API of GitHub that keeps comments. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import { addUser, makeFlag } from '../../support/interface.ts';
import {
  ADMIN_TOKEN,
  ROOT_FOLDER,
  startTestServer,
  type TestServer,
  temporaryFolder,
} from '../../support/server.ts';
import { nodeArguments } from '../../support/source.ts';

const ACTION = join(ROOT_FOLDER, 'deploy/github-action');

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const { inputs, runs } = parse(readFileSync(join(ACTION, 'action.yml'), 'utf8')) as {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};
const STEP = runs.steps.find(({ name }) => name === 'Plan')!;

interface Comment {
  readonly id: number;
  body: string;
}

/** Keeps the comments of one pull request; refuses writes unless they are allowed. */
class GitHub {
  readonly comments: Comment[] = [];
  readonly calls: string[] = [];
  mayWrite = true;
  readonly #server: Server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    this.calls.push(`${method} ${url} ${request.headers.authorization}`);
    const sent = await text(request);
    const [status, body] = this.#answer(method, url, sent === '' ? undefined : JSON.parse(sent).body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');

  #answer(method: string, url: string, body: string): readonly [number, unknown] {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const [, id] = /^\/repos\/acme\/shop\/issues\/comments\/(\d+)$/.exec(pathname) ?? [];
    const isOfPull = pathname === '/repos/acme/shop/issues/7/comments';
    if (method !== 'GET' && !this.mayWrite) return [403, { message: 'Resource not accessible' }];
    if (method === 'GET' && isOfPull) {
      const [page, length] = [Number(searchParams.get('page')), Number(searchParams.get('per_page'))];
      return [200, this.comments.slice((page - 1) * length, page * length)];
    }
    if (method === 'POST' && isOfPull) {
      if (body.length > 65_536) return [422, { message: 'Body is too long' }];
      this.comments.push({ id: this.comments.length + 1, body });
      return [201, {}];
    }
    const found = this.comments.find((one) => String(one.id) === id);
    if (method !== 'PATCH' || found === undefined) return [404, {}];
    found.body = body;
    return [200, {}];
  }

  async url(): Promise<string> {
    if (!this.#server.listening) await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe('the GitHub Action', () => {
  let server: TestServer;
  let github: GitHub;
  let folder: string;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());
  beforeEach(() => {
    github = new GitHub();
    folder = temporaryFolder();
    const program = [process.execPath, ...nodeArguments(join(ROOT_FOLDER, 'src/cli/bin.ts'))];
    const script = `#!/bin/sh\nexec ${program.map((one) => `'${one}'`).join(' ')} "$@"\n`;
    writeFileSync(join(folder, 'flagstaff'), script);
    chmodSync(join(folder, 'flagstaff'), 0o755);
  });

  const flagFile = (name: string, description: string): string =>
    JSON.stringify({ project: 'default', flags: [{ name, description }] });

  /** Runs the step with these inputs, as a runner does, and gives its exit code and its log. */
  async function run(given: Readonly<Record<string, string>>, pull = '7') {
    const values: Record<string, string> = {
      'github.event.pull_request.number': pull,
      'github.token': 'job-token',
    };
    const filled = (value: string): string =>
      value.replaceAll(/\$\{\{ (\S+) \}\}/g, (_, key: string) => values[key] ?? assert.fail(key));
    for (const [name, input] of Object.entries(inputs))
      values[`inputs.${name}`] = given[name] ?? filled(input.default ?? '');
    const env = Object.entries(STEP.env ?? {}).map(([name, value]) => [name, filled(value)]);
    const summary = join(folder, 'summary');
    writeFileSync(summary, '');
    const environment = {
      ...Object.fromEntries(env),
      GITHUB_ACTION_PATH: ACTION,
      GITHUB_API_URL: await github.url(),
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_STEP_SUMMARY: summary,
      PATH: `${folder}:${process.env['PATH']}`,
    };
    const [code, log] = await new Promise<readonly [unknown, string]>((resolve) =>
      execFile(
        'bash',
        ['--noprofile', '--norc', '-eo', 'pipefail', '-c', STEP.run ?? ''],
        { cwd: folder, env: environment },
        (error, stdout, stderr) => resolve([error?.code ?? 0, stdout + stderr]),
      ),
    );
    github.close();
    return { code, log, summary: readFileSync(summary, 'utf8') };
  }

  const access = () => ({ url: server.origin, token: ADMIN_TOKEN });

  it('says in one comment what the files would change, changes that comment later, and leaves others alone', async () => {
    writeFileSync(join(folder, 'a.json'), flagFile('from-a', 'One.'));
    writeFileSync(join(folder, 'b.json'), flagFile('from-b', 'Two.'));
    for (let id = 1; id <= 120; id += 1) github.comments.push({ id, body: `Comment ${id}` });
    const first = await run({ files: '*.json', ...access() });
    assert.equal(first.code, 0, first.log);
    const [comment] = github.comments.slice(120);
    assert.match(
      comment?.body ?? '',
      /^<!-- flagstaff plan a\.json b\.json -->\n### What these files would change\n<pre>\nProject default: \d changes\.\n(?:- .+\n)+<\/pre>\n$/,
    );
    for (const name of ['from-a', 'from-b'])
      assert(comment?.body.includes(`\n- create flag "${name}"\n`), comment?.body);
    assert.equal(first.summary, comment?.body);
    assert.match(first.log, /create flag "from-a"/);
    assert(github.calls.every((one) => one.endsWith(' Bearer job-token')));
    assert(!`${first.log}${comment?.body}`.includes(ADMIN_TOKEN));

    const kept = github.comments;
    github = new GitHub();
    github.comments.push(...kept);
    await makeFlag(server.call, 'from-a', { description: 'One.' });
    const second = await run({ files: 'a.json b.json', ...access() });
    assert.equal(second.code, 0, second.log);
    assert.equal(github.comments.length, 121);
    assert.doesNotMatch(github.comments[120]!.body, /from-a"/);
    assert.match(github.comments[120]!.body, /\n- create flag "from-b"\n/);
    assert.equal(github.comments[0]?.body, 'Comment 1');
  });

  it('fails with 2 where somebody else changed the same, and its comment is no markup', async () => {
    await makeFlag(server.call, 'contested', { description: 'Mine.' });
    const { token } = await addUser(server, 1);
    const changed = { description: '</pre> @everybody & <b>' };
    await server.call('PUT', '/projects/default/features/contested', changed, { token });
    writeFileSync(join(folder, 'flags.json'), flagFile('contested', 'Of the file.'));
    const { code, log } = await run({ files: 'flags.json', ...access() });
    assert.equal(code, 2, log);
    const [{ body } = { body: '' }] = github.comments;
    assert.match(body, /### Somebody else changed what these files would change\n/);
    assert.match(body, /! flag "contested": description was changed by user-\d+ at event \d+/);
    assert.equal(body.match(/<(?!!--|pre>|\/pre>)/), null);
    assert.equal(body.match(/<\/pre>/g)?.length, 1);
  });

  it('comments a plan that cannot be made, and ends with its code', async () => {
    writeFileSync(join(folder, 'flags.json'), '{"project": "default"');
    const { code } = await run({ files: 'flags.json', ...access() });
    assert.equal(code, 65);
    assert.match(
      github.comments[0]?.body ?? '',
      /### These files cannot be planned\n<pre>\nflagstaff: flags\.json:1/,
    );
    github = new GitHub();
    writeFileSync(join(folder, 'flags.json'), flagFile('other', ''));
    assert.equal((await run({ files: 'flags.json', url: server.origin, token: '' })).code, 64);
    assert.match(github.comments[0]?.body ?? '', /No token is known/);
  });

  it('cuts a plan that is longer than a comment may be', async () => {
    const flags = Array.from({ length: 2_000 }, (_, at) => ({ name: `flag-of-a-long-plan-${at}` }));
    writeFileSync(join(folder, 'flags.json'), JSON.stringify({ project: 'default', flags }));
    const { code, log } = await run({ files: 'flags.json', ...access() });
    assert.equal(code, 0, log);
    assert.match(github.comments[0]?.body ?? '', /\n… and more, which the log has\.\n<\/pre>\n$/);
    assert.match(log, /flag-of-a-long-plan-1999/);
  });

  it('counts the plan where it may not comment, and where there is no pull request', async () => {
    writeFileSync(join(folder, 'flags.json'), flagFile('unsaid', ''));
    github.mayWrite = false;
    const { code, log } = await run({ files: 'flags.json', ...access() });
    assert.equal(code, 0, log);
    assert.match(
      log,
      /\n::warning::The plan is no comment of the pull request: GitHub answered POST .+ with 403\n$/,
    );
    github = new GitHub();
    const pushed = await run({ files: 'flags.json', ...access() }, '');
    assert.equal(pushed.code, 0, pushed.log);
    assert.deepEqual(github.calls, []);
    assert.match(pushed.summary, /create flag "unsaid"/);
  });
});
