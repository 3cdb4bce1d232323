/**
 * What `/register` does, and in which order. Never throws: a preload that throws ends the
 * application before it begins.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createNoopMeter, metrics, ProxyTracerProvider, trace } from '@opentelemetry/api';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import { isAnyEnabled } from '../../active-instance.ts';
import { main } from '../../main-entry.ts';
import { apiRegistry, registryOfOtherSdk } from '../../otel/api-registry.ts';
import { OnceLogger } from '../../otel/diag-once.ts';
import { globalLoggerProvider } from '../../otel/logger.ts';
import { sdkOf } from '../../otel/sdk-internals.ts';
import { ApplicationPackages, usePackagesBeside } from '../../support/application-packages.ts';
import { copies, putBackKeptWrappers } from '../../support/copies.ts';
import { attempt } from '../../support/guard.ts';
import { sayAs } from '../../support/stderr.ts';
import { nextIteration } from '../../support/time.ts';
import { PACKAGE_NAME } from '../../version.ts';
import { whenApplicationIsLoaded, whenApplicationIsLoadedOrEnds } from './application-start.ts';
import { isDistributionPreloaded, registerDatadog } from './distributions.ts';
import { areModulesHooked, prepareModuleHooks } from './module-hooks.ts';
import { watchForOtherSdk } from './other-sdk.ts';
import { ProcessEnd } from './process-end.ts';
import { RelayTracerProvider } from './relay-tracer-provider.ts';
import {
  canReadFile,
  createSdk,
  createSdkFromFile,
  hasSdk,
  instrumentationsOf,
  SDK_PACKAGE,
  type Sdk,
  type SdkPackage,
} from './sdk.ts';
import { addSpanProcessor } from './span-processor.ts';
import { withOwnInstanceId } from './worker-threads.ts';

const say = sayAs('register');
const API = '@opentelemetry/api';
const USE_IMPORT =
  'preloaded by --require into an ES module, whose imports are not instrumented: ' +
  `spans of HTTP requests are missing. To have them: node --import ${PACKAGE_NAME}/register`;

/**
 * With these, Node.js 20 loads a CommonJS script as it loads ES modules, or the script runs in
 * another process.
 */
const LOADED_OTHERWISE = /--(?:import|loader|experimental-loader|test|watch)\b/;

/** @param esm loaded by `--import`: ES modules are to be instrumented as well */
export function register({ esm }: { esm: boolean }): void {
  const shared = copies();
  if (shared.isRegistered) return;
  shared.isRegistered = true;
  try {
    start(esm);
  } catch (error) {
    say('cannot start', error);
  }
}

function start(esm: boolean): void {
  const path = process.env['OTEL_CONFIG_FILE']?.trim() || undefined;
  const otherApi = usePackagesBeside(fileURLToPath(import.meta.url));
  const packages = new ApplicationPackages();
  registerDatadog();
  if (hasSdk() || isDistributionPreloaded()) {
    joinSdk(esm);
    return;
  }
  const isDisabled = process.env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true';
  const isNeeded = path !== undefined || !isDisabled;
  const sdkPackage = isNeeded ? packages.load<SdkPackage>(SDK_PACKAGE) : undefined;
  if (sdkPackage !== undefined && path !== undefined) {
    if (canReadFile(sdkPackage)) {
      // What is wrong with the file, the SDK says.
      startSdk(packages, esm, otherApi, (list) => createSdkFromFile(sdkPackage, list));
      return;
    }
    say(`OTEL_CONFIG_FILE is ignored: this ${SDK_PACKAGE} has no startNodeSdk(), which reads it`);
  }
  if (sdkPackage === undefined) startWithoutSdk(isDisabled);
  else {
    copies().isSdkOfEnvironment = true;
    startSdk(packages, esm, otherApi, (list) => createSdk(sdkPackage, packages, list));
  }
}

