/**
 * What the entry `/console` does: the console report of this thread, by whichever instrumentation
 * is active. Its own session runs while the application has enabled none. Never throws: a preload
 * that throws ends the application before it begins.
 */
import { EventEmitter } from 'node:events';
import { isMainThread } from 'node:worker_threads';
import { createNoopMeter, ProxyTracerProvider } from '@opentelemetry/api';
import { activeSession, takeOver } from './active-instance.ts';
import { type ResolvedConfig, resolveConfig } from './config.ts';
import { createInstruments } from './core/emit/instruments.ts';
import type { SessionTargets } from './core/session/common.ts';
import { type Session, startSession } from './core/session/session.ts';
import { OnceLogger } from './otel/diag-once.ts';
import { ConsoleReporter } from './outputs/console/console-reporter.ts';
import { copies } from './support/copies.ts';
import { attempt } from './support/guard.ts';
import { doAtLoopEnd } from './support/loop-end.ts';
import { SignalListener } from './support/signal-listener.ts';
import { sayAs } from './support/stderr.ts';
import { nextIteration } from './support/time.ts';
import { PACKAGE_NAME } from './version.ts';

const say = sayAs('console');
/** Terminals and supervisors end a process by these. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Linux ignores a signal without a listener that process 1 of a container gets. */
const INIT_PID = 1;

export function startConsoleReport(): void {
  // Code that blocks belongs into a worker thread; `/register` does nothing there by default.
  if (!isMainThread || copies().isConsoleReporting) return;
  attempt(start, (error) => say('cannot start', error));
}

function start(): void {
  const config = resolveConfig({}, process.env, say, true);
  if (!config.enabled || config.console === false) return;
  copies().isConsoleReporting = true;
  const { console: format, thresholdMillis } = config;
  const settle = () => activeSession()?.settle();
  const reporter = new ConsoleReporter(format, settle, thresholdMillis, true);
  // Every copy of the package publishes on the channels, whichever is active.
  reporter.start();
  // A signal that the process has sent itself may not have come yet: that takes one turn.
  doAtLoopEnd(() => undefined);
  const session = runSession(config);
  // Until stack samples can be taken, a signal ends the process at once, as without this package:
  // while the application is loaded, no sample could let go of the signals.
  nextIteration()
    .then(() => session()?.ready())
    .then(() =>
      listenForSignals(() => {
        reporter.summarize();
        activeSession()?.endBySignal();
      }),
    );
}

/** Runs while no instrumentation of the application's is enabled. */
function runSession(config: ResolvedConfig): () => Session | undefined {
  const log = new OnceLogger({ debug() {}, info() {}, warn: say, error: say }, () => true);
  const instruments = createInstruments(createNoopMeter());
  const tracer = new ProxyTracerProvider().getTracer(PACKAGE_NAME);
  const targets: SessionTargets = {
    tracer: () => tracer,
    instruments: () => instruments,
    logger: () => undefined,
    upkeep: () => {},
    isConsoleOnly: true,
  };
  let session: Session | undefined;
  takeOver({
    yields: true,
    activate: () =>
      void attempt(
        () => {
          session = startSession({ ...config, console: false }, targets, log);
        },
        (error) => say('cannot start', error),
      ),
    deactivate: () => {
      session?.stop();
      session = undefined;
    },
    session: () => session,
  });
  return () => session;
}

/** Has the summary written before a signal ends the process as it does by itself. */
function listenForSignals(killed: () => void): void {
  // There is no signal that a process could end itself by.
  if (process.platform === 'win32') return;
  for (const each of SIGNALS) {
    new SignalListener(each, (isHandled, isShared, signal) => {
      // Other listeners decide when the process ends: the summary is written at its exit.
      if (isHandled || process.pid === INIT_PID) return;
      killed();
      // `/register` ends it, when the telemetry is sent.
      if (isShared) return;
      // Without this package, no listener that was added meanwhile would have come to be.
      EventEmitter.prototype.removeAllListeners.call(process, signal);
      process.kill(process.pid, signal);
    }).add();
  }
}
