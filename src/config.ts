/**
 * Defaults, environment, configuration file and validation of the options. Code wins over
 * environment, environment over default; where a configuration file is in force, it has the place
 * of the environment. A bad value in code is thrown; any other is passed to `warn` and ignored.
 */
import { types } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { type InAppOption, MAX_IN_APP_PATHS, parseInApp, problemOfPaths } from './code/in-app.ts';
import { type ConfigFile, FILE_SECTION } from './config-file.ts';
import type { EventLoopInstrumentationConfig } from './types.ts';

const ENV_PREFIX = 'OTEL_INSTRUMENTATION_EVENT_LOOP_';

/** What is wrong with a value: its type, or that it is out of range. */
export type Problem = 'type' | 'range';

interface Option<T> {
  readonly fallback: T;
  /** For messages: what the value has to be. */
  readonly expected: string;
  /** What is wrong with a value; may throw what the traps of a proxy throw. */
  problemOf(value: unknown): Problem | undefined;
  /** The environment's text as a value to check; absent if there is no environment variable. */
  parse?(text: string): unknown;
}

function number(fallback: number, min: number, max: number, integer: boolean): Option<number> {
  return {
    fallback,
    expected: `${integer ? 'a whole number' : 'a number'} from ${min} to ${max}`,
    problemOf(value) {
      if (typeof value !== 'number') return 'type';
      const ok = value >= min && value <= max && (!integer || Number.isInteger(value));
      return ok ? undefined : 'range';
    },
    // Number('') is 0, and the message quotes text that is not a number as it is.
    parse: (text) => (text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)),
  };
}

function boolean(fallback: boolean): Option<boolean> {
  return {
    fallback,
    expected: 'true or false',
    problemOf: (value) => (typeof value === 'boolean' ? undefined : 'type'),
    parse: (text) => ({ true: true, false: false })[text.trim().toLowerCase()] ?? text,
  };
}

function oneOf<T extends string>(fallback: T, ...values: T[]): Option<T> {
  return {
    fallback,
    expected: `one of ${values.map((v) => `'${v}'`).join(', ')}`,
    problemOf(value) {
      if (typeof value !== 'string') return 'type';
      return values.includes(value as T) ? undefined : 'range';
    },
    parse: (text) => text.trim().toLowerCase(),
  };
}

/** `true` is lines for people. */
function consoleFormat(): Option<boolean | 'json' | 'markdown'> {
  return {
    fallback: false,
    expected: "true, false, 'json' or 'markdown'",
    problemOf(value) {
      if (typeof value === 'boolean' || value === 'json' || value === 'markdown') return undefined;
      return typeof value === 'string' ? 'range' : 'type';
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
    expected: 'a function',
    problemOf(value) {
      if (typeof value !== 'function') return 'type';
      // Throws for a proxy that has been revoked.
      return Object.getPrototypeOf(value) === undefined ? 'type' : undefined;
    },
  };
}

function path(): Option<string | undefined> {
  return {
    fallback: undefined,
    expected: 'a path',
    problemOf(value) {
      if (typeof value !== 'string') return 'type';
      return value.trim() === '' ? 'range' : undefined;
    },
    parse: (text) => text,
  };
}

function inApp(): Option<InAppOption | undefined> {
  return {
    fallback: undefined,
    expected: `a function or a list of 1 to ${MAX_IN_APP_PATHS} paths`,
    problemOf(value) {
      return typeof value === 'function'
        ? fn<InAppOption>().problemOf(value)
        : problemOfPaths(value);
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
  asyncHooks: oneOf('auto', 'auto', 'always', 'off'),
  requireParentSpan: boolean(false),
  maxSpansPerMinute: number(600, 0, 60_000, true),
  loopProfile: oneOf(isMainThread ? 'busy' : 'off', 'busy', 'always', 'off'),
  profileDir: path(),
  reportFile: path(),
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
type Optional = 'blockHook' | 'ignoreBlockHook' | 'inApp' | 'profileDir' | 'reportFile';

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
  if (types.isProxy(value)) return 'a proxy';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

/**
 * The options in force.
 * @param defaults those that differ from the usual ones
 * @param file has the place of the environment
 * @throws TypeError if a value in `config` has the wrong type or cannot be read, RangeError if it
 *   is out of range
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
  const resolved = copyOf(config);
  for (const [name, usual] of Object.entries(OPTIONS) as [string, Option<unknown>][]) {
    const option = name in defaults ? { ...usual, fallback: defaults[name as Name] } : usual;
    const given = resolved[name];
    if (given !== undefined) check(name, option, given);
    else if (file !== undefined) resolved[name] = fromFile(name, option, file, warn);
    else resolved[name] = fromEnvironment(name, option, env, warn);
    if (resolved[name] === undefined) delete resolved[name];
  }
  return resolved as unknown as ResolvedConfig;
}

/** Each property is read once, those under symbols as well. */
function copyOf(config: object): Record<string, unknown> {
  const isOwn = (key: PropertyKey) => Object.prototype.propertyIsEnumerable.call(config, key);
  const keys = read('config', () => Reflect.ownKeys(config).filter(isOwn));
  return Object.fromEntries(
    keys.map((key) => [key, read(`option ${String(key)}`, () => config[key as keyof object])]),
  );
}

/** A getter, or a trap of a proxy, may throw. */
function read<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw new TypeError(`EventLoopInstrumentation: ${what} cannot be read`, { cause });
  }
}

function check(name: string, option: Option<unknown>, value: unknown): void {
  const problem = safeProblemOf(option, value);
  if (problem === undefined) return;
  const ErrorClass = problem === 'type' ? TypeError : RangeError;
  throw new ErrorClass(
    `EventLoopInstrumentation: option ${name} is ${show(value)}, expected ${option.expected}`,
  );
}

/** A value whose traps throw has the wrong type. */
function safeProblemOf(option: Option<unknown>, value: unknown): Problem | undefined {
  try {
    return option.problemOf(value);
  } catch {
    return 'type';
  }
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
  const value = option.parse(text);
  if (option.problemOf(value) === undefined) return value;
  warn(`${variable} is ${show(text)}, expected ${option.expected}; using ${show(option.fallback)}`);
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
  if (safeProblemOf(option, given) === undefined) return given;
  warn(
    `${FILE_SECTION}.${key} in ${path} is ${show(given)}, expected ${option.expected}; ` +
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
