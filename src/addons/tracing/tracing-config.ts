/** Whether traces are recorded, by the variables that OpenTelemetry has for it; its SDK reads the others itself. */

import { ConfigError, type Environment, oneOf, text } from '../../process/settings.ts';
import { TRACE_PROTOCOLS, type TraceProtocol } from './open-telemetry.ts';

export interface TracingConfig {
  readonly protocol: TraceProtocol;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;

/** Null unless a collector is named. */
export function tracingConfig(env: Environment): TracingConfig | null {
  const endpoint = ENDPOINTS.find((name) => text(env, name) !== undefined);
  const isDisabled = text(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (endpoint === undefined || isDisabled) return null;
  if (oneOf(env, 'OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'none') return null;
  if (!URL.canParse(text(env, endpoint) ?? ''))
    throw new ConfigError(`${endpoint} must be a URL such as http://localhost:4318.`);
  const name = PROTOCOLS.find((one) => text(env, one) !== undefined) ?? PROTOCOLS[0];
  return { protocol: oneOf(env, name, TRACE_PROTOCOLS, 'http/protobuf') };
}
