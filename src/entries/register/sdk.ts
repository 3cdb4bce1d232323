/**
 * The SDK as the application has it installed, with what the `OTEL_*` variables say, or the file
 * that `OTEL_CONFIG_FILE` names.
 */
import { metrics } from '@opentelemetry/api';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import { apiRegistry } from '../../otel/api-registry.ts';
import type { ApplicationPackages } from '../../support/application-packages.ts';

export const SDK_PACKAGE = '@opentelemetry/sdk-node';
const AUTO_PACKAGE = '@opentelemetry/auto-instrumentations-node';
const HTTP_PACKAGE = '@opentelemetry/instrumentation-http';

export interface Sdk {
  start(): void;
  shutdown(): Promise<void>;
}

export interface SdkPackage {
  NodeSDK: new (config: {
    instrumentations: Instrumentation[];
    resourceDetectors?: unknown[];
  }) => Sdk;
  /** What reads a configuration file; `NodeSDK` does not. From 0.301 on. */
  startNodeSdk?: (options: { instrumentations: Instrumentation[] }) => Pick<Sdk, 'shutdown'>;
  /** Its name before 0.301. */
  startNodeSDK?: SdkPackage['startNodeSdk'];
}

interface AutoPackage {
  getNodeAutoInstrumentations(): Instrumentation[];
  getResourceDetectors?(): unknown[];
}

export function hasSdk(): boolean {
  const { trace, metrics } = apiRegistry();
  return trace !== undefined || metrics !== undefined;
}

/**
 * What the application has that makes spans: all that `auto-instrumentations-node` brings, else
 * HTTP.
 */
export function instrumentationsOf(packages: ApplicationPackages): Instrumentation[] {
  const auto = packages.load<AutoPackage>(AUTO_PACKAGE);
  if (auto !== undefined) return auto.getNodeAutoInstrumentations();
  const http = packages.load<{ HttpInstrumentation: new () => Instrumentation }>(HTTP_PACKAGE);
  return http === undefined ? [] : [new http.HttpInstrumentation()];
}

export function createSdk(
  { NodeSDK }: SdkPackage,
  packages: ApplicationPackages,
  instrumentations: Instrumentation[],
): Sdk {
  // The SDK by itself knows fewer of those that this variable can name.
  const resourceDetectors = process.env['OTEL_NODE_RESOURCE_DETECTORS']
    ? packages.load<AutoPackage>(AUTO_PACKAGE)?.getResourceDetectors?.()
    : undefined;
  return new NodeSDK({ instrumentations, ...(resourceDetectors && { resourceDetectors }) });
}

/** Whether it can be started from a configuration file. */
export function canReadFile({ startNodeSdk, startNodeSDK }: SdkPackage): boolean {
  return startNodeSdk !== undefined || startNodeSDK !== undefined;
}

/** Its only option: everything else is in the file. */
export function createSdkFromFile(
  { startNodeSdk, startNodeSDK }: SdkPackage,
  instrumentations: Instrumentation[],
): Sdk {
  let shutdown = async () => {};
  return {
    start() {
      const sdk = (startNodeSdk ?? startNodeSDK)?.({ instrumentations });
      if (sdk !== undefined) shutdown = () => sdk.shutdown();
      if (apiRegistry().metrics === undefined) return;
      // They were given the one before, and a meter follows to none.
      for (const instrumentation of instrumentations)
        instrumentation.setMeterProvider(metrics.getMeterProvider());
    },
    shutdown: () => shutdown(),
  };
}
