import { runBuild } from './build.mjs';

runBuild('react-router', '@react-router/dev/bin.cjs');
