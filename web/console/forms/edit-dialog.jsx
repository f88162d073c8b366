/**
 * The dialog in which everything is made and edited: the fields, the sentence that will be true, the request as curl,
 * what the server refuses at the field that it names, and what to do when somebody else was faster.
 */
import { useRef, useState } from 'preact/hooks';
import { changeFlag, make, mayChangeProduction, noticedIn, skipText, takeBack } from '../changes.jsx';
import { messageOf, onceEach, Refused } from '../client.js';
import { notice } from '../notices.jsx';
import { Button, useOnce } from '../parts/button.jsx';
import { maySkip, proposalsOf, proposing } from '../proposals.jsx';
import { useDelayed } from '../resource.jsx';
import { Sentence } from '../said.jsx';
import { Conflict, conflictOf, isSame, revisionOf } from './conflict.jsx';
import { Curl } from './curl.jsx';
import { Modal, openDialog } from './dialogs.jsx';
import { draftOf, dropDraft, keepDraft } from './drafts.js';
import { FieldRows, Issues } from './fields.jsx';
import { Tabs } from './tabs.jsx';

/** @import { Change } from '../client.js' */
/** @import { Proposal } from '../proposals.jsx' */
/** @import { Edit, Field, Session } from '../types.d.ts' */
/** @import { ConflictState } from './conflict.jsx' */

/** Resolves once the dialog is closed. @template {object} V @param {Session} session @param {Edit<V>} edit */
export function openEdit(session, edit) {
  const sending = { ...session, client: onceEach(session.client) };
  return openDialog((close) => <EditDialog session={sending} edit={edit} close={close} />);
}

/** @param {{ session: Session, edit: Edit<any>, close: () => void }} props */
function EditDialog({ session, edit, close }) {
  const { agree = 'Save' } = edit;
  const form = useForm(session, edit, close);
  const fields = edit.fields.filter(({ when }) => when?.(form.values) !== false);
  const change = edit.change(form.values);
  const [first] = form.proposals;
  const isProposed = first !== undefined;
  const maySave = maySkip(session, form.proposals);
  // A proposal changes nothing for anybody.
  const noticed = isProposed && !maySave ? null : form.noticed;
  const place = noticed?.environment ?? null;
  /** @param {readonly Field<any>[]} some */
  const rows = (some) => (
    <FieldRows fields={some} values={form.values} set={form.set} issuesAt={form.issuesAt} />
  );
  return (
    <Modal title={edit.title} close={close} isWide={edit.wide === true}>
      <form class="stack edit" noValidate ref={form.ref} onSubmit={form.submit}>
        {edit.tabs === undefined ? (
          rows(fields)
        ) : (
          <Tabs
            tabs={edit.tabs.map(([name, count]) => [name, count(form.values)])}
            chosen={form.tab}
            choose={form.setTab}
            panel={(name) => rows(fields.filter(({ tab }) => tab === name))}
          />
        )}
        {first !== undefined ? (
          <Curl change={proposing(first)} ifMatch="" />
        ) : (
          <Curl change={withoutSecrets(change, fields)} ifMatch={form.etag} />
        )}
        <div class="stack edit-foot">
          {form.isDraft ? <Draft discard={form.discard} /> : null}
          <div class="box preview">
            <Sentence>{edit.sentence(form.values)}</Sentence>
            {noticed?.who ? <Sentence>{noticed.who}</Sentence> : null}
          </div>
          <Issues of={form.issuesElsewhere(fields.flatMap(({ name, paths = [] }) => [name, ...paths]))} />
          {isProposed ? <p class="hint">{skipText(session, form.proposals)}</p> : null}
          {form.conflict === null ? (
            <div class="row question-answers">
              <Button act={form.cancel}>Cancel</Button>
              {maySave ? (
                <Button looks="button button-danger" act={() => form.send(true)}>
                  {`${agree} anyway`}
                </Button>
              ) : null}
              <button
                type="submit"
                class={`button ${(edit.danger === true || place !== null) && !isProposed ? 'button-danger' : 'button-main'}`}
                aria-busy={form.isBusy}
              >
                {isProposed ? 'Propose' : place === null ? agree : `${agree} in ${place}`}
              </button>
            </div>
          ) : (
            <Conflict of={form.conflict} resolve={form.resolve} close={form.cancel} />
          )}
        </div>
      </form>
    </Modal>
  );
}

/** @param {{ discard: () => void }} props */
const Draft = ({ discard }) => (
  <p class="hint" role="status">
    {'Restored from your draft. '}
    <Button looks="quiet" act={discard}>
      Start over
    </Button>
  </p>
);

