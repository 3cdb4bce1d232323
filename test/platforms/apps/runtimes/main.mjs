import { measure } from './blocks.mjs';

console.log(JSON.stringify(await measure()));