/** @param isWanted whoever starts the application has disabled the SDK */
function startWithoutSdk(isWanted: boolean): void {
  const eventLoop = new main.EventLoopInstrumentation();
  const { console: format, reportFile } = eventLoop.getConfig();
  if (format || reportFile) {
    // The summary and the page are written if a signal ends the process.
    const settle = () => eventLoop.forceFlush();
    const end = new ProcessEnd({
      flush: settle,
      shutdown: settle,
      killed: () => eventLoop.disable(),
    });
    end.begin(nextIteration().then(() => eventLoop.ready()));
  }
  if (isWanted) return;
  // One may be preloaded after this entry.
  whenApplicationIsLoadedOrEnds(() => {
    if (!hasSdk()) say(`nothing is exported: ${howToInstall(process.versions.node)}`);
    else sayIfApisDiffer();
  });
}

let hasSaidApis = false;

/** The SDK is registered with an older copy of the api, which this package's does not use. */
function sayIfApisDiffer(): void {
  const registry = registryOfOtherSdk();
  if (registry === undefined || hasSaidApis) return;
  hasSaidApis = true;
  const { version } = registry;
  say(
    `two copies of ${API}: that of the SDK, ${version}, is older than that of this package, so ` +
      'blocks have no parent, or no spans. To mend it, run npm dedupe, or install the same ' +
      `version beside this package: npm install ${API}@${version}`,
  );
}

/** The SDK of a distribution, or of the application, that is registered or about to be. */
function joinSdk(esm: boolean): void {
  const join = () => {
    try {
      registerDatadog();
      if (isAnyEnabled()) logStaysDisabled(new OnceLogger());
      else new main.EventLoopInstrumentation();
      addSpanProcessor();
      sayIfApisDiffer();
    } catch (error) {
      say('cannot start', error);
    }
  };
  // Distributions hook modules from a thread of their own on many versions of Node.js: then the
  // event loop turns before the application is loaded, and loading it would be reported.
  if (esm || !hasSdk()) whenApplicationIsLoaded(join);
  else join();
}

function logStaysDisabled(log: OnceLogger): void {
  log.log(
    'warn',
    'another EventLoopInstrumentation is enabled in this process: that of /register stays disabled',
  );
}

function startSdk(
  packages: ApplicationPackages,
  esm: boolean,
  otherApi: (() => object | undefined) | undefined,
  create: (instrumentations: Instrumentation[]) => Sdk,
): void {
  const log = new OnceLogger();
  const hookModules = esm ? prepareModuleHooks(packages) : undefined;
  const others = instrumentationsOf(packages);
  // This comes last: modules that are loaded with the first instrumentation, such as `http`, cannot
  // be patched by instrumentations that are made later.
  const eventLoop = new main.EventLoopInstrumentation();
  const { sdk, hookingThread } = withOwnInstanceId(() => {
    const created = create([...others, eventLoop]);
    const hooking = hookModules?.();
    created.start();
    return { sdk: created, hookingThread: hooking };
  });
  let isLoaded = nextIteration();
  if (hookingThread === 'other' && eventLoop.isEnabled()) {
    copies().areWrappersKept = true;
    eventLoop.disable();
    isLoaded = new Promise((resolve) => {
      whenApplicationIsLoaded(() => {
        copies().areWrappersKept = false;
        // An instance that the application has made meanwhile stays enabled.
        if (isAnyEnabled()) logStaysDisabled(log);
        else eventLoop.enable();
        putBackKeptWrappers();
        resolve();
      });
    });
  }
  addSpanProcessor(log);
  sayIfApisDiffer();
  let isReplaced = false;
  if (!esm && !areModulesHooked() && apiRegistry().trace !== undefined && others.length > 0) {
    whenApplicationIsLoadedOrEnds(() => {
      if (!isReplaced && isMainEsModule()) say(USE_IMPORT);
    });
  }
  // The application may register a meter provider of its own later.
  const providers = [trace.getTracerProvider(), metrics.getMeterProvider(), globalLoggerProvider()];
  // A provider of the SDK can be flushed, that of the api alone cannot.
  const flushed = providers.map((each): { forceFlush?(): Promise<void> } => sdkOf(each ?? {}));
  const end = new ProcessEnd({
    flush: async () => {
      await eventLoop.forceFlush();
      await Promise.all(flushed.map((provider) => provider.forceFlush?.()));
    },
    shutdown: async () => {
      await eventLoop.forceFlush();
      await sdk.shutdown();
    },
    // After a signal there is no time for what is in progress.
    killed: () => eventLoop.disable(),
  });
  end.begin(isLoaded.then(() => eventLoop.ready()));
  const relay = relayTracers();
  watchForOtherSdk(
    {
      comes: () => {
        log.log('info', 'the application starts an SDK itself: that of /register is removed');
        isReplaced = true;
        end.undo();
        // Before api 1.10, and in packages made for it, logs are registered elsewhere.
        packages.load<{ logs: { disable(): void } }>('@opentelemetry/api-logs')?.logs.disable();
        removeSdk(sdk, others);
      },
      registered: () => {
        if (isReplaced && relay !== undefined) relay.target = trace.getTracerProvider();
        eventLoop.setTracerProvider(trace.getTracerProvider());
        eventLoop.setMeterProvider(metrics.getMeterProvider());
        const loggers = globalLoggerProvider();
        if (loggers !== undefined) eventLoop.setLoggerProvider(loggers);
        sayIfApisDiffer();
      },
    },
    (error) => log.log('warn', 'the SDK of /register cannot be removed completely', error),
    attempt(() => otherApi?.()),
  );
}

