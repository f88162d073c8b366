/**
 * Makes published-paths.json: which paths Unleash publishes, with the statuses of their successes and the names of the schemas of
 * their bodies. Start unleash-server 6.10.1, save its /docs/openapi.json, and run
 * `node --import tsx test/unleash/make-published-paths.ts openapi.json > …/published-paths.json`.
 */
import { readFileSync } from 'node:fs';

interface Operation {
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
      }
    >
  >;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const document = JSON.parse(readFileSync(process.argv[2] ?? 'openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const lines: string[] = [];
for (const [path, operations] of Object.entries(document.paths)) {
  for (const method of METHODS) {
    const responses = Object.entries(operations[method]?.responses ?? {}).filter(
      ([status]) => status < '300',
    );
    if (responses.length === 0) continue;
    const bodies = responses.map(([status, { content }]) => {
      const reference = content?.['application/json']?.schema?.$ref ?? '';
      return [status, reference === '' ? null : reference.slice(reference.lastIndexOf('/') + 1)];
    });
    const name = `${method.toUpperCase()} ${path.replace(/\/$/, '')}`;
    lines.push(`${JSON.stringify(name)}: ${JSON.stringify(Object.fromEntries(bodies))}`);
  }
}
process.stdout.write(`{\n${lines.sort().join(',\n')}\n}\n`);
