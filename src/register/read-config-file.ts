/**
 * The declarative configuration file that `OTEL_CONFIG_FILE` names, read by the SDK's own package:
 * versions of the format, references to the environment and validation are those of the SDK.
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk/
 */
import type { ConfigFile } from '../config-file.ts';
import type { ApplicationPackages } from '../support/application-packages.ts';
import { SDK_PACKAGE } from './sdk.ts';

const CONFIGURATION_PACKAGE = '@opentelemetry/configuration';

interface Model {
  readonly disabled?: boolean | null;
  readonly 'instrumentation/development'?: {
    readonly js?: Readonly<Record<string, object | null>> | null;
  } | null;
}

/** The file that is asked for. Empty is unset, as in the SDK. */
export function configFilePath(env: NodeJS.ProcessEnv): string | undefined {
  const path = env['OTEL_CONFIG_FILE'];
  return path === undefined || path.trim() === '' ? undefined : path;
}

/**
 * @returns undefined if no package can read it
 * @throws what is wrong with the file
 */
export function readConfigFile(
  path: string,
  packages: ApplicationPackages,
): (ConfigFile & { readonly isSdkDisabled: boolean }) | undefined {
  // The first from 0.301 on; the other one takes the path from the environment.
  const configuration = packages.load<{
    parseConfigFile?(path: string): Model;
    createConfigFactory?(): { getConfigModel(): Model };
  }>(CONFIGURATION_PACKAGE, SDK_PACKAGE);
  const model =
    configuration?.parseConfigFile?.(path) ??
    configuration?.createConfigFactory?.().getConfigModel();
  if (model === undefined) return undefined;
  const options = model['instrumentation/development']?.js?.['event_loop'] ?? {};
  return { path, options: { ...options }, isSdkDisabled: model.disabled === true };
}
