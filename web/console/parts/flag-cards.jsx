/** What a flag consists of, part by part, each with what can be done to it. */

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
import { hrefOf } from '../place.js';
import { useResource } from '../resource.jsx';
import { Name, Sentence, said, visible } from '../said.jsx';
import { useSession } from '../session.js';
import { STAGES } from '../words.js';
import { RowAction } from './listing.jsx';
import { TimeAgo } from './time-ago.jsx';
import { VariantBar } from './variants.jsx';

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
    <p class="facts">
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
            <button
              type="button"
              class="badge-remove"
              aria-label={`Remove the tag ${visible(`${tag.type}: ${tag.value}`)}`}
              onClick={() => void removeTag(session, flag, tag)}
            >
              ×
            </button>
          ) : null}
        </span>
      ))}
      {may ? (
        <button type="button" class="quiet" onClick={() => void addTag(session, flag)}>
          Add tag
        </button>
      ) : null}
    </p>
  );
}

/** @param {FlagProps} props */
export function VariantCard({ flag, etag, may }) {
  const session = useSession();
  const variants = flag.variants ?? [];
  const edit = (
    <button
      type="button"
      class="quiet"
      aria-label={`${variants.length === 0 ? 'Add' : 'Edit'} variants`}
      onClick={() => void editVariants(session, flag, etag)}
    >
      {variants.length === 0 ? 'Add' : 'Edit'}
    </button>
  );
  return (
    <section class="card" aria-label="Variants">
      <div class="card-head">
        <h2>Variants</h2>
        {may ? edit : null}
      </div>
      {variants.length === 0 ? (
        <p class="muted">No variants: everybody for whom it is on gets the same.</p>
      ) : (
        <VariantBar variants={variants} />
      )}
    </section>
  );
}

/** Where else something is written about it. @param {FlagProps} props */
export function LinkCard({ flag, may }) {
  const session = useSession();
  return (
    <section class="card" aria-label="Links">
      <div class="card-head">
        <h2>Links</h2>
        {may ? (
          <button
            type="button"
            class="quiet"
            aria-label="Add link"
            onClick={() => void editLink(session, flag, null)}
          >
            Add
          </button>
        ) : null}
      </div>
      {flag.links.length === 0 ? <p class="muted">No ticket, discussion or design is linked.</p> : null}
      {flag.links.map((link) => {
        const name = link.title ?? link.url;
        return (
          <p key={link.id} class="card-line">
            {/^https?:/.test(link.url) ? (
              <a href={link.url} rel="noreferrer nofollow" target="_blank" title={visible(link.url)}>
                <Name text={name} />
              </a>
            ) : (
              <Name text={name} />
            )}
            {may ? (
              <span>
                <RowAction text="Edit" of={name} act={() => editLink(session, flag, link)} />
                <RowAction text="Remove" of={name} act={() => removeLink(session, flag, link)} />
              </span>
            ) : null}
          </p>
        );
      })}
    </section>
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
    <section class="card" aria-label="Stages">
      <div class="card-head">
        <h2>Stages</h2>
        {may ? (
          <button
            type="button"
            class="quiet"
            onClick={() => void (isDone ? resumeFlag(session, flag) : completeFlag(session, flag))}
          >
            {isDone ? 'Not done with' : 'Done with…'}
          </button>
        ) : null}
      </div>
      <ul class="plain">
        {(stages.loaded.value?.value ?? [lifecycle]).map((one) => (
          <li key={one.stage}>
            {`${STAGES[one.stage]}${one.status === undefined ? '' : `, ${one.status}`} `}
            <span class="muted">
              <TimeAgo iso={one.enteredStageAt} prefix="since " />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The flags that it depends on, and those that depend on it. @param {FlagProps} props */
export function DependencyCards({ flag, etag, may }) {
  const session = useSession();
  const { project, dependencies, children } = flag;
  /** @param {string} name */
  const link = (name) => (
    <a href={hrefOf({ view: 'flag', project, flag: name })}>
      <code>{name}</code>
    </a>
  );
  return (
    <section class="card" aria-label="Dependencies">
      <div class="card-head">
        <h2>Dependencies</h2>
        {may ? (
          <button type="button" class="quiet" onClick={() => void addDependency(session, flag, etag)}>
            Add
          </button>
        ) : null}
      </div>
      {dependencies.length + children.length === 0 ? <p class="muted">It depends on no other flag.</p> : null}
      {dependencies.map(({ feature, enabled, variants }) => (
        <p key={feature} class="card-line">
          <span>
            Needs {link(feature)}
            <Sentence>
              {` to be ${enabled ? 'on' : 'off'}${variants.length === 0 ? '' : ` with ${variants.map((one) => said(one)).join(' or ')}`}`}
            </Sentence>
          </span>
          {may ? (
            <button
              type="button"
              class="quiet"
              aria-label={`Remove the dependency on ${feature}`}
              onClick={() => void removeDependency(session, flag, feature)}
            >
              Remove
            </button>
          ) : null}
        </p>
      ))}
      {children.map((child) => (
        <p key={child}>{link(child)} depends on it.</p>
      ))}
    </section>
  );
}
