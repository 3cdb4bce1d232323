import { test } from 'vitest';
import { define } from './cases.cjs';

define(test);
