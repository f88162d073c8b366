import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compileRoutes } from '../../../src/http/serving/route-matcher.ts';

const PATTERNS: readonly (readonly [method: string, pattern: string])[] = [
  ['GET', '/api/admin/projects'],
  ['POST', '/api/admin/projects'],
  ['GET', '/api/admin/projects/:projectId'],
  ['DELETE', '/api/admin/projects/:projectId'],
  ['GET', '/api/admin/projects/:projectId/features/:featureName'],
  ['PUT', '/api/admin/projects/:projectId/features/:featureName'],
  ['POST', '/api/admin/projects/:projectId/features/:featureName/environments/:environment/on'],
  ['POST', '/api/admin/features/validate'],
  ['GET', '/api/admin/features/:featureName/tags'],
  ['GET', '/api/admin/features/:featureName'],
  ['POST', '/api/admin/features/:featureName/:sub'],
  ['GET', '/health'],
  ['HEAD', '/own-head'],
  ['GET', '/own-head'],
];

const freshMatcher = () =>
  compileRoutes(PATTERNS.map(([method, pattern]) => ({ method, pattern, value: `${method} ${pattern}` })));
const matcher = freshMatcher();

const found = (route: string, ...values: string[]) => {
  const names = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name);
  return {
    kind: 'found',
    found: route,
    params: Object.fromEntries(names.map((name, at) => [name, values[at]])),
  };
};

