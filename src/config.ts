/**
 * Defaults, environment, configuration file and validation of the options. Code wins over
 * environment, environment over default; where a configuration file is in force, it has the place
 * of the environment. A bad value in code is thrown; any other is passed to `warn` and ignored.
 */
import { isMainThread } from 'node:worker_threads';
import { type InAppOption, parseInApp, whyBadInApp } from './code/in-app.ts';
import { type ConfigFile, FILE_SECTION } from './config-file.ts';
import type { EventLoopInstrumentationConfig } from './types.ts';

const ENV_PREFIX = 'OTEL_INSTRUMENTATION_EVENT_LOOP_';

/** A value that is wrong: thrown where it came from code, else logged. */
class BadOption {
  constructor(
    readonly ErrorClass: typeof TypeError | typeof RangeError,
    readonly expected: string,
  ) {}
}

interface Option<T> {
  readonly fallback: T;
  /** The value, or what is wrong with it. */
  check(value: unknown): T | BadOption;
  /** The environment's text as a value to check; absent where there is no environment variable. */
  parse?(text: string): unknown;
}

function number(fallback: number, min: number, max: number, integer: boolean): Option<number> {
  const expected = `${integer ? 'a whole number' : 'a number'} from ${min} to ${max}`;
  return {
    fallback,
    check(value) {
      if (typeof value !== 'number') return new BadOption(TypeError, expected);
      const ok = value >= min && value <= max && (!integer || Number.isInteger(value));
      return ok ? value : new BadOption(RangeError, expected);
    },
    // Number('') is 0, and the message quotes text that is not a number as it is.
    parse: (text) => (text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)),
  };
}

function boolean(fallback: boolean): Option<boolean> {
  return {
    fallback,
    check: (value) =>
      typeof value === 'boolean' ? value : new BadOption(TypeError, 'true or false'),
    parse: (text) => ({ true: true, false: false })[text.trim().toLowerCase()] ?? text,
  };
}

function oneOf<T extends string>(fallback: T, ...values: T[]): Option<T> {
  const expected = `one of ${values.map((v) => `'${v}'`).join(', ')}`;
  return {
    fallback,
    check(value) {
      if (typeof value !== 'string') return new BadOption(TypeError, expected);
      return values.includes(value as T) ? (value as T) : new BadOption(RangeError, expected);
    },
    parse: (text) => text.trim().toLowerCase(),
  };
}

/** `true` is lines for people. */
function consoleFormat(): Option<boolean | 'json' | 'markdown'> {
  const expected = "true, false, 'json' or 'markdown'";
  return {
    fallback: false,
    check(value) {
      if (typeof value === 'boolean' || value === 'json' || value === 'markdown') return value;
      return new BadOption(typeof value === 'string' ? RangeError : TypeError, expected);
    },
    parse: (text) => {
      const value = text.trim().toLowerCase();
      if (value === 'json' || value === 'markdown') return value;
      return value === 'true' || (value === 'false' ? false : text);
    },
  };
}

function fn<T>(): Option<T | undefined> {
  return {
    fallback: undefined,
    check: (value) =>
      typeof value === 'function' ? (value as T) : new BadOption(TypeError, 'a function'),
  };
}

function path(): Option<string | undefined> {
  const expected = 'a path';
  return {
    fallback: undefined,
    check(value) {
      if (typeof value !== 'string') return new BadOption(TypeError, expected);
      return value.trim() === '' ? new BadOption(RangeError, expected) : value;
    },
    parse: (text) => text,
  };
}

function inApp(): Option<InAppOption | undefined> {
  return {
    fallback: undefined,
    check(value) {
      const bad = whyBadInApp(value);
      if (bad === undefined) return value as InAppOption;
      return new BadOption(bad.kind === 'type' ? TypeError : RangeError, bad.expected);
    },
    parse: parseInApp,
  };
}

type Options = {
  [K in keyof Required<EventLoopInstrumentationConfig>]: Option<EventLoopInstrumentationConfig[K]>;
};

const OPTIONS = {
  enabled: boolean(true),
  thresholdMillis: number(100, 1, 60_000, false),
  lagIntervalMillis: number(20, 1, 1_000, true),
  captureStack: boolean(true),
  inApp: inApp(),
  nativeCalls: boolean(true),
  sourceMaps: boolean(true),
  asyncHooks: oneOf('auto', 'auto', 'callbacks', 'promises', 'off'),
  requireParentSpan: boolean(false),
  maxSpansPerMinute: number(600, 0, 60_000, true),
  loopProfile: oneOf(isMainThread ? 'busy' : 'off', 'busy', 'always', 'off'),
  profileDir: path(),
  unfinishedAfterMillis: number(5_000, 0, 3_600_000, false),
  blockEvents: oneOf('unsampled', 'unsampled', 'all', 'off'),
  console: consoleFormat(),
  blockHook: fn<NonNullable<EventLoopInstrumentationConfig['blockHook']>>(),
  ignoreBlockHook: fn<NonNullable<EventLoopInstrumentationConfig['ignoreBlockHook']>>(),
} satisfies Options;

