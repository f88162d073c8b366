/** The parts of a flag, each with what can be done to it. */
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { flagPath } from '../changes.jsx';
import { date, dateTime } from '../format.js';
import { later } from '../later.jsx';
import { useResource } from '../resource.jsx';
import { Name, Sentence, said, visible } from '../said.jsx';
import { useSession } from '../session.js';
import { STAGES } from '../words.js';
import { ApplicationLink } from './application.jsx';
import { Button } from './button.jsx';
import { FlagLink } from './links.jsx';
import { MoreMenu } from './more-menu.jsx';
import { TimeAgo } from './time-ago.jsx';
import { VariantBar } from './variants.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { Resource } from '../resource.jsx' */
/** @import { Flag, LifecycleStage, LoggedEvent } from '../types.d.ts' */

const {
  addDependency,
  addTag,
  completeFlag,
  editLink,
  removeDependency,
  removeLink,
  removeTag,
  resumeFlag,
  editVariants,
} = later;

/**
 * @typedef {object} FlagProps
 * @property {Flag} flag
 * @property {string} etag
 * @property {boolean} may whether it may be changed
 */

/** Facts of a flag beside who gets it, with what can be added. @param {FlagProps & { creation: LoggedEvent | null, applications?: readonly string[] | undefined }} props `creation`: the event by which it came, if that is known */
export function FlagFacts({ flag, etag, may, creation, applications = [] }) {
  const session = useSession();
  const { project, type, createdAt, stale, archivedAt, tags, lastSeenAt, links, dependencies, children } =
    flag;
  /** @param {string} text @param {string} label @param {() => unknown} act */
  const add = (text, label, act) => (
    <Button looks="quiet" aria-label={label} act={act}>
      {`+ ${text}`}
    </Button>
  );
  /** @param {string} what @param {() => unknown} act */
  const remove = (what, act) =>
    may ? (
      <Button looks="badge-remove" aria-label={`Remove ${what}`} act={act}>
        ×
      </Button>
    ) : null;
  return (
    <>
      <div class="row facts">
        <span>{type}</span>
        <span title={dateTime(createdAt)}>
          {`created ${date(createdAt)}`}
          {creation === null ? null : (
            <>
              {' by '}
              <Name text={creation.createdBy} />
            </>
          )}
        </span>
        {lastSeenAt === null ? <span>never used</span> : <TimeAgo iso={lastSeenAt} prefix="last used " />}
        {applications.length === 0 ? null : <Askers names={applications} />}
        {stale ? <span class="badge badge-warn">stale</span> : null}
        {archivedAt === null ? null : (
          <span class="badge">
            <TimeAgo iso={archivedAt} prefix="archived " />
          </span>
        )}
      </div>
      <div class="row facts">
        {dependencies.map((dependency) => (
          <span key={dependency.feature} class="badge">
            {'needs '}
            <FlagLink project={project} name={dependency.feature} />
            <Sentence>{stateText(dependency)}</Sentence>
            {remove(`the dependency on ${dependency.feature}`, () =>
              removeDependency(session, flag, dependency),
            )}
          </span>
        ))}
        {children.map((child) => (
          <span key={child} class="badge">
            {'needed by '}
            <FlagLink project={project} name={child} />
          </span>
        ))}
        {links.map((link) => (
          <LinkBadge key={link.id} flag={flag} link={link} may={may} />
        ))}
        {tags.map((tag) => (
          <span key={`${tag.type}:${tag.value}`} class="badge">
            <Name text={`${tag.type}: ${tag.value}`} max={60} />
            {remove(`the tag ${visible(`${tag.type}: ${tag.value}`)}`, () => removeTag(session, flag, tag))}
          </span>
        ))}
        {may ? (
          <>
            {add('Tag', 'Add tag', () => addTag(session, flag))}
            {add('Link', 'Add link', () => editLink(session, flag, null))}
            {add('Dependency', 'Add dependency', () => addDependency(session, flag))}
            {hasVariants(flag)
              ? null
              : add('Variants', 'Add variants', () => editVariants(session, flag, etag))}
          </>
        ) : null}
      </div>
    </>
  );
}

