/** The providers, in the order in which people choose among them. */
import { DATADOG } from './datadog.ts';
import { NEW_RELIC } from './new-relic.ts';
import type { Provider } from './provider.ts';
import { SENTRY } from './sentry.ts';
import { SLACK } from './slack.ts';
import { SLACK_APP } from './slack-app.ts';
import { TEAMS } from './teams.ts';
import { TEAMS_WORKFLOW } from './teams-workflow.ts';
import { WEBHOOK } from './webhook.ts';

export const PROVIDERS: readonly Provider[] = [
  WEBHOOK,
  SLACK_APP,
  SLACK,
  TEAMS,
  TEAMS_WORKFLOW,
  DATADOG,
  NEW_RELIC,
  SENTRY,
];

export const providerNamed = (name: string): Provider | null =>
  PROVIDERS.find((one) => one.name === name) ?? null;
