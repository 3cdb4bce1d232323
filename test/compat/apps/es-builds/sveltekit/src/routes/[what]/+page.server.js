import { answer } from '../../../../answers.js';

export const load = ({ params }) => answer(params.what);
