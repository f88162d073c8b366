/** What applications report: taken from every SDK, told to the sink, refused where it is malformed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import type { ApplicationReport, UsageReport, UsageSink } from '../../../src/actors/usage-sink.ts';
import { addToken } from '../../support/applications.ts';
import { describeInterface } from '../../support/server.ts';

const applications: ApplicationReport[] = [];
const usages: UsageReport[] = [];
const RECORDING: UsageSink = {
  application: (report) => applications.push(report),
  usage: (reports) => usages.push(...reports),
};

const REGISTRATION = {
  appName: 'shop',
  instanceId: 'i-1',
  sdkVersion: 'unleash-node-sdk:6.12.1',
  strategies: ['default'],
  started: '2026-01-01T00:00:00.000Z',
  interval: 15_000,
};
const BUCKET = {
  start: '2026-01-01T00:00:00.000Z',
  stop: '2026-01-01T00:01:00.000Z',
  toggles: { checkout: { yes: 3, no: 1, variants: { blue: 3, disabled: 1 } }, __other: { yes: 0, no: 2 } },
};
const START_MS = Date.UTC(2026, 0, 1);

describeInterface(
  'reports of applications',
  (server) => {
    const send = (path: string, token: string, body: unknown) =>
      fetch(`${server().origin}${path}`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });

    it('reach the sink with the environment of the token, from servers and from pages', async () => {
      for (const [type, path, side, status, text] of [
        ['client', '/api/client', 'backend', 202, ''],
        ['frontend', '/api/frontend/client', 'frontend', 200, 'OK'],
      ] as const) {
        applications.length = 0;
        usages.length = 0;
        const token = await addToken(server(), { type, environment: 'production' });
        const registered = await send(`${path}/register`, token, { ...REGISTRATION, environment: 'other' });
        assert.deepEqual([registered.status, await registered.text()], [status, text]);
        const reported = await send(`${path}/metrics`, token, { appName: 'shop', bucket: BUCKET });
        assert.deepEqual([reported.status, await reported.text()], [status, text]);
        const { appName, instanceId, sdkVersion, strategies } = REGISTRATION;
        const shop = { appName, instanceId, sdkVersion, strategies, connectionId: null, side };
        assert.deepEqual(applications, [{ ...shop, environment: 'production', startedAtMs: START_MS }]);
        const common = { appName: 'shop', environment: 'production', startMs: START_MS };
        assert.deepEqual(usages, [
          {
            ...common,
            flag: 'checkout',
            yes: 3,
            no: 1,
            variants: new Map([
              ['blue', 3],
              ['disabled', 1],
            ]),
          },
          { ...common, flag: '__other', yes: 0, no: 2, variants: new Map() },
        ]);
      }
    });

    it('of Unleash Edge are those of the environment of its token', async () => {
      applications.length = 0;
      usages.length = 0;
      const token = await addToken(server(), { type: 'client', environment: 'development' });
      const metrics = ['development', 'production'].map((environment) => ({
        featureName: 'checkout',
        appName: 'shop',
        environment,
        timestamp: START_MS,
        yes: 1,
        no: 0,
        variants: {},
      }));
      const applicationsSent = [
        { ...REGISTRATION, environment: 'development', sdkType: 'frontend' },
        { ...REGISTRATION, environment: 'production' },
      ];
      const { status } = await send('/api/client/metrics/bulk', token, {
        applications: applicationsSent,
        metrics,
      });
      assert.equal(status, 202);
      assert.deepEqual(
        applications.map(({ environment, side }) => [environment, side]),
        [['development', 'frontend']],
      );
      assert.deepEqual(
        usages.map(({ environment, flag, yes }) => [environment, flag, yes]),
        [['development', 'checkout', 1]],
      );
    });

    it('are refused where they are malformed, and nothing reaches the sink', async () => {
      applications.length = 0;
      usages.length = 0;
      const token = await addToken(server(), { type: 'client', environment: 'development' });
      const post = (path: string, body: unknown) =>
        server().callBelow('/api/client')('POST', path, body, { token });
      const cases: readonly (readonly [string, unknown, string])[] = [
        ['/register', { ...REGISTRATION, appName: undefined }, '/body/appName'],
        ['/register', { ...REGISTRATION, started: 'soon' }, '/body/started'],
        ['/metrics', { appName: 'shop' }, '/body'],
        ['/metrics', { appName: 'shop', bucket: { ...BUCKET, stop: undefined } }, '/body/bucket/stop'],
        [
          '/metrics',
          { appName: 'shop', bucket: { ...BUCKET, toggles: { a: { yes: -1, no: 0 } } } },
          '/body/bucket/toggles',
        ],
        ['/metrics', { appName: 'shop', bucket: { ...BUCKET, toggles: [] } }, '/body/bucket/toggles'],
        ['/metrics/bulk', { applications: [] }, '/body/metrics'],
      ];
      for (const [path, body, at] of cases) {
        const response = await post(path, body);
        assert.deepEqual([response.status, response.body.details[0].path], [400, at]);
      }
      assert.deepEqual([applications, usages], [[], []]);
    });

    it('need a token of the right kind', async () => {
      const token = await addToken(server(), { type: 'frontend', environment: 'development' });
      assert.equal(
        (await send('/api/client/metrics', token, { appName: 'shop', bucket: BUCKET })).status,
        403,
      );
    });
  },
  { usage: RECORDING },
);
