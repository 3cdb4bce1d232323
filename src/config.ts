/**
 * Defaults, environment, configuration file and validation of the options. Code wins over
 * environment, environment over default; if a configuration file is in force, it has the place
 * of the environment. A bad value in code is thrown; any other is passed to `warn` and ignored.
 */
import { types } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { type ConfigFile, FILE_SECTION } from './config-file.ts';
import { type InAppOption, MAX_IN_APP_PATHS, parseInApp, problemOfPaths } from './name/in-app.ts';
import { attempt } from './support/guard.ts';
import { nearestOf } from './support/nearest.ts';
import type { EventLoopInstrumentationConfig, HealthServerConfig } from './types.ts';

const ENV_PREFIX = 'OTEL_INSTRUMENTATION_EVENT_LOOP_';
/** Variables that are no options of the instrumentation: `/register` reads them. */
const OTHER_VARIABLES = [`${ENV_PREFIX}WORKERS`];
/** Unknown names of one place that are warned of. */
const MAX_UNKNOWN = 10;

interface Option<T> {
  readonly fallback: T;
  /** Names the values that are right, for messages. */
  readonly expected: string;
  /** Undefined if the value is right. Traps of a proxy may throw. */
  problemOf(value: unknown): 'type' | 'range' | undefined;
  /** The environment's text as a value to check; absent if there is no environment variable. */
  parse?(text: string): unknown;
}

