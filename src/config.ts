/**
 * Defaults, environment and validation of the options. Code wins over environment, environment over
 * default. A bad value in code is thrown; any other is passed to `warn` and ignored.
 */
import {
  type InAppOption,
  MAX_IN_APP_PATHS,
  parseInApp,
  problemOfPaths,
} from './core/explain/name/in-app.ts';
import { attempt } from './support/guard.ts';
import { nearestOf } from './support/nearest.ts';
import type { EventLoopInstrumentationConfig, HealthServerConfig } from './types.ts';

const ENV_PREFIX = 'OTEL_INSTRUMENTATION_EVENT_LOOP_';
/** Variables that are no options of the instrumentation: `/register` reads them. */
const OTHER_VARIABLES = [`${ENV_PREFIX}WORKERS`];
/** Unknown names of one place that are warned of. */
const MAX_UNKNOWN = 10;

type Problem = 'type' | 'range' | undefined;

interface Option<T> {
  readonly fallback: T;
  /** Names the values that are right, for messages. */
  readonly expected: string;
  /** Undefined if the value is right. */
  problemOf(value: unknown): Problem;
  /** The environment's text as a value to check; absent if only code can have the option. */
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

function oneOf<T extends string | boolean>(fallback: T, ...values: T[]): Option<T> {
  const names = values.map((value) => (typeof value === 'string' ? `'${value}'` : value));
  return {
    fallback,
    expected: `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`,
    problemOf(value) {
      if (values.includes(value as T)) return undefined;
      return values.some((each) => typeof each === typeof value) ? 'range' : 'type';
    },
    parse: (text) => values.find((value) => String(value) === text.trim().toLowerCase()) ?? text,
  };
}

const boolean = (fallback: boolean) => oneOf(fallback, true, false);

function fn<T>(): Option<T | undefined> {
  return {
    fallback: undefined,
    expected: 'a function',
    problemOf: (value) => (typeof value === 'function' ? undefined : 'type'),
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

const IN_APP: Option<InAppOption | undefined> = {
  fallback: undefined,
  expected: `a function or a list of 1 to ${MAX_IN_APP_PATHS} paths`,
  problemOf: (value) =>
    typeof value === 'function' ? fn().problemOf(value) : problemOfPaths(value),
  parse: parseInApp,
};

/** The option whose value is an object, with options of its own. */
const GROUP = 'healthServer';
type OptionsOf<Config> = { [K in keyof Required<Config>]: Option<Config[K]> };

const OPTIONS = {
  enabled: boolean(true),
  thresholdMillis: number(100, 1, 60_000, false),
  lagIntervalMillis: number(20, 1, 1_000, true),
  captureStack: boolean(true),
  inApp: IN_APP,
  nativeCalls: boolean(true),
  sourceMaps: boolean(true),
  asyncHooks: oneOf('auto', 'auto', 'always'),
  requireParentSpan: boolean(false),
  maxSpansPerMinute: number(600, 0, 60_000, true),
  reportFile: text(undefined, 'a path'),
  reportSource: boolean(true),
  recordFile: text(undefined, 'a path'),
  recordNames: boolean(true),
  unfinishedAfterMillis: number(5_000, 0, 3_600_000, false),
  blockEvents: oneOf('unsampled', 'unsampled', 'all', 'off'),
  // `true` means lines for people.
  console: oneOf<boolean | 'json'>(false, true, false, 'json'),
  blockHook: fn<NonNullable<EventLoopInstrumentationConfig['blockHook']>>(),
  ignoreBlockHook: fn<NonNullable<EventLoopInstrumentationConfig['ignoreBlockHook']>>(),
} satisfies OptionsOf<Omit<EventLoopInstrumentationConfig, typeof GROUP>>;

const HEALTH_OPTIONS = {
  port: number(undefined, 1, 65_535, true),
  host: text('127.0.0.1', 'a host name or an address'),
  failAfterMillis: number(30_000, 100, 3_600_000, false),
  maxBlockedMillis: number(undefined, 100, 36_000_000, false),
} satisfies OptionsOf<HealthServerConfig>;

/** By default, `maxBlockedMillis` is this many times `failAfterMillis`. */
const MAX_BLOCKED_FACTOR = 10;

/** `port` is `HEALTH_PORT` in the environment. */
const nameInEnvironment = (option: string) =>
  `health${option.charAt(0).toUpperCase()}${option.slice(1)}`;

/** Options that have no default. */
type Optional = 'blockHook' | 'ignoreBlockHook' | 'inApp' | 'reportFile' | 'recordFile';

/** Every option has its value. */
export type ResolvedConfig = Required<
  Omit<EventLoopInstrumentationConfig, Optional | typeof GROUP>
> &
  Pick<EventLoopInstrumentationConfig, Optional> & {
    /** Undefined without a port. */
    readonly healthServer?: Required<HealthServerConfig>;
  };

/** For `thresholdMillis` it is `OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS`. */
export const environmentName = (option: string) =>
  ENV_PREFIX + option.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

type Warn = (message: string) => void;

/** What a place outside of code has for an option, and how messages name the place. */
type Source = (
  name: string,
  parse: (text: string) => unknown,
) => { readonly place: string; readonly given: unknown; readonly value?: unknown };

const environment =
  (env: NodeJS.ProcessEnv): Source =>
  (name, parse) => {
    const place = environmentName(name);
    const given = env[place];
    // Empty is unset:
    // https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
    if (given === undefined || given.trim() === '') return { place, given: undefined };
    return { place, given, value: parse(given) };
  };

/**
 * The options in force.
 * @throws TypeError if a value in `config` has the wrong type, RangeError if it is out of range
 */
export function resolveConfig(
  config: EventLoopInstrumentationConfig,
  env: NodeJS.ProcessEnv,
  warn: Warn,
  consoleByDefault = false,
): ResolvedConfig {
  if (typeof config !== 'object' || config === null) {
    throw new TypeError(`EventLoopInstrumentation: config is ${show(config)}, expected an object`);
  }
  warnOfUnknown('the environment', variablesOf(env), VARIABLES, warn);
  // Unknown properties stay: OpenTelemetry may add some that all instrumentations have.
  const given: Record<string, unknown> = { ...config };
  warnOfUnknown('config', Object.keys(given), [...Object.keys(OPTIONS), GROUP], warn);
  const options = { ...OPTIONS, console: { ...OPTIONS.console, fallback: consoleByDefault } };
  const source = environment(env);
  const { [GROUP]: inCode, ...resolved } = resolveAll(options, given, source, warn);
  const ofGroup: Source = (name, parse) => source(nameInEnvironment(name), parse);
  const group = resolveGroup(inCode, ofGroup, warn);
  return { ...resolved, ...(group && { [GROUP]: group }) } as unknown as ResolvedConfig;
}

/** Undefined without a port. */
function resolveGroup(
  given: unknown,
  source: Source,
  warn: Warn,
): Required<HealthServerConfig> | undefined {
  if (given !== undefined && (typeof given !== 'object' || given === null)) {
    const what = `option ${GROUP} is ${show(given)}`;
    throw new TypeError(`EventLoopInstrumentation: ${what}, expected an object`);
  }
  const all: Record<string, unknown> = { ...given };
  const names = Object.keys(HEALTH_OPTIONS);
  warnOfUnknown(`option ${GROUP}`, Object.keys(all), names, warn);
  const inCode = Object.fromEntries(names.map((name) => [name, all[name]]));
  const resolved = resolveAll(HEALTH_OPTIONS, inCode, source, warn, `${GROUP}.`);
  resolved['maxBlockedMillis'] ??= Number(resolved['failAfterMillis']) * MAX_BLOCKED_FACTOR;
  const options = resolved as unknown as Required<HealthServerConfig>;
  return options.port === undefined ? undefined : options;
}

/** An option that is not given in code comes from `source`, else it has its default. */
function resolveAll(
  options: Record<string, Option<unknown>>,
  given: Readonly<Record<string, unknown>>,
  source: Source,
  warn: Warn,
  prefix = '',
): Record<string, unknown> {
  const resolved = { ...given };
  for (const [name, option] of Object.entries(options)) {
    if (resolved[name] !== undefined) check(`${prefix}${name}`, option, resolved[name]);
    else resolved[name] = valueFrom(source, name, option, warn);
    if (resolved[name] === undefined) delete resolved[name];
  }
  return resolved;
}

function valueFrom(source: Source, name: string, option: Option<unknown>, warn: Warn): unknown {
  const { fallback, expected, parse } = option;
  if (parse === undefined) return fallback;
  const { place, given, value } = source(name, parse);
  if (given === undefined) return fallback;
  if (option.problemOf(value) === undefined) return value;
  warn(`${place} is ${show(given)}, expected ${expected}; using ${show(fallback)}`);
  return fallback;
}

/** How a bad value is shown: short, and never by running a `toString` of its own. */
function show(value: unknown, most = 40): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > most ? `${value.slice(0, most)}…` : value);
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

function check(name: string, option: Option<unknown>, value: unknown): void {
  const problem = option.problemOf(value);
  if (problem === undefined) return;
  const ErrorClass = problem === 'type' ? TypeError : RangeError;
  throw new ErrorClass(
    `EventLoopInstrumentation: option ${name} is ${show(value)}, expected ${option.expected}`,
  );
}

/** The environment has no functions. */
const NAMES_IN_ENVIRONMENT = Object.entries<Option<unknown>>(OPTIONS)
  .filter(([, { parse }]) => parse !== undefined)
  .map(([name]) => name);
const OPTION_VARIABLES = [
  ...NAMES_IN_ENVIRONMENT,
  ...Object.keys(HEALTH_OPTIONS).map(nameInEnvironment),
].map(environmentName);
const VARIABLES = [...OPTION_VARIABLES, ...OTHER_VARIABLES];

/** None if they may not be listed: Deno asks for a permission. */
function variablesOf(env: NodeJS.ProcessEnv): string[] {
  return attempt(() => Object.keys(env).filter((name) => name.startsWith(ENV_PREFIX))) ?? [];
}

/** One warning for each name that is unknown: most are misspelt. */
function warnOfUnknown(
  where: string,
  names: readonly string[],
  known: readonly string[],
  warn: Warn,
): void {
  const unknown = names.filter((name) => !known.includes(name)).slice(0, MAX_UNKNOWN);
  for (const name of unknown)
    warn(`${where} has no option ${show(name, 80)}; the nearest is ${nearestOf(name, known)}`);
}
