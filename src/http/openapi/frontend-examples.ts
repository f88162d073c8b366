/** Examples of what SDKs in browsers send and read. By the name of the component. */

const TOGGLE = {
  name: 'checkout-redesign',
  enabled: true,
  impressionData: false,
  variant: {
    name: 'one-page',
    enabled: true,
    payload: { type: 'string', value: 'compact' },
    feature_enabled: true,
    featureEnabled: true,
  },
};

export const FRONTEND_EXAMPLES: Readonly<Record<string, unknown>> = {
  FrontendContext: { context: { userId: '1', properties: { region: 'eu' } } },
  Toggle: TOGGLE,
  Toggles: { toggles: [TOGGLE] },
};