/** Whether it is in no draft and no command. @param {Field<any>} field */
const isSecret = ({ kind, isSecret = false }) => isSecret || kind === 'password';

/** For the command that is shown. @param {Change} change @param {readonly Field<any>[]} fields @returns {Change} */
function withoutSecrets(change, fields) {
  const secrets = fields.filter(isSecret).map(({ name, paths = [] }) => (paths[0] ?? name).split('/').at(-1));
  if (secrets.length === 0) return change;
  const body = JSON.stringify(change.body ?? {}, (name, value) => (secrets.includes(name) ? '…' : value));
  return { ...change, body: JSON.parse(body) };
}

/** @param {Session} session @param {Edit<any>} edit @param {() => void} close */
function useForm(session, edit, close) {
  const key = useRef(draftKey(session, edit)).current;
  const draft = useRef(draftOf(key)).current;
  const [values, setValues] = useState({ ...edit.values, ...draft?.values });
  const [isDraft, setDraft] = useState(draft !== null);
  /** The record from which the values were made. */
  const [base, setBase] = useState(draft?.base ?? baseOf(edit));
  const [refusal, setRefusal] = useState(/** @type {Refused | null} */ (null));
  const [conflict, setConflict] = useState(/** @type {ConflictState | null} */ (null));
  const [isBusy, once] = useOnce();
  const [tab, setTab] = useState(edit.tabs?.[0]?.[0] ?? '');
  const ref = useRef(/** @type {HTMLFormElement | null} */ (null));
  /** Two changes may come between two renders. */
  const latest = useRef(values);

  const [proposals, setProposals] = useState(/** @type {readonly Proposal[]} */ ([]));
  const sent = edit.change(values);
  const all = edit.next === undefined ? sent : [sent, edit.next];
  useDelayed(
    0,
    // Sending it says what is wrong.
    () => proposalsOf(session, all).catch(() => []),
    setProposals,
    [JSON.stringify(all)],
  );

  const environment = edit.environment?.(values);
  /** The form itself says what it changes in production, as it stood when it was opened; what came later is asked about. */
  const [found, setFound] = useState(
    /** @type {{ environment: string | undefined, who: string | null | undefined } | null} */ (null),
  );
  useDelayed(
    0,
    () => noticedIn(session, environment, edit.affected).catch(() => null),
    (who) => setFound({ environment, who }),
    [environment],
  );
  const noticed = found?.environment === environment && found?.who !== null ? found : null;

  /** @param {boolean | undefined} isAnyway */
  const send = (isAnyway) => once(() => sendNow(isAnyway));

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    return send(proposals.length === 0 ? undefined : false);
  }

  /** @param {boolean | undefined} isAnyway */
  async function sendNow(isAnyway) {
    setRefusal(null);
    try {
      const missing = missingIn(edit, values);
      if (missing.length > 0) throw new Refused(400, 'Fill in the required fields.', missing);
      // What it sent before may be what has changed since; whether it is, the server knows.
      if (refusal?.status !== 0 && (await isOutdated(session, edit, base.etag))) return await showConflict();
      const question = { agree: 'Save', ...edit, environment, change: edit.change(values), isAnyway };
      if (noticed === null && !(await mayChangeProduction(session, question, edit.sentence(values)))) return;
      await save(session, edit, values, { ...base, isAnyway });
      dropDraft(key);
      close();
    } catch (error) {
      await onRefused(error);
    }
  }

  async function showConflict() {
    setConflict(await conflictOf(session, { edit, base, mine: values }));
    focusFault();
  }

  /** @param {unknown} error */
  async function onRefused(error) {
    if (edit.pinned !== undefined && error instanceof Refused && error.status === 412)
      return await showConflict();
    setRefusal(error instanceof Refused ? error : new Refused(0, messageOf(error)));
    focusFault();
  }

  /** Once it is shown what is wrong, whoever sent the form goes on there, on whatever tab that is. */
  function focusFault() {
    setTimeout(() => {
      const form = ref.current;
      const faulty =
        form?.querySelector('[aria-invalid], [data-fault]') ??
        form?.querySelector('[role=tabpanel] .problem');
      const panel = faulty?.closest('[role=tabpanel]');
      if (panel instanceof HTMLElement) setTab(panel.dataset['tab'] ?? '');
      // Once that tab is drawn.
      setTimeout(() => faulty instanceof HTMLElement && faulty.focus());
    });
  }

  /** @param {object} next */
  function change(next) {
    latest.current = next;
    setValues(next);
    const draft = typed(edit, next);
    if (isSame(draft, typed(edit, base.values))) dropDraft(key);
    else keepDraft(key, { values: draft, base });
  }

  return {
    values,
    ref,
    isBusy,
    conflict,
    tab,
    setTab,
    submit,
    send,
    proposals,
    noticed,
    etag: base.etag,
    isDraft,
    discard() {
      dropDraft(key);
      latest.current = edit.values;
      setValues(edit.values);
      setBase(baseOf(edit));
      setDraft(false);
    },
    cancel() {
      dropDraft(key);
      close();
    },
    /** @param {object} changed */
    set: (changed) => change({ ...latest.current, ...changed }),
    /** @param {string} path below the body */
    issuesAt: (path) =>
      (refusal?.details ?? []).filter((one) => isBelow(one.path, path)).map(({ message }) => message),
    /** The messages that belong to none of the fields. @param {readonly string[]} paths */
    issuesElsewhere(paths) {
      if (refusal === null) return [];
      if (refusal.details.length === 0) return [refusal.message];
      return refusal.details
        .filter((one) => !paths.some((path) => isBelow(one.path, path)))
        .map(({ message }) => message);
    },
    /** @param {object} merged @param {object} theirs @param {string} etag */
    resolve(merged, theirs, etag) {
      change(merged);
      setBase({ values: theirs, etag });
      setConflict(null);
    },
  };
}

