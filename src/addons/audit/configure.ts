/** The signing of a server's history: what is on disk is signed a second later, and shown on `/health`, in metrics and to those who copy the log. */
import type { JournalObserver, ObservedJournal } from '../../actors/journal-observer.ts';
import type { ConfiguredAddon, Setup } from '../../host/addon.ts';
import type { AddonMetrics } from '../../http/serving/metrics.ts';
import { HeadKeeper, type HeadStatus } from './head-keeper.ts';
import { headsPath } from './heads-file.ts';
import { keyFileOf, openSigner } from './history-key.ts';

export function configureAudit({ env }: Setup): ConfiguredAddon {
  let status: HeadStatus = { newest: null, problem: null };
  return {
    observe: async (journal) => {
      const { fs, folder } = journal;
      const signer = await openSigner(fs, keyFileOf(env, folder));
      if ('problem' in signer) {
        status = { newest: null, problem: signer.problem };
        return withoutKey(journal, signer.problem);
      }
      const keeper = new HeadKeeper(journal, signer);
      status = keeper;
      return keeper;
    },
    open: () => ({ health: () => healthOf(status), metrics: headMetrics(() => status) }),
  };
}

function withoutKey({ fs, folder, log }: ObservedJournal, problem: string): JournalObserver {
  // Operators, of "History is not signed: …": put [the key](docs/audit.md#keys) back, and start again
  log.error({}, problem);
  // Without the key, deleted events of a signed history cannot be recorded.
  return { beforeDeletion: async () => !(await fs.exists(headsPath(folder))) };
}

const healthOf = ({ newest, problem }: HeadStatus) => ({
  warning: problem,
  shown: newest === null ? {} : { head: newest },
});

export const headMetrics = (status: () => HeadStatus): AddonMetrics => ({
  gauges: [
    [
      'flagstaff_signed_event_id',
      'The last event that a signed head stands for. Behind `flagstaff_last_event_id` for minutes: the log says why.',
      () => status().newest?.lastId ?? 0,
    ],
    [
      'flagstaff_history_contradicted',
      '1: the journal is not what was signed, or no key can sign it. The log and `/health` say why.',
      () => (status().problem === null ? 0 : 1),
    ],
  ],
});
