// Guarantees: where the package and the SDK are installed, by what docs/products.md says.
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const PRODUCTS = join(tmpdir(), 'event-loop-products');
export const OWN_FOLDER = join(PRODUCTS, 'own');
