#!/usr/bin/env node
/**
 * The command `opentelemetry-instrumentation-event-loop`: runs an application with an entry of this
 * package preloaded, and says where the report page is. It ends as the application does.
 */
import { spawn } from 'node:child_process';
import { statSync, unwatchFile, watchFile } from 'node:fs';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { pathToFileURL } from 'node:url';
import { PACKAGE_NAME } from './version.ts';

const USAGE = `Usage: ${PACKAGE_NAME} [options] app.js [arguments]
       ${PACKAGE_NAME} [options] -- npm start

Prints each block of the event loop while the application runs, and a summary at its end.

  --page[=FILE]   writes the report page as well, at the end and on SIGURG
  --threshold=MS  the shortest block that is reported; 100 by default
  --register      starts OpenTelemetry's SDK: blocks are spans as well
  -- COMMAND      watches the application that a command starts, such as node --flag or npm start
`;
const OPTION = 'OTEL_INSTRUMENTATION_EVENT_LOOP_';
/** How often it is looked whether there is a new page. */
const LOOK_MILLIS = 500;
const COMMAND_NOT_FOUND = 127;
const WRONG_USE = 2;
const isWindows = process.platform === 'win32';

const args = process.argv.slice(2);
const env: NodeJS.ProcessEnv = { ...process.env };
let entry = 'console';
let page: string | undefined;
let isUnderstood = true;
while (args[0]?.startsWith('-') && args[0] !== '--') {
  const [name, value] = String(args.shift()).split(/=(.*)/s);
  if (name === '--page') page = resolve(value || `event-loop-${process.pid}.html`);
  else if (name === '--threshold') env[`${OPTION}THRESHOLD_MILLIS`] = value ?? args.shift();
  else if (name === '--register') {
    entry = 'register';
    env[`${OPTION}CONSOLE`] ??= 'true';
  } else isUnderstood = false;
}
const isCommand = args[0] === '--';
if (isCommand) args.shift();

if (!isUnderstood || args.length === 0) {
  process.stderr.write(USAGE);
  process.exitCode = WRONG_USE;
} else run();

function run(): void {
  if (page !== undefined) env[`${OPTION}REPORT_FILE`] = page;
  const preload = ['--import', new URL(`./${entry}.mjs`, import.meta.url).href];
  if (isCommand) env['NODE_OPTIONS'] = [env['NODE_OPTIONS'] ?? '', ...preload].join(' ').trim();
  const [file = '', ...rest] = isCommand ? args : [process.execPath, ...preload, ...args];
  // On Windows, npm is a script of the shell.
  const child = spawn(file, rest, { env, stdio: 'inherit', shell: isWindows && isCommand });
  const sayWherePageIs = watchPage();
  // A terminal sends these to the application itself.
  const isInTerminal = isatty(0);
  const ofTerminal: NodeJS.Signals[] = ['SIGINT', 'SIGHUP'];
  const signals: NodeJS.Signals[] = isWindows ? ['SIGINT'] : [...ofTerminal, 'SIGTERM', 'SIGURG'];
  for (const each of signals)
    process.on(each, () => (isInTerminal && ofTerminal.includes(each)) || child.kill(each));
  child.on('error', ({ message }) => {
    process.stderr.write(`${PACKAGE_NAME}: ${message}\n`);
    process.exit(COMMAND_NOT_FOUND);
  });
  child.on('close', (code, signal) => {
    sayWherePageIs();
    if (page !== undefined) unwatchFile(page);
    process.exitCode = code ?? 0;
    if (signal === null) return;
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** @returns says it now, unless it has been said of what is there */
function watchPage(): () => void {
  if (page === undefined) return () => {};
  const file = page;
  const writtenAt = () => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  let saidOf = writtenAt();
  const say = () => {
    if (writtenAt() === saidOf) return;
    saidOf = writtenAt();
    process.stderr.write(`report page: ${pathToFileURL(file).href}\n`);
  };
  watchFile(file, { interval: LOOK_MILLIS }, say);
  return say;
}
