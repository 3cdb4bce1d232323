/** The command that installs what is missing, for the Node.js that runs. */

/**
 * From here on the newest packages of OpenTelemetry run; those before are pinned to the last that
 * support it.
 */
const MODERN_NODE = [22, 15] as const;
const LEGACY_PACKAGES = '@opentelemetry/auto-instrumentations-node@0.81 @opentelemetry/api@1.9';
const MODERN_PACKAGES = '@opentelemetry/auto-instrumentations-node';

export function howToInstall(nodeVersion: string): string {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const isModern = major > MODERN_NODE[0] || (major === MODERN_NODE[0] && minor >= MODERN_NODE[1]);
  const packages = isModern ? MODERN_PACKAGES : LEGACY_PACKAGES;
  return `the application has no OpenTelemetry SDK. To install one: npm install ${packages}`;
}
