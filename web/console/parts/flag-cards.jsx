/** The parts of a flag, each with what can be done to it. */
import { flagPath } from '../changes.jsx';
import {
  addDependency,
  addTag,
  completeFlag,
  editLink,
  removeDependency,
  removeLink,
  removeTag,
  resumeFlag,
} from '../edit/flag-edits.jsx';
import { editVariants } from '../edit/variant-edits.jsx';
import { date, dateTime } from '../format.js';
import { useResource } from '../resource.jsx';
import { Name, Sentence, said, visible } from '../said.jsx';
import { useSession } from '../session.js';
import { STAGES } from '../words.js';
import { Button } from './button.jsx';
import { FlagLink } from './links.jsx';
import { RowActions } from './listing.jsx';
import { TimeAgo } from './time-ago.jsx';
import { VariantBar } from './variants.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { Flag, LifecycleStage } from '../types.d.ts' */

/**
 * @typedef {object} FlagProps
 * @property {Flag} flag
 * @property {string} etag
 * @property {boolean} may whether it may be changed
 */

/** @param {FlagProps} props */
export function FlagFacts({ flag, may }) {
  const session = useSession();
  const { type, createdAt, stale, archivedAt, tags, lastSeenAt } = flag;
  return (
    <p class="row facts">
      <span>{type}</span>
      <span title={dateTime(createdAt)}>{`created ${date(createdAt)}`}</span>
      {lastSeenAt === null ? <span>never used</span> : <TimeAgo iso={lastSeenAt} prefix="last used " />}
      {stale ? <span class="badge badge-warn">stale</span> : null}
      {archivedAt === null ? null : (
        <span class="badge">
          <TimeAgo iso={archivedAt} prefix="archived " />
        </span>
      )}
      {tags.map((tag) => (
        <span key={`${tag.type}:${tag.value}`} class="badge">
          <Name text={`${tag.type}: ${tag.value}`} max={60} />
          {may ? (
            <Button
              looks="badge-remove"
              aria-label={`Remove the tag ${visible(`${tag.type}: ${tag.value}`)}`}
              act={() => removeTag(session, flag, tag)}
            >
              ×
            </Button>
          ) : null}
        </span>
      ))}
      {may ? (
        <Button looks="quiet" act={() => addTag(session, flag)}>
          Add tag
        </Button>
      ) : null}
    </p>
  );
}

/**
 * A part of a flag, with what is done to it most.
 * @param {{ title: string, note?: ComponentChildren, action: string, label?: string, act: (() => unknown) | null, children?: ComponentChildren }} props `note`: what there is to say where there is nothing to list
 */
const Card = ({ title, note = null, action, label, act, children }) => (
  <section class="card" aria-label={title}>
    <div class="card-head">
      <h2>{title}</h2>
      {note === null ? null : <p class="muted card-note">{note}</p>}
      {act === null ? null : (
        <Button looks="quiet" aria-label={label} act={act}>
          {action}
        </Button>
      )}
    </div>
    {children}
  </section>
);

/** @param {FlagProps} props */
export function VariantCard({ flag, etag, may }) {
  const session = useSession();
  const variants = flag.variants ?? [];
  return (
    <Card
      title="Variants"
      action={variants.length === 0 ? 'Add' : 'Edit'}
      label={`${variants.length === 0 ? 'Add' : 'Edit'} variants`}
      act={may ? () => editVariants(session, flag, etag) : null}
      note={variants.length === 0 ? 'None: all users for whom it is on get the same.' : null}
    >
      {variants.length === 0 ? null : <VariantBar variants={variants} />}
    </Card>
  );
}

/** The links to other pages about it. @param {FlagProps} props */
export function LinkCard({ flag, may }) {
  const session = useSession();
  return (
    <Card
      title="Links"
      note={flag.links.length === 0 ? 'No links yet.' : null}
      action="Add"
      label="Add link"
      act={may ? () => editLink(session, flag, null) : null}
    >
      {flag.links.map((link) => {
        const name = link.title ?? link.url;
        return (
          <div key={link.id} class="row spread card-line">
            {/^https?:/.test(link.url) ? (
              <a href={link.url} rel="noreferrer nofollow" target="_blank" title={visible(link.url)}>
                <Name text={name} />
              </a>
            ) : (
              <Name text={name} />
            )}
            {may ? (
              <span class="listing-actions">
                <RowActions
                  of={name}
                  items={[
                    ['Edit', 'edit', () => editLink(session, flag, link)],
                    ['Remove', 'remove', () => removeLink(session, flag, link), true],
                  ]}
                />
              </span>
            ) : null}
          </div>
        );
      })}
    </Card>
  );
}

/** The stages of its life, and when it entered them. @param {FlagProps} props */
export function LifeCard({ flag, may }) {
  const session = useSession();
  const { project, name, lifecycle } = flag;
  const { stage } = lifecycle;
  const at = `${flagPath(project, name)}/lifecycle`;
  const stages = useResource(
    /** @returns {Promise<readonly LifecycleStage[]>} */
    () => session.client.get(at),
    [session, at, stage],
  );
  const isDone = stage === 'completed';
  return (
    <Card
      title="Stages"
      action={isDone ? 'Reopen' : 'Mark as completed…'}
      act={may ? () => (isDone ? resumeFlag : completeFlag)(session, flag) : null}
    >
      <ul class="plain">
        {(stages.loaded.value?.value ?? [lifecycle]).map((one) => (
          <li key={one.stage}>
            {`${STAGES[one.stage]}${one.status === undefined ? '' : `, ${one.status}`} `}
            <span class="muted">
              <TimeAgo iso={one.enteredStageAt} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The flags that it depends on, and those that depend on it. @param {FlagProps} props */
export function DependencyCards({ flag, may }) {
  const session = useSession();
  const { project, dependencies, children } = flag;
  return (
    <Card
      title="Dependencies"
      note={dependencies.length + children.length === 0 ? 'No dependencies yet.' : null}
      action="Add"
      act={may ? () => addDependency(session, flag) : null}
    >
      {dependencies.map((dependency) => {
        const { feature, enabled, variants } = dependency;
        return (
          <p key={feature} class="row spread card-line">
            <span>
              Needs <FlagLink project={project} name={feature} />
              <Sentence>
                {` to be ${enabled ? 'on' : 'off'}${variants.length === 0 ? '' : ` with ${variants.map((one) => said(one)).join(' or ')}`}`}
              </Sentence>
            </span>
            {may ? (
              <Button
                looks="quiet"
                aria-label={`Remove the dependency on ${feature}`}
                act={() => removeDependency(session, flag, dependency)}
              >
                Remove
              </Button>
            ) : null}
          </p>
        );
      })}
      {children.map((child) => (
        <p key={child}>
          <FlagLink project={project} name={child} /> depends on it.
        </p>
      ))}
    </Card>
  );
}
