// Promises: no scenario runs on a `dist/` that is older than the sources.
import { buildIfStale, isPackage } from '../../../scripts/package-build.mjs';

export default async function setUp() {
  if (isPackage) await buildIfStale(); // else the package is a tarball in node_modules
}
