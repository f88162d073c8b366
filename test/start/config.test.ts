import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  DEFAULT_GROWTH_LIMITS,
  GROWTH_LIMIT_NAMES,
  GROWTH_LIMITS,
} from '../../src/domain/flags/growth-limits.ts';
import { ConfigError } from '../../src/process/settings.ts';
import { ADDONS } from '../../src/start/addons.ts';
import { ignoredVariables, readConfig } from '../../src/start/config.ts';
import { misspeltSettings } from '../../src/start/misspelt-settings.ts';
import { temporaryFolder } from '../support/server.ts';

describe('configuration', () => {
  it('has the documented defaults', () => {
    const { dataDir, ...rest } = readConfig({});
    assert.match(dataDir, /data$/);
    assert.equal(rest.host, '0.0.0.0');
    assert.equal(rest.port, 4242);
    assert.equal(rest.basePath, '');
    assert.equal(rest.authType, 'open-source');
    assert.equal(rest.logLevel, 'info');
    assert.deepEqual(rest.initialTokens, []);
    assert.equal(rest.eventRetentionDays, null);
    assert.deepEqual([rest.streamsMax], [10_000]);
    const hourMs = 3_600_000;
    assert.deepEqual(rest.sessions, {
      ...{ lifetimeMs: 720 * hourMs, idleMs: 168 * hourMs, isSecureOnly: false },
    });
  });

  it('takes the addresses of proxies, and the address of the server as people know it', () => {
    const { trustedProxies, publicOrigin } = readConfig({
      ...{
        TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,\n2001:db8::/32',
        PUBLIC_URL: 'https://flags.example:8443/',
      },
    });
    assert.deepEqual(trustedProxies, ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32']);
    assert.equal(publicOrigin, 'https://flags.example:8443');
    assert.deepEqual([readConfig({}).trustedProxies, readConfig({}).publicOrigin], [[], null]);
    for (const wrong of ['proxy', '10.0.0.0/33', '0.0.0.0/0', '::/0', '10.0.0.1 10.0.0.2']) {
      assert.throws(
        () => readConfig({ TRUSTED_PROXIES: wrong }),
        /^ConfigError: TRUSTED_PROXIES must be/,
        wrong,
      );
    }
    for (const wrong of [
      'flags.example',
      'ftp://flags.example',
      'https://a@flags.example',
      'https://flags.example/a',
    ]) {
      assert.throws(() => readConfig({ PUBLIC_URL: wrong }), /^ConfigError: PUBLIC_URL must be/, wrong);
    }
  });

  it('has a setting for each limit on the parts of a flag', () => {
    assert.deepEqual(readConfig({}).limits, DEFAULT_GROWTH_LIMITS);
    for (const name of GROWTH_LIMIT_NAMES) {
      const { setting, settingMax } = GROWTH_LIMITS[name];
      assert.equal(readConfig({ [setting]: String(settingMax) }).limits[name], settingMax);
      for (const value of ['0', String(settingMax + 1), '1.5', 'many']) {
        assert.throws(
          () => readConfig({ [setting]: value }),
          new ConfigError(`${setting} must be a whole number from 1 to ${settingMax}, not "${value}".`),
        );
      }
    }
  });

  it('takes HTTP_PORT before PORT, and an empty variable for an absent one', () => {
    assert.equal(readConfig({ HTTP_PORT: '1', PORT: '2' }).port, 1);
    assert.equal(readConfig({ HTTP_PORT: '', PORT: '2' }).port, 2);
    assert.equal(readConfig({ HTTP_HOST: '' }).host, '0.0.0.0');
    assert.equal(readConfig({ AUTH_TYPE: 'none' }).host, '127.0.0.1');
    assert.equal(readConfig({ AUTH_TYPE: 'none', HTTP_HOST: '0.0.0.0' }).host, '0.0.0.0');
  });

  it('takes a base path with or without slashes around it', () => {
    for (const path of ['flags', '/flags', '/flags/', 'flags//']) {
      assert.equal(readConfig({ BASE_URI_PATH: path }).basePath, '/flags');
    }
    assert.equal(readConfig({ BASE_URI_PATH: '/' }).basePath, '');
  });

  it('takes several admin tokens, separated by commas', () => {
    const config = readConfig({ INIT_ADMIN_API_TOKENS: '*:*.one, *:*.two' });
    assert.deepEqual(
      config.initialTokens.map(({ type, secret }) => [type, secret]),
      [
        ['admin', '*:*.one'],
        ['admin', '*:*.two'],
      ],
    );
  });

  it('takes client and frontend tokens with their scope, from a variable or from the file that one names', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'tokens');
    writeFileSync(file, '*:production.two\ndefault:development.three\n');
    const { initialTokens } = readConfig({
      INIT_CLIENT_API_TOKENS: 'default:development.one',
      INIT_BACKEND_API_TOKENS_FILE: file,
      INIT_FRONTEND_API_TOKENS: '*:development.four',
    });
    rmSync(folder, { recursive: true });
    assert.deepEqual(
      initialTokens.map(({ type, project, environment, secret }) => [type, project, environment, secret]),
      [
        ['client', 'default', 'development', 'default:development.one'],
        ['client', '*', 'production', '*:production.two'],
        ['client', 'default', 'development', 'default:development.three'],
        ['frontend', '*', 'development', '*:development.four'],
      ],
    );
  });

  const refused: readonly (readonly [string, string])[] = [
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['HTTP_PORT', '80.5'],
    ['AUTH_TYPE', 'nobody'],
    ['LOG_LEVEL', 'loud'],
    ['BASE_URI_PATH', '/a b'],
    ['BASE_URI_PATH', '/../x'],
    ['INIT_ADMIN_API_TOKENS', 'secret'],
    ['INIT_ADMIN_API_TOKENS', 'default:development.secret'],
    ['UNLEASH_FRONTEND_API_ORIGINS', 'shop.example'],
    ['UNLEASH_FRONTEND_API_ORIGINS', 'https://ä.example'],
    ['UNLEASH_FRONTEND_API_ORIGINS', 'https://shop.example/path'],
    ['INIT_ADMIN_API_TOKENS_FILE', '/nowhere/tokens'],
    ['INIT_CLIENT_API_TOKENS', '*:*.secret'],
    ['INIT_CLIENT_API_TOKENS', '[]:development.secret'],
    ['INIT_FRONTEND_API_TOKENS', 'development.secret'],
    ['HISTORY_CHECK_HOURS', '501'],
    ['EVENT_RETENTION_DAYS', '0'],
    ['EVENT_RETENTION_DAYS', '1.5'],
    ['EVENT_RETENTION_DAYS', '36501'],
    ['GRACEFUL_SHUTDOWN_TIMEOUT', 'soon'],
    ['GRACEFUL_SHUTDOWN_TIMEOUT', '600001'],
  ];
  for (const [name, value] of refused) {
    it(`refuses ${name}=${value} with one line that names the variable`, () => {
      const one = (error: unknown): boolean =>
        error instanceof ConfigError && error.message.includes(name) && !error.message.includes('\n');
      assert.throws(() => readConfig({ [name]: value }), one);
    });
  }

  it('names the file when the tokens in it are wrong', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'tokens');
    writeFileSync(file, 'hunter2\n');
    assert.throws(
      () => readConfig({ INIT_ADMIN_API_TOKENS_FILE: file }),
      (error) =>
        error instanceof ConfigError && error.message.startsWith(`INIT_ADMIN_API_TOKENS_FILE (${file}) `),
    );
  });

  it('takes the token of the metrics from a file, without the line end of its last line', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'metrics-token');
    writeFileSync(file, 'a-token-of-metrics\n');
    assert.equal(readConfig({ METRICS_TOKEN_FILE: file }).metricsToken, 'a-token-of-metrics');
    assert.throws(
      () => readConfig({ API_TOKEN_KEY: 'k'.repeat(31) }),
      /^ConfigError: API_TOKEN_KEY must be 32 to 250/,
    );
    writeFileSync(file, 'two words and more\n');
    assert.throws(() => readConfig({ METRICS_TOKEN_FILE: file }), /The secret in METRICS_TOKEN_FILE must be/);
    rmSync(folder, { recursive: true });
    assert.throws(
      () => readConfig({ METRICS_TOKEN_FILE: file }),
      /METRICS_TOKEN_FILE: .* cannot be used: there is no such file/,
    );
  });

  it('never repeats a token in a message', () => {
    const leaks = (error: unknown): boolean =>
      error instanceof ConfigError && !error.message.includes('hunter2');
    assert.throws(() => readConfig({ INIT_ADMIN_API_TOKENS: 'hunter2' }), leaks);
  });

  it('ignores the variables of a database, and names them', () => {
    const env = { DATABASE_URL: 'postgres://x', DATABASE_HOST: 'db', PORT: '1' };
    assert.deepEqual(ignoredVariables(env), ['DATABASE_HOST', 'DATABASE_URL']);
    assert.equal(readConfig(env).port, 1);
  });

  it('names the setting that a variable is at most two letters from, and takes no other for a slip', () => {
    const slips = ['HTTP_PROT', 'DATADIR', 'STRATEGIES_PER_ENVIRONMENT_MX'];
    const told = misspeltSettings(Object.fromEntries(slips.map((name) => [name, '1'])), ADDONS);
    assert.deepEqual(
      told.map((sentence) => /Did you mean (\w+)/.exec(sentence)?.[1]),
      ['HTTP_PORT', 'DATA_DIR', 'STRATEGIES_PER_ENVIRONMENT_MAX'],
    );
    const others = [
      'HTTP_PORT',
      'PATH',
      'HOST',
      'HTTP_PROXY',
      'HTTPS_PROXY',
      'API_TOKEN_KEY_FILE',
      'LOGNAME',
    ];
    assert.deepEqual(misspeltSettings(Object.fromEntries(others.map((name) => [name, '1'])), ADDONS), []);
  });
});
