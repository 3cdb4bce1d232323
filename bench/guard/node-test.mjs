import { test } from 'node:test';
import { define } from './cases.cjs';

define(test);
