/** The settings of the whole server: how people sign in, which pages may ask for flags, and whether changes are taken. */
import { changing } from '../client.js';
import { LIFETIMES } from '../edit/lifetimes.jsx';
import { changeAtOnce, removeAfterAsking } from '../edit/remove.jsx';
import { useEvents } from '../feed.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { linesOf } from '../kinds/kind.js';
import { Button } from '../parts/button.jsx';
import { ListingHead, Part } from '../parts/listing.jsx';
import { ForAdmins } from '../parts/states.jsx';
import { Facts } from '../parts/tiles.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';
import { KindPart } from './kind-view.jsx';

/** @import { OidcSettings, SamlSettings, Session, UiConfig } from '../types.d.ts' */

/** @typedef {{ oidc: OidcSettings, saml: SamlSettings, config: UiConfig, enabled: boolean }} Settings */

export function ServerView() {
  const session = useSession();
  const { client } = session;
  const isAdmin = session.may('admin');
  const loaded = useResource(async () => {
    if (!isAdmin) return null;
    const [oidc, saml, config, { enabled }] = await Promise.all([
      client.get('/auth/oidc/settings'),
      client.get('/auth/saml/settings'),
      client.get('/ui-config'),
      client.get('/maintenance'),
    ]);
    return /** @type {Settings} */ ({ oidc, saml, config, enabled });
  }, [client, isAdmin]);
  const refresh = () => void loaded.refresh();
  useEvents(session, refresh);
  return (
    <>
      <ListingHead title="Server" />
      {whenLoaded(loaded, (settings) =>
        settings === null ? (
          <ForAdmins />
        ) : (
          <>
            <SignOn oidc={settings.oidc} saml={settings.saml} />
            <Origins of={settings.config.frontendApiOrigins} refresh={refresh} />
            <KindPart kind={LIFETIMES} />
            <Maintenance enabled={settings.enabled} refresh={refresh} />
          </>
        ),
      )}
    </>
  );
}

/** @param {{ oidc: OidcSettings, saml: SamlSettings }} props */
function SignOn({ oidc, saml }) {
  /** @type {Parameters<typeof Facts>[0]['of']} */
  const facts = [
    ['OpenID Connect', oidc.enabled ? 'on' : 'off'],
    ['Provider', oidc.discoverUrl],
    ['Client', oidc.clientId],
    ['Role of new users', oidc.autoCreate === true ? oidc.defaultRootRole : null],
    ['Email domains', oidc.emailDomains],
    ['Group claim', oidc.enableGroupSyncing === true ? oidc.groupJsonPath : null],
    ['Signs out at the provider', oidc.enableSingleSignOut === true ? 'yes' : null],
    ['SAML', saml.enabled ? 'on' : 'not offered'],
  ];
  return (
    <Part
      title="Sign-on"
      lead="Sign-in besides passwords, as set by the OIDC_… settings of the server. They take effect at a restart."
    >
      <Facts of={facts} />
    </Part>
  );
}

/** @param {{ of: readonly string[], refresh: () => void }} props */
function Origins({ of, refresh }) {
  const session = useSession();
  return (
    <Part
      title="Allowed origins"
      lead="Pages of these origins can read flags in a browser. “*” allows any page."
      action={<Button act={() => editOrigins(session, of, refresh)}>Edit origins…</Button>}
    >
      <ul class="plain">
        {of.map((origin) => (
          <li key={origin}>
            <Name text={origin} max={300} />
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** @param {Session} session @param {readonly string[]} origins @param {() => void} after */
function editOrigins(session, origins, after) {
  return openEdit(session, {
    title: 'Allowed origins',
    fields: [
      field('origins', 'Origins', 'lines', {
        hint: 'One per line: scheme, host and port.',
        paths: ['frontendApiOrigins'],
      }),
    ],
    values: { origins: origins.join('\n') },
    sentence: ({ origins: lines }) =>
      linesOf(lines).length === 0
        ? 'No page of another origin can read flags.'
        : `Pages of ${linesOf(lines).join(', ')} can read flags.`,
    change: ({ origins: lines }) =>
      changing('POST', '/ui-config/cors', { frontendApiOrigins: linesOf(lines) }),
    done: () => 'The origins are changed.',
    undo: 'before',
    after,
  });
}

/** @param {{ enabled: boolean, refresh: () => void }} props */
function Maintenance({ enabled, refresh }) {
  const session = useSession();
  const begin = changing('POST', '/maintenance', { enabled: true });
  const end = { ...begin, body: { enabled: false } };
  const turn = () =>
    enabled
      ? changeAtOnce(session, { change: end, done: 'Changes are accepted again.' })
      : removeAfterAsking(session, {
          title: 'Start maintenance?',
          agree: 'Start maintenance',
          text: 'Every change is refused until maintenance ends. Applications get their flags as before.',
          change: begin,
          done: 'Maintenance has started.',
        });
  return (
    <Part
      title="Maintenance"
      lead={
        enabled
          ? 'The server is in maintenance: every change is refused.'
          : 'While the server is in maintenance every change is refused, and flags are read as before.'
      }
      action={
        <Button looks={`button${enabled ? '' : ' button-danger-quiet'}`} act={() => turn().then(refresh)}>
          {enabled ? 'End maintenance' : 'Start maintenance…'}
        </Button>
      }
    />
  );
}
