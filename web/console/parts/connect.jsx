/** The way of an application to its flags: a token, the code of an SDK with it, and whether the application has asked yet. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { asOption, Filter } from '../forms/choice.jsx';
import { openPanel } from '../forms/panel.jsx';
import { useCopy } from '../forms/secret.jsx';
import { apiTokensPath } from '../kinds/tokens.jsx';
import { useSession } from '../session.js';
import { Button } from './button.jsx';
import { Icon } from './icon.jsx';
import { TimeAgo } from './time-ago.jsx';

/** @import { ApiToken, Flag, Session } from '../types.d.ts' */

/** Between two looks whether an application has used its token, in milliseconds. */
const PAUSE_MS = 2_000;

const NO_TOKEN = 'YOUR-TOKEN';

/** @typedef {{ url: string, secret: string, flag: string }} Of */

/** By SDK: the type of token that it takes, and the code. @type {Readonly<Record<string, readonly [type: 'client' | 'frontend', code: (of: Of) => string]>>} */
const SNIPPETS = {
  'Node.js': [
    'client',
    ({ url, secret, flag }) => `// npm install unleash-client
import { startUnleash } from 'unleash-client';

const unleash = await startUnleash({
  url: '${url}',
  appName: 'my-application',
  customHeaders: { Authorization: '${secret}' },
});
console.log(unleash.isEnabled('${flag}'));`,
  ],
  Browser: [
    'frontend',
    ({ url, secret, flag }) => `// npm install unleash-proxy-client
import { UnleashClient } from 'unleash-proxy-client';

const unleash = new UnleashClient({
  url: '${url}frontend',
  clientKey: '${secret}',
  appName: 'my-application',
});
await unleash.start();
console.log(unleash.isEnabled('${flag}'));`,
  ],
  React: [
    'frontend',
    ({ url, secret, flag }) => `// npm install @unleash/proxy-client-react unleash-proxy-client
import { FlagProvider, useFlag } from '@unleash/proxy-client-react';

const config = {
  url: '${url}frontend',
  clientKey: '${secret}',
  appName: 'my-application',
};
const Page = () => (useFlag('${flag}') ? 'new' : 'old');

export const App = () => (
  <FlagProvider config={config}>
    <Page />
  </FlagProvider>
);`,
  ],
  Go: [
    'client',
    ({ url, secret, flag }) => `// go get github.com/Unleash/unleash-go-sdk/v5
unleash.Initialize(
	unleash.WithListener(&unleash.DebugListener{}),
	unleash.WithAppName("my-application"),
	unleash.WithUrl("${url}"),
	unleash.WithCustomHeaders(http.Header{"Authorization": {"${secret}"}}),
)
unleash.WaitForReady()
fmt.Println(unleash.IsEnabled("${flag}"))`,
  ],
  Java: [
    'client',
    ({ url, secret, flag }) => `// io.getunleash:unleash-client-java
Unleash unleash = new DefaultUnleash(UnleashConfig.builder()
    .appName("my-application")
    .instanceId("my-instance")
    .unleashAPI("${url}")
    .apiKey("${secret}")
    .synchronousFetchOnInitialisation(true)
    .build());
System.out.println(unleash.isEnabled("${flag}"));`,
  ],
  Python: [
    'client',
    ({ url, secret, flag }) => `# pip install UnleashClient
from UnleashClient import UnleashClient

client = UnleashClient(
    url="${url}",
    app_name="my-application",
    custom_headers={"Authorization": "${secret}"},
)
client.initialize_client()
print(client.is_enabled("${flag}"))`,
  ],
  '.NET': [
    'client',
    ({ url, secret, flag }) => `// dotnet add package Unleash.Client
using Unleash;
using Unleash.ClientFactory;

var settings = new UnleashSettings
{
    AppName = "my-application",
    UnleashApi = new Uri("${url}"),
    CustomHttpHeaders = new Dictionary<string, string> { ["Authorization"] = "${secret}" },
};
var unleash = await new UnleashClientFactory().CreateClientAsync(settings, synchronousInitialization: true);
Console.WriteLine(unleash.IsEnabled("${flag}"));`,
  ],
  Ruby: [
    'client',
    ({ url, secret, flag }) => `# gem install unleash
require 'unleash'

client = Unleash::Client.new(
  url: '${url}',
  app_name: 'my-application',
  custom_http_headers: { 'Authorization': '${secret}' },
)
puts client.is_enabled?('${flag}')`,
  ],
  PHP: [
    'client',
    ({
      url,
      secret,
      flag,
    }) => `// composer require unleash/client symfony/http-client nyholm/psr7 symfony/cache
use Unleash\\Client\\UnleashBuilder;

$unleash = UnleashBuilder::create()
    ->withAppUrl('${url}')
    ->withAppName('my-application')
    ->withInstanceId('my-instance')
    ->withHeader('Authorization', '${secret}')
    ->build();
var_dump($unleash->isEnabled('${flag}'));`,
  ],
  curl: ['client', ({ url, secret }) => `curl -H 'Authorization: ${secret}' '${url}client/features'`],
};