/** Applications that are named before somebody asks for all. */
const ASKERS_MAX = 3;

/** @param {{ names: readonly string[] }} props */
function Askers({ names }) {
  const [isWhole, setWhole] = useState(names.length <= ASKERS_MAX + 1);
  const shown = isWhole ? names : names.slice(0, ASKERS_MAX);
  return (
    <span title="In the last 24 hours">
      {'asked for by '}
      {shown.map((name, index) => (
        <Fragment key={name}>
          {index === 0 ? null : ', '}
          <ApplicationLink name={name} />
        </Fragment>
      ))}
      {isWhole ? null : (
        <>
          {' and '}
          <Button looks="link" act={() => setWhole(true)}>{`${names.length - ASKERS_MAX} more`}</Button>
        </>
      )}
    </span>
  );
}

/** @param {Flag['dependencies'][number]} dependency */
function stateText({ enabled, variants }) {
  const state = enabled ? (variants.length === 0 ? '' : ' with ') : ' to be off';
  return state + variants.map((one) => said(one)).join(' or ');
}

/** A link to another page about it. @param {{ flag: Flag, link: Flag['links'][number], may: boolean }} props */
function LinkBadge({ flag, link, may }) {
  const session = useSession();
  const name = link.title ?? link.url;
  return (
    <span class="badge">
      {/^https?:/.test(link.url) ? (
        <a href={link.url} rel="noreferrer nofollow" target="_blank" title={visible(link.url)}>
          <Name text={name} />
        </a>
      ) : (
        <Name text={name} />
      )}
      {may ? (
        <MoreMenu
          label={`More for ${visible(name)}`}
          of={name}
          items={[
            ['Edit', 'edit', () => editLink(session, flag, link)],
            ['Remove', 'remove', () => removeLink(session, flag, link), true],
          ]}
        />
      ) : null}
    </span>
  );
}

/**
 * A part of a flag that has something in it, with what is done to it most.
 * @param {{ title: string, action: string, label?: string, act: (() => unknown) | null, children?: ComponentChildren }} props
 */
const Card = ({ title, action, label, act, children }) => (
  <section class="card" aria-label={title}>
    <div class="line card-head">
      <h2>{title}</h2>
      {act === null ? null : (
        <Button looks="quiet" aria-label={label} act={act}>
          {action}
        </Button>
      )}
    </div>
    {children}
  </section>
);

/** @param {Flag} flag */
const hasVariants = ({ variants }) => (variants ?? []).length > 0;

/** @param {FlagProps} props */
export function VariantCard({ flag, etag, may }) {
  const session = useSession();
  if (!hasVariants(flag)) return null;
  return (
    <Card
      title="Variants"
      action="Edit"
      label="Edit variants"
      act={may ? () => editVariants(session, flag, etag) : null}
    >
      <VariantBar variants={flag.variants ?? []} />
    </Card>
  );
}

/** The stages of its life, and when it entered them. @param {FlagProps} props */
export function Stages({ flag, may }) {
  const session = useSession();
  const { project, name, lifecycle } = flag;
  const { stage } = lifecycle;
  const at = `${flagPath(project, name)}/lifecycle`;
  /** @type {Resource<readonly LifecycleStage[]>} */
  const stages = useResource(() => session.client.get(at), [session, at, stage]);
  const isDone = stage === 'completed';
  return (
    <Card
      title="Stages"
      action={isDone ? 'Reopen' : 'Mark as completed…'}
      act={may ? () => (isDone ? resumeFlag : completeFlag)(session, flag) : null}
    >
      <ol class="plain row above stages">
        {(stages.loaded.value?.value ?? [lifecycle]).map((one) => (
          <li key={one.stage} aria-current={one.stage === stage ? 'step' : undefined}>
            {`${STAGES[one.stage]}${one.status === undefined ? '' : `, ${one.status}`} `}
            <TimeAgo iso={one.enteredStageAt} />
          </li>
        ))}
      </ol>
    </Card>
  );
}