describe('matching a path', () => {
  test('fixed segments and parameters lead to the route, parameters by their names', () => {
    assert.deepEqual(matcher.match('GET', '/health'), found('GET /health'));
    const path = '/api/admin/projects/p/features/f/environments/e/on';
    const route = 'POST /api/admin/projects/:projectId/features/:featureName/environments/:environment/on';
    assert.deepEqual(matcher.match('POST', path), found(route, 'p', 'f', 'e'));
  });

  test('a fixed segment wins over a parameter, which is tried when the fixed one leads nowhere', () => {
    const at = (method: string, rest: string) => matcher.match(method, `/api/admin/features/${rest}`);
    assert.deepEqual(at('POST', 'validate'), found('POST /api/admin/features/validate'));
    assert.deepEqual(at('GET', 'validate'), found('GET /api/admin/features/:featureName', 'validate'));
    assert.deepEqual(
      at('GET', 'validate/tags'),
      found('GET /api/admin/features/:featureName/tags', 'validate'),
    );
    assert.deepEqual(at('POST', 'f/tags'), found('POST /api/admin/features/:featureName/:sub', 'f', 'tags'));
  });

  test('parameters are decoded once', () => {
    const decoded = (raw: string) => matcher.match('GET', `/api/admin/projects/${raw}`);
    for (const [raw, value] of [
      ['a%20b', 'a b'],
      ['%2541', '%41'],
      ['%C3%BC', 'ü'],
      ['%F0%9F%9A%A9', '🚩'],
      ['a%2Fb', 'a/b'],
      ['a%3Bb', 'a;b'],
      ['...', '...'],
      ['.a', '.a'],
      ['%2ea', '.a'],
      ['a+b', 'a+b'],
      ['__proto__', '__proto__'],
    ] as const) {
      assert.deepEqual(decoded(raw), found('GET /api/admin/projects/:projectId', value), raw);
    }
  });

  test('a parameter with bad encoding says so', () => {
    for (const raw of [
      '%',
      '%2',
      '%zz',
      '%u0041',
      '%00',
      'a%00b',
      '%0d%0a',
      '%7f',
      '%C2%80',
      '%ff',
      '%C0%AF',
      '%E0%80%AF',
      '%F0%80%80%AF',
      '%ED%A0%80',
      '%F4%90%80%80',
      '%C3',
      '%C3%28',
      'ü',
      'Ã¼',
      'a b',
      '\0',
    ]) {
      assert.deepEqual(matcher.match('GET', `/api/admin/projects/${raw}`), { kind: 'bad-encoding' }, raw);
    }
  });

  test('another spelling of a path names nothing', () => {
    for (const path of [
      '',
      '*',
      '/',
      '//health',
      '/health/',
      '/health//',
      '/Health',
      '/he%61lth',
      '/health%20',
      '/./health',
      '/x/../health',
      '/health;a=b',
      '/health/;',
      '/health?',
      '/health#a',
      'health',
      'http://host/health',
      '/api/admin/projects/',
      '/api/admin/projects//features/f',
      '/api/admin/projects/p/features/',
      '/api/admin/projects/.',
      '/api/admin/projects/..',
      '/api/admin/projects/%2e%2E',
      '/api/admin/projects/%2e.',
      '/api/admin/projects/%2E',
      '/api/admin/projects/p/../p',
      '/api/admin/projects/p;q',
      '/api%2Fadmin/projects',
      '/api/admin/projects/p%2Ffeatures%2Ff/x',
      '/api/admin/__proto__',
      '/constructor',
    ]) {
      assert.deepEqual(matcher.match('GET', path), { kind: 'not-found' }, path);
    }
  });

  test('where the path is known and the method is not, the response lists the methods, HEAD with GET', () => {
    const allowed = (method: string, path: string) => matcher.match(method, path);
    const path = '/api/admin/projects/p/features/f';
    assert.deepEqual(allowed('PATCH', path), { kind: 'method-not-allowed', allowed: ['GET', 'HEAD', 'PUT'] });
    // Both the fixed segment and the parameter fit this path.
    const both = allowed('PUT', '/api/admin/features/validate');
    assert.deepEqual(both, { kind: 'method-not-allowed', allowed: ['GET', 'HEAD', 'POST'] });
    assert.equal(allowed('get', '/health').kind, 'method-not-allowed');
    assert.equal(allowed('constructor', '/health').kind, 'method-not-allowed');
  });

  test('HEAD goes where GET goes, unless it has a route of its own', () => {
    assert.deepEqual(matcher.match('HEAD', '/health'), found('GET /health'));
    assert.deepEqual(matcher.match('HEAD', '/own-head'), found('HEAD /own-head'));
  });

  test('every value of a parameter comes back as it was encoded', () => {
    const segment = fc.string({ unit: 'grapheme', minLength: 1 });
    const isNameable = (name: string) => !/^\.\.?$|\p{Cc}/u.test(name);
    fc.assert(
      fc.property(segment.filter(isNameable), segment.filter(isNameable), (projectId, featureName) => {
        const path = `/api/admin/projects/${encodeURIComponent(projectId)}/features/${encodeURIComponent(featureName)}`;
        const route = 'GET /api/admin/projects/:projectId/features/:featureName';
        assert.deepEqual(matcher.match('GET', path), found(route, projectId, featureName));
      }),
    );
  });

  const piece = fc.constantFrom(
    ...['api', 'admin', 'projects', 'features', 'validate', 'tags', 'x', '', '..', '%2e', '%41', '%', ';'],
  );
  const path = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('/')}`),
    fc.array(piece, { maxLength: 4 }).map((pieces) => `/api/admin/${pieces.join('/')}`),
  );
  const method = fc.constantFrom('GET', 'POST', 'DELETE');

  test('a path leads where it does in a matcher that has matched no other, whatever came before it', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(method, path), { minLength: 2 }), (calls) => {
        const used = freshMatcher();
        for (const [by, raw] of calls)
          assert.deepEqual(used.match(by, raw), freshMatcher().match(by, raw), `${by} ${raw}`);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test('any path finds what the patterns say, compared with trying them one by one', () => {
    fc.assert(
      fc.property(method, path, (by, raw) => {
        assert.equal(matcher.match(by, raw).kind, expectedKind(by, raw));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('compiling routes', () => {
  test('a base path stands before every pattern', () => {
    const based = compileRoutes([{ method: 'GET', pattern: '/health', value: 1 }], '/some/base');
    assert.deepEqual(based.match('GET', '/some/base/health'), { kind: 'found', found: 1, params: {} });
    assert.deepEqual(based.match('GET', '/health'), { kind: 'not-found' });
  });

  test('two routes for one method and path are a mistake', () => {
    const routes = ['/a/:x', '/a/:y'].map((pattern) => ({ method: 'GET', pattern, value: 1 }));
    assert.throws(() => compileRoutes(routes), /two routes for GET \/a\/:y/);
  });

  test('a pattern that ends in a slash is another path than one that does not', () => {
    const matcher = compileRoutes([
      { method: 'GET', pattern: '/', value: 'root' },
      { method: 'GET', pattern: '/docs/', value: 'folder' },
    ]);
    assert.equal(matcher.match('GET', '/').kind, 'found');
    assert.equal(matcher.match('GET', '/docs/').kind, 'found');
    assert.equal(matcher.match('GET', '/docs').kind, 'not-found');
    assert.equal(matcher.match('GET', '//').kind, 'not-found');
  });

  test('a pattern that is not a plain path is a mistake', () => {
    for (const pattern of ['', 'a', '//', '/a//', '//a', '/a b', '/a?b', '/%61']) {
      assert.throws(() => compileRoutes([{ method: 'GET', pattern, value: 1 }]), /not a plain path/, pattern);
    }
  });
});

/** The specification, written the slow way. */
function expectedKind(method: string, path: string): string {
  const segments = path.split('/').slice(1);
  if (path.includes(';')) return 'not-found';
  const fits = PATTERNS.filter(([, pattern]) => {
    const parts = pattern.split('/').slice(1);
    return (
      parts.length === segments.length &&
      parts.every((part, i) =>
        part.startsWith(':') ? !['', '.', '..', '%2e'].includes(segments[i]!) : part === segments[i],
      )
    );
  });
  if (fits.length === 0) return 'not-found';
  if (!fits.some(([candidate]) => candidate === method)) return 'method-not-allowed';
  return segments.includes('%') ? 'bad-encoding' : 'found';
}
