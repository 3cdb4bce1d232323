import { report } from '../lib/report.js';

export const loader = async () => Response.json(await report());
