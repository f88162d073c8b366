/** The way of an application to its flags: a token, the code of an SDK with it, and whether the application has asked yet. */
import { useEffect, useRef, useState } from 'preact/hooks';
import MANUAL from '../../../docs/connect-an-application.md';
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

/** The address of the server in the manual, and its tokens with their types. */
const ADDRESS = /http:\/\/localhost:4242\//g;
const SECRET = /\*:development\.(client|frontend)-secret/g;

/** Headings and beginnings of paragraphs of the manual's page, below each of which is the code for an SDK. */
const SDKS = ['Node.js', 'Browsers', 'React', 'Go', 'Java', 'Python', '.NET', 'Ruby', 'PHP', 'Plain HTTP'];

/** The code, and the type of token that it takes. @param {string} sdk */
function exampleOf(sdk) {
  const [, below = ''] = MANUAL.split(new RegExp(`^(?:## )?${sdk}:?$`, 'm'));
  const [, code = ''] = /```\w+\n(.*?)\n```/s.exec(below) ?? [];
  const [type = 'client'] = [...code.matchAll(SECRET)].map(([, type]) => type);
  return { code, type };
}

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
  const { type, code } = exampleOf(sdk);
  const which = `${type} ${environment}`;
  const token = tokens[which];
  const text = code
    .replaceAll(ADDRESS, new URL('.', document.baseURI).href)
    .replaceAll(SECRET, token?.secret ?? NO_TOKEN)
    .replaceAll('new-checkout', flag);
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
      <Filter label="SDK of the application" options={SDKS.map(asOption)} value={sdk} change={setSdk} />
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
