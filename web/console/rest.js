/** All that the first page does without, as later.jsx names it. */

// With the first page among what this needs, all of it is one file, and not one for each set of parts that both need.
import './app.jsx';

export { archiveFlags, deleteFlags } from './edit/archive.jsx';
export { favoriteMany, markMany, moveMany, switchMany, tagMany } from './edit/bulk-edits.jsx';
export { copyStrategies } from './edit/copy-strategies.jsx';
export {
  addDependency,
  addTag,
  completeFlag,
  copyFlag,
  createFlag,
  describeFlag,
  editLink,
  moveFlag,
  removeDependency,
  removeLink,
  removeTag,
  resumeFlag,
  reviveFlag,
} from './edit/flag-edits.jsx';
export { promote } from './edit/promote.jsx';
export { rollBack } from './edit/rollback.jsx';
export {
  addStrategy,
  editStrategy,
  moveUp,
  newStrategy,
  removeStrategy,
  turnStrategy,
} from './edit/strategy-edits.jsx';
export { editVariants } from './edit/variant-edits.jsx';
export { KindPage } from './kinds.jsx';
export { showCode } from './parts/connect.jsx';
export { failingIntegrations } from './parts/deliveries.jsx';
export { openFinder } from './parts/finder.jsx';
export { FirstSteps } from './parts/first-steps.jsx';
export { Moments } from './parts/moments.jsx';
export { AccountView } from './views/account-view.jsx';
export { AllFlagsView } from './views/all-flags-view.jsx';
export { ArchiveView } from './views/archive-view.jsx';
export { ChangeRequestView } from './views/change-request-view.jsx';
export { ChangeRequestsView } from './views/change-requests-view.jsx';
export { EventsView } from './views/events-view.jsx';
export { HealthView } from './views/health-view.jsx';
export { InsightsView } from './views/insights-view.jsx';
export { PlaygroundView } from './views/playground-view.jsx';
export { ProjectsView } from './views/projects-view.jsx';
export { ServerView } from './views/server-view.jsx';
export { SettingsView } from './views/settings-view.jsx';
export { StaleFlagsView } from './views/stale-flags-view.jsx';
export { TokensView } from './views/tokens-view.jsx';
