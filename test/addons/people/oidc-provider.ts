/** A real provider of OpenID Connect for tests, which lets in whomever a test says, and a client that goes there and back as browsers do. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

export const CLIENT_ID = 'flagstaff';
export const CLIENT_SECRET = 'a-secret-of-the-client-with-some-length';

/** A person as the provider describes one. */
export interface Person {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly preferred_username?: string;
  readonly groups?: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  /** The person before the browser; null refuses to sign in. */
  person: Person | null;
  close(): Promise<void>;
}

const CLAIMS = { profile: ['name', 'preferred_username', 'groups'], email: ['email', 'email_verified'] };

/** `callbacks`: where the server may be reached that it sends people back to. */
export async function startProvider(origins: readonly string[], port = 0): Promise<TestProvider> {
  // Browsers here are requests of the same process: after a pause of the loop, one would take a connection that has just timed out.
  const server = createServer({ keepAliveTimeout: 0 });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const started: TestProvider = { issuer, person: null, close: () => closed(server) };
  const provider = new Provider(issuer, configuration(origins, started));
  const handle = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/interaction/') !== true) return void handle(request, response);
    void interact(provider, started, request, response);
  });
  return started;
}

function configuration(origins: readonly string[], started: TestProvider): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: origins.map((origin) => `${origin}/auth/oidc/callback`),
        post_logout_redirect_uris: origins.map((origin) => `${origin}/`),
      },
    ],
    claims: CLAIMS,
    cookies: { keys: ['a key of this test'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { logoutSource: askToSignOut } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ ...started.person, sub: accountId }),
    }),
  };
}

/** A page that loads nothing of other hosts, as the one does that comes along. */
function askToSignOut(context: { body: unknown }, form: string): void {
  const button = '<button form="op.logoutForm" name="logout" value="yes">Sign out here too</button>';
  context.body = `<!doctype html><html lang="en"><title>Sign out</title>${form}${button}</html>`;
}

/** Signs the person in and agrees to everything, without a page. */
async function interact(
  provider: Provider,
  { person }: TestProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (person === null) {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
    return;
  }
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: person.sub, clientId: String(params['client_id']) });
  grant.addOIDCScope('openid email profile');
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, {
    login: { accountId: person.sub, remember: false },
    consent: { grantId },
  });
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** Follows redirects with cookies, as a browser does. */
export class Traveller {
  readonly #cookies = new Map<string, Map<string, string>>();
  /** The addresses that it was sent to. */
  readonly visited: string[] = [];

  /** The header Cookie that it would send there. */
  cookiesFor(address: string): string {
    const kept = this.#cookies.get(new URL(address).origin) ?? new Map<string, string>();
    return [...kept].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Goes on until a page is there, or to a given number of addresses. */
  async go(address: string, hopsMax = 20): Promise<Response> {
    this.visited.push(address);
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: this.cookiesFor(address), accept: 'text/html' },
    });
    this.#keep(address, response.headers.getSetCookie());
    const to = response.headers.get('location');
    if (to === null || hopsMax <= 1) return response;
    await response.body?.cancel();
    return this.go(new URL(to, address).href, hopsMax - 1);
  }

  #keep(address: string, headers: readonly string[]): void {
    const { origin } = new URL(address);
    const kept = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, kept);
    for (const header of headers) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
      const isOver = /max-age=0|expires=thu, 01 jan 1970/i.test(header);
      if (isOver || value === '') kept.delete(name);
      else kept.set(name, value);
    }
  }
}