/** @param {Flag} flag */
export const showCode = ({ project, name, environments }) =>
  openPanel(
    `Use ${name} in code`,
    <Connect project={project} environments={environments.map((one) => one.name)} flag={name} />,
  );

/** @param {{ project: string, environments: readonly string[], flag?: string }} props */
export function Connect({ project, environments, flag = 'my-flag' }) {
  const session = useSession();
  const [environment, setEnvironment] = useState(environments[0] ?? '');
  const [sdk, setSdk] = useState('Node.js');
  const [tokens, setTokens] = useState(/** @type {Readonly<Record<string, ApiToken>>} */ ({}));
  const shown = useRef(/** @type {HTMLPreElement | null} */ (null));
  const [type, code] = SNIPPETS[sdk] ?? ['client', () => ''];
  const which = `${type} ${environment}`;
  const token = tokens[which];
  const text = code({
    url: new URL('api/', document.baseURI).href,
    secret: token?.secret ?? NO_TOKEN,
    flag,
  });
  const { copy, said } = useCopy(shown, text);
  const seenAt = useFirstUse(session, project, token);
  async function create() {
    const at = apiTokensPath(session.may('admin') ? null : project);
    const body = { tokenName: 'my-application', type, projects: [project], environment };
    const made = await session.client.post(at, body);
    setTokens((before) => ({ ...before, [which]: made }));
  }
  return (
    <div class="row snippet">
      <Filter
        label="SDK of the application"
        options={Object.keys(SNIPPETS).map(asOption)}
        value={sdk}
        change={setSdk}
      />
      <Filter
        label="Environment of the application"
        options={environments.map(asOption)}
        value={environment}
        change={setEnvironment}
      />
      {token !== undefined ? null : session.may('project', project) ? (
        <Button act={() => create()}>Create a token</Button>
      ) : (
        <span class="muted">Ask an owner of the project for a token.</span>
      )}
      <Button act={() => copy()}>
        <Icon name="copy" />
        Copy
      </Button>
      <pre tabIndex={0} role="group" aria-label="Code of the application" ref={shown}>
        {text}
      </pre>
      {token === undefined ? null : <p class="muted">The token is shown only now.</p>}
      <p role="status">
        {said}
        {token === undefined ? null : seenAt === null ? (
          ' Waiting for the first request…'
        ) : (
          <span class="connected">
            <Icon name="check" />
            <TimeAgo iso={seenAt} prefix="Connected: the first request was received " />
          </span>
        )}
      </p>
    </div>
  );
}

/** The time at which the token was used first; null until it was. @param {Session} session @param {string} project @param {ApiToken | undefined} token @returns {string | null} */
function useFirstUse(session, project, token) {
  const [seen, setSeen] = useState(/** @type {Readonly<Record<string, string>>} */ ({}));
  const digest = token?.digest ?? '';
  const seenAt = seen[digest] ?? null;
  useEffect(() => {
    if (digest === '' || seenAt !== null) return;
    const timer = setInterval(async () => {
      /** @type {{ tokens: readonly ApiToken[] }} */
      const { tokens } = await session.client.get(apiTokensPath(project)).catch(() => ({ tokens: [] }));
      const found = tokens.find((one) => one.digest === digest)?.seenAt;
      if (found) setSeen((before) => ({ ...before, [digest]: found }));
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [session, project, digest, seenAt]);
  return seenAt;
}
