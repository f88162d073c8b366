/** Every scenario, in the order in which they run and are reported. */
import { noNatsServer } from '../../test/addons/replication/nats-servers.ts';
import { NO_BROWSER } from '../../test/support/browser/browser.ts';
import type { Scenario } from '../lib/measurement.ts';
import { clusterScenario } from './cluster.ts';
import { consoleList } from './console.ts';
import { cost } from './cost.ts';
import { create } from './create.ts';
import { databasesScenario } from './databases.ts';
import { eventFilter, eventText } from './event-search.ts';
import { flagList } from './flag-list.ts';
import { flagRead } from './flag-read.ts';
import { flagReadRandom, flagReadShuffled } from './flag-read-random.ts';
import { growthEvents } from './growth-events.ts';
import { growthFlags } from './growth-flags.ts';
import { growthProjects } from './growth-projects.ts';
import { holds } from './holds.ts';
import { integrations } from './integrations.ts';
import { metrics } from './metrics.ts';
import { micro } from './micro.ts';
import { oneCore } from './one-core.ts';
import { overview } from './overview.ts';
import { sdkReads } from './sdk-reads.ts';
import { strategyPatch } from './strategy-patch.ts';
import { streams } from './streams.ts';
import { toggle } from './toggle.ts';
import { usage } from './usage.ts';
import { variantsPut } from './variants-put.ts';

const databases = databasesScenario();

export const SCENARIOS: readonly Scenario[] = [
  flagRead,
  flagReadShuffled,
  flagReadRandom,
  overview,
  flagList,
  toggle,
  create,
  strategyPatch,
  variantsPut,
  eventFilter,
  eventText,
  metrics,
  streams,
  usage,
  sdkReads,
  // Where processes can be held to a processor, and the time of a thread be read.
  ...(process.platform === 'linux' ? [oneCore, cost, integrations] : []),
  micro,
  growthFlags,
  holds,
  growthProjects,
  growthEvents,
  // Where there is a browser.
  ...(NO_BROWSER === false ? [consoleList] : []),
  // Where nats-server is installed.
  ...(noNatsServer === null ? [clusterScenario] : []),
  // Where Redis or PostgreSQL is installed.
  ...(databases === null ? [] : [databases]),
];

/**
 * The scenarios of `npm run bench`, some five minutes on two idle cores: the requests and sizes by which the server is judged. The
 * others take as long again, and are measured with `--all` or by their names. None has fewer rounds for it.
 */
export const STANDARD_SCENARIOS: readonly Scenario[] = [
  flagRead,
  flagReadShuffled,
  flagReadRandom,
  toggle,
  create,
  strategyPatch,
  metrics,
  sdkReads,
  ...(process.platform === 'linux' ? [cost] : []),
  micro,
  growthFlags,
  growthEvents,
];

/** One of each sort, for a run of half a minute; the others are run as tests. */
export const QUICK_SCENARIOS: readonly Scenario[] = [flagRead, toggle, strategyPatch, micro, growthEvents];
