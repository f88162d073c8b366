/** Events for the tests of providers. */
import type { Surroundings } from '../../../../src/addons/integrations/providers/provider.ts';
import type { LoggedEvent } from '../../../../src/persistence/event-log/logged-event.ts';

export const SURROUNDINGS: Surroundings = {
  publicUrl: 'https://flags.example',
  share: null,
  at: new Date('2026-03-04T05:06:07.890Z'),
};

export function event(fields: Partial<LoggedEvent> = {}): LoggedEvent {
  return {
    id: 7,
    createdAt: '2026-03-04T05:06:00.000Z',
    type: 'feature-environment-enabled',
    createdBy: 'Ada',
    createdByUserId: 3,
    environment: 'production',
    project: 'shop',
    featureName: 'new-checkout',
    data: null,
    preData: null,
    tags: [],
    ...fields,
  };
}
