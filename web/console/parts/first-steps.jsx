/** The next steps in a project without flags: a flag, an application that asks for it, and the people who are to work here. */
import { changeOwnPassword } from '../edit/account-edits.js';
import { createFlag } from '../edit/flag-edits.jsx';
import { editKind } from '../edit/kind-edits.js';
import { INVITATIONS, USERS } from '../kinds/people.jsx';
import { useSession } from '../session.js';
import { Button } from './button.jsx';
import { Connect } from './connect.jsx';
import { Icon } from './icon.jsx';
import { Empty } from './states.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { Session } from '../types.d.ts' */

/** @param {{ project: string, environments: readonly string[] }} props */
export function FirstSteps({ project, environments }) {
  const session = useSession();
  if (!session.may('flags', project)) {
    return (
      <Empty title="No flags yet">
        You can view this project. Ask one of its Owners to let you create flags.
      </Empty>
    );
  }
  return (
    <section class="steps" aria-labelledby="steps">
      <h2 id="steps">No flags yet: the first steps</h2>
      <ol class="plain">
        <Step icon="flag" title="Create a flag" text="It is off in production until you switch it on there.">
          <Button act={() => createFlag(session, project)}>Create the first flag</Button>
        </Step>
        <Step
          icon="application"
          title="Connect an application"
          text="Its SDK reads the flags of one environment with a token of its own."
        >
          <Connect project={project} environments={environments} />
        </Step>
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