/** Call it when the application is loaded: Node.js knows a CommonJS script by then. */
function isMainEsModule(): boolean {
  const { _eval: evaluated } = process as { _eval?: unknown };
  const options = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  if (process.mainModule !== undefined || evaluated != null) return false;
  return existsSync(process.argv[1] ?? '') && !LOADED_OTHERWISE.test(options);
}

/** Tracers that the api returns from now on follow to another SDK. */
function relayTracers(): RelayTracerProvider | undefined {
  // `instanceof` does not work: the provider may be of another copy of the api.
  const proxy = trace.getTracerProvider() as Partial<ProxyTracerProvider>;
  const sdk = proxy.getDelegate?.();
  if (apiRegistry().trace === undefined || sdk === undefined) return undefined;
  const relay = new RelayTracerProvider(sdk);
  proxy.setDelegate?.(relay);
  return relay;
}

/**
 * Sends what the SDK has. What its instrumentations have patched stays patched in part, and emits
 * nothing any more.
 */
function removeSdk(sdk: Sdk, instrumentations: readonly Instrumentation[]): void {
  sdk.shutdown().catch(() => {});
  for (const instrumentation of instrumentations) {
    instrumentation.setTracerProvider(new ProxyTracerProvider());
    instrumentation.setMeterProvider({ getMeter: () => createNoopMeter() });
  }
  for (const instrumentation of instrumentations) instrumentation.disable();
}

/**
 * From here on the newest packages of OpenTelemetry run; those before are pinned to the last that
 * support it.
 */
const MODERN_NODE = [22, 15] as const;
const LEGACY_PACKAGES = '@opentelemetry/auto-instrumentations-node@0.81 @opentelemetry/api@1.9';
const MODERN_PACKAGES = '@opentelemetry/auto-instrumentations-node';

/** The command that installs what is missing, for the Node.js that runs. */
function howToInstall(nodeVersion: string): string {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const isModern = major > MODERN_NODE[0] || (major === MODERN_NODE[0] && minor >= MODERN_NODE[1]);
  const packages = isModern ? MODERN_PACKAGES : LEGACY_PACKAGES;
  return `the application has no OpenTelemetry SDK. To install one: npm install ${packages}`;
}