function number<Fallback extends number | undefined>(
  fallback: Fallback,
  min: number,
  max: number,
  integer: boolean,
): Option<number | Fallback> {
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

/** `true` means lines for people. */
function consoleFormat(): Option<boolean | 'json'> {
  return {
    fallback: false,
    expected: "true, false or 'json'",
    problemOf(value) {
      if (typeof value === 'boolean' || value === 'json') return undefined;
      return typeof value === 'string' ? 'range' : 'type';
    },
    parse: (text) => {
      const value = text.trim().toLowerCase();
      if (value === 'json') return value;
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

function text<Fallback extends string | undefined>(
  fallback: Fallback,
  expected: string,
): Option<string | Fallback> {
  return {
    fallback,
    expected,
    problemOf(value) {
      if (typeof value !== 'string') return 'type';
      return value.trim() === '' ? 'range' : undefined;
    },
    parse: (given) => given,
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

type OptionsOf<Config> = { [K in keyof Required<Config>]: Option<Config[K]> };
type Options = OptionsOf<Omit<EventLoopInstrumentationConfig, Group>>;

/** An option whose value is an object, with options of its own. */
type Group = 'healthServer';
const GROUP: Group = 'healthServer';

const OPTIONS = {
  enabled: boolean(true),
  thresholdMillis: number(100, 1, 60_000, false),
  lagIntervalMillis: number(20, 1, 1_000, true),
  captureStack: boolean(true),
  inApp: inApp(),
  nativeCalls: boolean(true),
  sourceMaps: boolean(true),
  asyncHooks: oneOf('auto', 'auto', 'always'),
  requireParentSpan: boolean(false),
  maxSpansPerMinute: number(600, 0, 60_000, true),
  loopProfile: oneOf(isMainThread ? 'busy' : 'off', 'busy', 'always', 'off'),
  reportFile: text(undefined, 'a path'),
  reportSource: boolean(true),
  recordFile: text(undefined, 'a path'),
  recordNames: boolean(true),
  unfinishedAfterMillis: number(5_000, 0, 3_600_000, false),
  blockEvents: oneOf('unsampled', 'unsampled', 'all', 'off'),
  console: consoleFormat(),
  blockHook: fn<NonNullable<EventLoopInstrumentationConfig['blockHook']>>(),
  ignoreBlockHook: fn<NonNullable<EventLoopInstrumentationConfig['ignoreBlockHook']>>(),
} satisfies Options;

const HEALTH_OPTIONS = {
  port: number(undefined, 1, 65_535, true),
  host: text('127.0.0.1', 'a host name or an address'),
  failAfterMillis: number(30_000, 100, 3_600_000, false),
  maxBlockedMillis: number(undefined, 100, 36_000_000, false),
  details: boolean(true),
} satisfies OptionsOf<HealthServerConfig>;

/** By default, `maxBlockedMillis` is this many times `failAfterMillis`. */
const MAX_BLOCKED_FACTOR = 10;

/** `port` is `HEALTH_PORT` in the environment. */
const nameInEnvironment = (option: string) =>
  `health${option.charAt(0).toUpperCase()}${option.slice(1)}`;

type Name = keyof EventLoopInstrumentationConfig;

/** Every option has its value. */
export type ResolvedConfig = Required<Omit<EventLoopInstrumentationConfig, Optional | Group>> &
  Pick<EventLoopInstrumentationConfig, Optional> & {
    /** Undefined without a port. */
    readonly healthServer?: Required<HealthServerConfig>;
  };

/** Options that have no default. */
type Optional = 'blockHook' | 'ignoreBlockHook' | 'inApp' | 'reportFile' | 'recordFile';

/** For `thresholdMillis` it is `OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS`. */
export function environmentName(option: string): string {
  return ENV_PREFIX + option.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** For `thresholdMillis` it is `threshold_millis`. */
export function fileKey(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * How a bad value is shown: short, and never by running code of its own (a proxy's, a `toString`).
 */
function show(value: unknown, most = 40): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > most ? `${value.slice(0, most)}…` : value);
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
  else warnOfUnknown('the environment', variablesOf(env), VARIABLES, warn);
  // Unknown properties stay: OpenTelemetry may add some that all instrumentations have.
  const resolved = copyOf(config);
  warnOfUnknown('config', Object.keys(resolved), [...Object.keys(OPTIONS), GROUP], warn);
  for (const [name, usual] of Object.entries(OPTIONS) as [string, Option<unknown>][]) {
    const option = name in defaults ? { ...usual, fallback: defaults[name as Name] } : usual;
    const given = resolved[name];
    if (given !== undefined) check(name, option, given);
    else if (file !== undefined) resolved[name] = fromFile(name, option, file, warn);
    else resolved[name] = fromEnvironment(name, option, env, warn);
    if (resolved[name] === undefined) delete resolved[name];
  }
  resolved[GROUP] = resolveGroup(resolved[GROUP], env, warn, file);
  if (resolved[GROUP] === undefined) delete resolved[GROUP];
  return resolved as unknown as ResolvedConfig;
}

/** Each option of the group is resolved by itself; undefined without a port. */
function resolveGroup(
  given: unknown,
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
  file: ConfigFile | undefined,
): Required<HealthServerConfig> | undefined {
  if (given !== undefined && (typeof given !== 'object' || given === null)) {
    const what = `option ${GROUP} is ${show(given)}`;
    throw new TypeError(`EventLoopInstrumentation: ${what}, expected an object`);
  }
  const inCode = given === undefined ? {} : copyOf(given, `${GROUP}.`);
  warnOfUnknown(`option ${GROUP}`, Object.keys(inCode), Object.keys(HEALTH_OPTIONS), warn);
  const inFile = file && { ...file, options: groupInFile(file, warn) };
  const resolved: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(HEALTH_OPTIONS) as [string, Option<unknown>][]) {
    resolved[name] = inCode[name];
    if (resolved[name] !== undefined) check(`${GROUP}.${name}`, option, resolved[name]);
    else if (inFile) resolved[name] = fromFile(name, option, inFile, warn, `${fileKey(GROUP)}.`);
    else resolved[name] = fromEnvironment(nameInEnvironment(name), option, env, warn);
  }
  resolved['maxBlockedMillis'] ??= Number(resolved['failAfterMillis']) * MAX_BLOCKED_FACTOR;
  const options = resolved as unknown as Required<HealthServerConfig>;
  return options.port === undefined ? undefined : options;
}

function groupInFile(
  { path, options }: ConfigFile,
  warn: (message: string) => void,
): ConfigFile['options'] {
  const key = fileKey(GROUP);
  const given = Object.hasOwn(options, key) ? options[key] : undefined;
  if (given === undefined || given === null) return {};
  if (typeof given === 'object') return given as ConfigFile['options'];
  warn(`${FILE_SECTION}.${key} in ${path} is ${show(given)}, expected an object; using none`);
  return {};
}

/** Each property is read once, those under symbols as well. */
function copyOf(config: object, prefix = ''): Record<string, unknown> {
  const isOwn = (key: PropertyKey) => Object.prototype.propertyIsEnumerable.call(config, key);
  const what = prefix === '' ? 'config' : `option ${GROUP}`;
  const keys = read(what, () => Reflect.ownKeys(config).filter(isOwn));
  return Object.fromEntries(
    keys.map((key) => {
      const value = () => config[key as keyof object];
      return [key, read(`option ${prefix}${String(key)}`, value)];
    }),
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
function safeProblemOf(option: Option<unknown>, value: unknown): 'type' | 'range' | undefined {
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
  prefix = '',
): unknown {
  const key = fileKey(name);
  const given = isInFile(option) && Object.hasOwn(options, key) ? options[key] : undefined;
  // A key whose value is a variable that is not set is null.
  if (given === undefined || given === null) return option.fallback;
  if (safeProblemOf(option, given) === undefined) return given;
  warn(
    `${FILE_SECTION}.${prefix}${key} in ${path} is ${show(given)}, ` +
      `expected ${option.expected}; ` +
      `using ${show(option.fallback)}`,
  );
  return option.fallback;
}

/** Functions have no place in a file, nor in the environment. */
function isInFile({ parse }: Option<unknown>): boolean {
  return parse !== undefined;
}

const NAMES_IN_FILE = Object.entries(OPTIONS as Record<string, Option<unknown>>)
  .filter(([, option]) => isInFile(option))
  .map(([name]) => name);
const OPTION_VARIABLES = [
  ...NAMES_IN_FILE,
  ...Object.keys(HEALTH_OPTIONS).map(nameInEnvironment),
].map(environmentName);
const VARIABLES = [...OPTION_VARIABLES, ...OTHER_VARIABLES];

/** Warns of what is ignored: misspelt keys of the file, and the environment. */
function warnOfIgnored(
  file: ConfigFile,
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
): void {
  const { path, options } = file;
  const keys = [...NAMES_IN_FILE, GROUP].map(fileKey);
  warnOfUnknown(`${FILE_SECTION} in ${path}`, Object.keys(options), keys, warn);
  const section = `${FILE_SECTION}.${fileKey(GROUP)} in ${path}`;
  const group = Object.keys(groupInFile(file, () => {}));
  warnOfUnknown(section, group, Object.keys(HEALTH_OPTIONS).map(fileKey), warn);
  // As the specification has it: beside a file, the environment counts if the file refers to it.
  const ignored = OPTION_VARIABLES.filter((variable) => env[variable]?.trim());
  if (ignored.length > 0)
    warn(`${ignored.join(', ')}: ignored, the options are those of OTEL_CONFIG_FILE, ${path}`);
}

/** None if they may not be listed: Deno asks for a permission. */
function variablesOf(env: NodeJS.ProcessEnv): string[] {
  return attempt(() => Object.keys(env).filter((name) => name.startsWith(ENV_PREFIX))) ?? [];
}

/** One warning for each name that is unknown: most are misspelt. */
function warnOfUnknown(
  where: string,
  names: readonly string[],
  known: readonly string[],
  warn: (message: string) => void,
): void {
  const unknown = names.filter((name) => !known.includes(name)).slice(0, MAX_UNKNOWN);
  for (const name of unknown)
    warn(`${where} has no option ${show(name, 80)}; the nearest is ${nearestOf(name, known)}`);
}
