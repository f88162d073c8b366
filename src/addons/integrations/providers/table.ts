/** The providers, in the order in which people choose among them. */
import type { Provider } from './provider.ts';
import { WEBHOOK } from './webhook.ts';

export const PROVIDERS: readonly Provider[] = [WEBHOOK];

export const providerNamed = (name: string): Provider | null =>
  PROVIDERS.find((one) => one.name === name) ?? null;
