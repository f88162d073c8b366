/** The next steps in a project without flags: a flag, an application that asks for it, and the people who are to work here. */
import { useEffect, useState } from 'preact/hooks';
import { changeOwnPassword } from '../edit/account-edits.js';
import { createFlag } from '../edit/flag-edits.jsx';
import { editKind } from '../edit/kind-edits.js';
import { asOption, Filter } from '../forms/choice.jsx';
import { INVITATIONS, USERS } from '../kinds/people.jsx';
import { apiTokensPath } from '../kinds/tokens.jsx';
import { useSession } from '../session.js';
import { Button } from './button.jsx';
import { Icon } from './icon.jsx';
import { TimeAgo } from './time-ago.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { ApiToken, Session } from '../types.d.ts' */

/** Between two looks whether an application has used its token, in milliseconds. */
const PAUSE_MS = 2_000;

/** @param {{ project: string, environments: readonly string[] }} props */
export function FirstSteps({ project, environments }) {
  const session = useSession();
  if (!session.may('flags', project)) {
    return (
      <div class="empty">
        <p class="empty-title">No flags yet</p>
        <p>You can view this project. Ask one of its Owners to let you create flags.</p>
      </div>
    );
  }
  return (
    <section class="steps" aria-labelledby="steps">
      <h2 id="steps">No flags yet: the first steps</h2>
      <ol class="plain">
        <Step icon="flag" title="Create a flag" text="It is off everywhere until you switch it on.">
          <Button act={() => createFlag(session, project)}>Create the first flag</Button>
        </Step>
        {session.may('project', project) ? <Connect project={project} environments={environments} /> : null}
        <People session={session} />
      </ol>
    </section>
  );
}

/** @param {{ icon: string, title: string, text: string, children: ComponentChildren }} props */
const Step = ({ icon, title, text, children }) => (
  <li class="step">
    <Icon name={icon} />
    <div>
      <h3>{title}</h3>
      <p class="muted">{text}</p>
      <div class="row">{children}</div>
    </div>
  </li>
);

/** @param {{ session: Session }} props */
function People({ session }) {
  if (session.open) {
    return (
      <Step
        icon="person"
        title="Let people sign in"
        text="Anyone who can reach this server can do everything. The setting AUTH_TYPE changes that."
      >
        <a href="docs">API reference</a>
      </Step>
    );
  }
  return (
    <>
      {session.isUser ? (
        <Step
          icon="key"
          title="Choose your password"
          text="Someone else may know the one that you were given."
        >
          <Button act={() => changeOwnPassword(session, () => undefined)}>Change password…</Button>
        </Step>
      ) : session.may('admin') ? (
        <Step
          icon="person"
          title="Create a user for yourself"
          text="You are signed in with a token. As a user you have a password, favorites, and your name in the history."
        >
          <Button act={() => editKind(session, USERS, null)}>Create a user…</Button>
        </Step>
      ) : null}
      {session.may('admin') ? (
        <Step
          icon="people"
          title="Invite people"
          text="Anyone who opens the link becomes a user who can view everything."
        >
          <Button act={() => editKind(session, INVITATIONS, null)}>Create an invitation…</Button>
        </Step>
      ) : null}
    </>
  );
}

/** The code by which an application uses a token, by the word that chooses it. @type {Readonly<Record<string, (url: string, secret: string) => string>>} */
const SNIPPETS = {
  'Node.js': (url, secret) => `import { startUnleash } from 'unleash-client';

const unleash = await startUnleash({
  url: '${url}',
  appName: 'my-application',
  customHeaders: { Authorization: '${secret}' },
});
console.log(unleash.isEnabled('my-flag'));`,
  Python: (url, secret) => `from UnleashClient import UnleashClient

client = UnleashClient(
    url="${url}",
    app_name="my-application",
    custom_headers={"Authorization": "${secret}"},
)
client.initialize_client()
print(client.is_enabled("my-flag"))`,
  curl: (url, secret) => `curl -H 'Authorization: ${secret}' '${url}client/features'`,
};

/** @param {{ project: string, environments: readonly string[] }} props */
function Connect({ project, environments }) {
  const session = useSession();
  const [environment, setEnvironment] = useState(environments[0] ?? '');
  const [token, setToken] = useState(/** @type {ApiToken | null} */ (null));
  const [language, setLanguage] = useState('Node.js');
  const seenAt = useFirstUse(session, project, token);
  const at = apiTokensPath(session.may('admin') ? null : project);
  async function create() {
    const body = { tokenName: 'first-application', type: 'client', projects: [project], environment };
    setToken(await session.client.post(at, body));
  }
  return (
    <Step
      icon="application"
      title="Connect an application"
      text="Its SDK reads the flags of one environment with a token of its own."
    >
      {token === null ? (
        <>
          <Filter
            label="Environment of the application"
            options={environments.map(asOption)}
            value={environment}
            change={setEnvironment}
          />
          <Button act={() => create()}>Create a token</Button>
        </>
      ) : (
        <div class="snippet">
          <Filter
            label="Language"
            options={Object.keys(SNIPPETS).map(asOption)}
            value={language}
            change={setLanguage}
          />
          <pre tabIndex={0} role="group" aria-label="What the application does">
            {SNIPPETS[language]?.(new URL('api/', document.baseURI).href, token.secret)}
          </pre>
          <p class="muted">The token is shown only now.</p>
          <p role="status">
            {seenAt === null ? (
              'Waiting for the first request…'
            ) : (
              <>
                <Icon name="check" />
                <TimeAgo iso={seenAt} prefix="The first request was received " />
              </>
            )}
          </p>
        </div>
      )}
    </Step>
  );
}

/** The time at which the token was used first; null until it was. @param {Session} session @param {string} project @param {ApiToken | null} token @returns {string | null} */
function useFirstUse(session, project, token) {
  const [seenAt, setSeenAt] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    if (token === null || seenAt !== null) return;
    const timer = setInterval(async () => {
      /** @type {{ tokens: readonly ApiToken[] }} */
      const { tokens } = await session.client.get(apiTokensPath(project)).catch(() => ({ tokens: [] }));
      setSeenAt(tokens.find(({ digest }) => digest === token.digest)?.seenAt ?? null);
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [session, project, token, seenAt]);
  return seenAt;
}
