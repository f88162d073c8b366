/** Opens the tracer that the configuration asks for, and says which packages to install where they are missing. */
import type { AddonParts, ConfiguredAddon, Setup } from '../../host/addon.ts';
import { VERSION } from '../../process/installation.ts';
import type { Log } from '../../process/log.ts';
import { ConfigError } from '../../process/settings.ts';
import { type OpenTracer, openTelemetry } from './open-telemetry.ts';
import { type TracingConfig, tracingConfig } from './tracing-config.ts';

export async function configureTracing({ env, log }: Setup): Promise<ConfiguredAddon | null> {
  const config = tracingConfig(env);
  if (config === null) return null;
  const open = async (): Promise<AddonParts> => {
    const tracer = await openTracer(config, log);
    return { tracer, close: () => tracer.close() };
  };
  return { open };
}

/** The SDK reports a collector that is away with every batch. */
const TROUBLE_PERIOD_MS = 60_000;

const PACKAGES =
  '@opentelemetry/api@1.9 @opentelemetry/resources@2 @opentelemetry/sdk-trace-base@2 @opentelemetry/exporter-trace-otlp-proto@0.223';

async function openTracer({ protocol }: TracingConfig, log: Log): Promise<OpenTracer> {
  let toldAt = Number.NEGATIVE_INFINITY;
  const onTrouble = (message: string): void => {
    if (performance.now() - toldAt < TROUBLE_PERIOD_MS) return;
    toldAt = performance.now();
    // Operators: look at `trouble`, and at the collector
    log.warn({ trouble: message.slice(0, 1_000) }, 'traces could not be sent; requests are not affected');
  };
  try {
    return await openTelemetry({ protocol, version: VERSION, onTrouble });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, which take packages that are not installed here: npm install ${PACKAGES}`,
    );
  }
}
