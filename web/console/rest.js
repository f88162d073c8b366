/** All that the first page does without, as later.jsx names it. */

// With the first page among what this needs, all of it is one file, and not one for each set of parts that both need.
import './app.jsx';

export * from './edit/archive.jsx';
export * from './edit/bulk-edits.jsx';
export * from './edit/copy-strategies.jsx';
export * from './edit/flag-edits.jsx';
export * from './edit/promote.jsx';
export * from './edit/rollback.jsx';
export * from './edit/strategy-edits.jsx';
export * from './edit/variant-edits.jsx';
export * from './kinds.jsx';
export * from './parts/connect.jsx';
export * from './parts/deliveries.jsx';
export * from './parts/finder.jsx';
export * from './parts/first-steps.jsx';
export * from './parts/moments.jsx';
export * from './views/account-view.jsx';
export * from './views/all-flags-view.jsx';
export * from './views/archive-view.jsx';
export * from './views/change-request-view.jsx';
export * from './views/change-requests-view.jsx';
export * from './views/events-view.jsx';
export * from './views/health-view.jsx';
export * from './views/insights-view.jsx';
export * from './views/playground-view.jsx';
export * from './views/projects-view.jsx';
export * from './views/server-view.jsx';
export * from './views/settings-view.jsx';
export * from './views/stale-flags-view.jsx';
export * from './views/tokens-view.jsx';