type Name = keyof EventLoopInstrumentationConfig;

/** Every option has its value. */
export type ResolvedConfig = Required<Omit<EventLoopInstrumentationConfig, Optional>> &
  Pick<EventLoopInstrumentationConfig, Optional>;

/** Options that have no default. */
type Optional = 'blockHook' | 'ignoreBlockHook' | 'inApp' | 'profileDir';

/** Of `thresholdMillis`: `OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS`. */
export function environmentName(option: string): string {
  return ENV_PREFIX + option.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Of `thresholdMillis`: `threshold_millis`. */
export function fileKey(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * How a bad value is shown: short, and never by running code of its own (a proxy's, a `toString`).
 */
function show(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

/**
 * The options in force.
 * @param defaults those that differ from the usual ones
 * @param file has the place of the environment
 * @throws TypeError where a value in `config` has the wrong type, RangeError where it is out of
 *   range
 */
export function resolveConfig(
  config: EventLoopInstrumentationConfig,
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
  defaults: Partial<EventLoopInstrumentationConfig> = {},
  file?: ConfigFile,
): ResolvedConfig {
  if (typeof config !== 'object' || config === null) {
    throw new TypeError(`EventLoopInstrumentation: config is ${show(config)}, expected an object`);
  }
  if (file !== undefined) warnOfIgnored(file, env, warn);
  // Unknown properties stay: OpenTelemetry may add some that all instrumentations have.
  const resolved: Record<string, unknown> = { ...config };
  for (const [name, usual] of Object.entries(OPTIONS) as [string, Option<unknown>][]) {
    const option = name in defaults ? { ...usual, fallback: defaults[name as Name] } : usual;
    const given = resolved[name];
    if (given !== undefined) resolved[name] = option.check(given);
    else if (file !== undefined) resolved[name] = fromFile(name, option, file, warn);
    else resolved[name] = fromEnvironment(name, option, env, warn);
    const value = resolved[name];
    if (value instanceof BadOption) {
      throw new value.ErrorClass(
        `EventLoopInstrumentation: option ${name} is ${show(given)}, expected ${value.expected}`,
      );
    }
    if (value === undefined) delete resolved[name];
  }
  return resolved as unknown as ResolvedConfig;
}

function fromEnvironment(
  name: string,
  option: Option<unknown>,
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
): unknown {
  const variable = environmentName(name);
  const text = option.parse === undefined ? undefined : env[variable];
  // Empty is unset:
  // https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
  if (option.parse === undefined || text === undefined || text.trim() === '')
    return option.fallback;
  const value = option.check(option.parse(text));
  if (!(value instanceof BadOption)) return value;
  warn(`${variable} is ${show(text)}, expected ${value.expected}; using ${show(option.fallback)}`);
  return option.fallback;
}

function fromFile(
  name: string,
  option: Option<unknown>,
  { path, options }: ConfigFile,
  warn: (message: string) => void,
): unknown {
  const key = fileKey(name);
  const given = isInFile(option) && Object.hasOwn(options, key) ? options[key] : undefined;
  // What is set to a variable without a value is null.
  if (given === undefined || given === null) return option.fallback;
  const value = option.check(given);
  if (!(value instanceof BadOption)) return value;
  warn(
    `${FILE_SECTION}.${key} in ${path} is ${show(given)}, expected ${value.expected}; ` +
      `using ${show(option.fallback)}`,
  );
  return option.fallback;
}

/** Functions have no place in a file, nor in the environment. */
function isInFile({ parse }: Option<unknown>): boolean {
  return parse !== undefined;
}

/** What nobody reads: misspelt keys of the file, and the environment. */
function warnOfIgnored(
  { path, options }: ConfigFile,
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
): void {
  const names = Object.entries(OPTIONS as Record<string, Option<unknown>>)
    .filter(([, option]) => isInFile(option))
    .map(([name]) => name);
  const keys = new Set(names.map(fileKey));
  const unknown = Object.keys(options).filter((key) => !keys.has(key));
  if (unknown.length > 0)
    warn(`${FILE_SECTION} in ${path} has no option ${unknown.map(show).join(', ')}`);
  // As the specification has it: beside a file, the environment counts where the file refers to it.
  const ignored = names.map(environmentName).filter((variable) => env[variable]?.trim());
  if (ignored.length > 0)
    warn(`${ignored.join(', ')}: ignored, the options are those of OTEL_CONFIG_FILE, ${path}`);
}