/** The record as it was when the dialog opened. @param {Edit<any>} edit */
const baseOf = ({ values, pinned }) => ({ values, etag: pinned?.etag ?? '' });

/** Whether somebody has changed it since, which is said before anything is asked about it. @param {Session} session @param {Edit<any>} edit @param {string} etag */
async function isOutdated({ client }, { of, pinned, environment }, etag) {
  if (of === undefined || pinned === undefined || environment === undefined) return false;
  return revisionOf((await client.read(pinned.at)).etag) !== revisionOf(etag);
}

/** The problems of the form, as the server would say it. @param {Edit<any>} edit @param {any} values */
function missingIn({ fields }, values) {
  return fields
    .filter(({ when }) => when?.(values) !== false)
    .flatMap(({ name, label, required, paths, missing }) => [
      ...(required === true && String(values[name] ?? '').trim() === ''
        ? [{ path: `/body/${paths?.[0] ?? name}`, message: `${label} is required.` }]
        : []),
      ...(missing?.(values) ?? []),
    ]);
}

/** The values without secrets. @param {Edit<any>} edit @param {any} values */
function typed({ fields }, values) {
  const secrets = fields.filter(isSecret).map(({ name }) => name);
  return Object.fromEntries(Object.entries(values).filter(([name]) => !secrets.includes(name)));
}

/** The same form of the same person. @param {Session} session @param {Edit<any>} edit */
const draftKey = ({ me }, { title }) => `${me.user.id} ${title}`;

/** @param {string | undefined} pointer such as `/body/constraints/0` @param {string} path such as `constraints` */
function isBelow(pointer, path) {
  return pointer === `/body/${path}` || pointer?.startsWith(`/body/${path}/`) === true;
}

/** @param {Session} session @param {Edit<any>} edit @param {any} values @param {{ values: any, etag: string, isAnyway: boolean | undefined }} base what they were made from */
async function save(session, edit, values, base) {
  const way = { ifMatch: base.etag, ...(base.isAnyway === undefined ? {} : { isAnyway: base.isAnyway }) };
  const change = edit.change(values);
  const done = edit.done(values);
  /** @param {any} response */
  const undoOf = (response) => {
    if (edit.undo === 'before') return edit.change(base.values);
    return typeof edit.undo === 'function' ? edit.undo(values, response, base.values) : edit.undo;
  };
  if (edit.of !== undefined) {
    const { project, name } = edit.of;
    const changes = edit.next === undefined ? change : [change, edit.next];
    const made = await changeFlag(session, {
      project,
      flag: name,
      change: changes,
      done,
      undo: undoOf(null),
      ...way,
    });
    if (made !== null) edit.after?.(made.response, values);
    return;
  }
  const made =
    edit.send === undefined
      ? await make(session, change, way)
      : { response: await edit.send(change, values, session.client) };
  if (made === null) return;
  const undo = undoOf(made.response) ?? null;
  notice('done', done, undo === null ? null : () => takeBack(session, undo));
  void session.feed.look();
  edit.after?.(made.response, values);
}
