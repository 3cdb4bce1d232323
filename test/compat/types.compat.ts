/**
 * TypeScript compiles against the published types: each entry point, as ES module and CommonJS, by
 * each way to resolve modules.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Selected, selectedFor } from './support/selection.ts';

const PACKAGE = 'opentelemetry-instrumentation-event-loop';
const [choice] = selectedFor('types') as [Selected];
const { subject, folder, quick } = choice;
const app = path.join(folder, 'app');

/** In a hurry the oldest and the newest compiler, and everything that they find. */
const COMPILERS = subject.packages.filter((_, i, all) => !quick || i === 0 || i === all.length - 1);
const SKIP_LIB_CHECK = quick ? [false] : [false, true];
/** With `bundler`, a file is an ES module by any name. */
const RESOLUTIONS = [
  { moduleResolution: 'node16', module: 'node16', formats: ['mts', 'cts'] },
  { moduleResolution: 'nodenext', module: 'nodenext', formats: ['mts', 'cts'] },
  { moduleResolution: 'bundler', module: 'esnext', formats: ['mts'] },
];
/** It knows no `exports`, and ended with TypeScript 6. */
const NODE10 = { moduleResolution: 'node', module: 'commonjs', formats: ['cts'] };

const readJson = (...parts: string[]) =>
  JSON.parse(readFileSync(path.join(folder, ...parts), 'utf8'));

describe(subject.name, () => {
  if (choice.problem !== undefined) {
    test('is installed', () => {
      throw new Error(choice.problem);
    });
    return;
  }

  const entries = entryPoints();
  copyFileSync(path.join(app, 'use.mts'), path.join(app, 'use.cts'));

  test('the package has entry points', () => {
    expect(entries).toContain(PACKAGE);
  });

  describe.each(COMPILERS)('%s', (compiler) => {
    const { version, bin } = readJson('node_modules', compiler, 'package.json');
    const tsc = path.join(folder, 'node_modules', compiler, bin.tsc);

    const resolutions = Number.parseInt(version, 10) < 7 ? [...RESOLUTIONS, NODE10] : RESOLUTIONS;

    describe.each(resolutions)('$moduleResolution', ({ moduleResolution, module, formats }) => {
      test.each(SKIP_LIB_CHECK)(`${version}: skipLibCheck %s`, (skipLibCheck) => {
        const files = formats.flatMap((format) => [`use.${format}`, entriesFile(format, entries)]);
        if (formats.includes('mts')) files.push('gives.mts');
        const errors = compile(tsc, {
          files,
          compilerOptions: {
            strict: true,
            noEmit: true,
            target: 'es2022',
            lib: ['es2022'],
            types: ['node'],
            module,
            moduleResolution,
            skipLibCheck,
          },
        });
        expect(errors).toEqual([]);
      });
    });
  });
});

/** What package.json exports that is code with types, as one writes it after `from`. */
function entryPoints(): string[] {
  const { exports } = readJson('node_modules', PACKAGE, 'package.json');
  return Object.entries(exports)
    .filter(([, target]) => JSON.stringify(target).includes('"types"'))
    .map(([entry]) => path.posix.join(PACKAGE, entry));
}

/** A module that uses all of them. */
function entriesFile(format: string, entries: string[]): string {
  const name = `entries.${format}`;
  const lines = entries.flatMap((entry, i) => [
    `import * as entry${i} from '${entry}';`,
    `export const names${i}: string[] = Object.keys(entry${i});`,
  ]);
  writeFileSync(path.join(app, name), `${lines.join('\n')}\n`);
  return name;
}

/** @returns the errors that are not in a dependency's types */
function compile(tsc: string, tsconfig: object): string[] {
  const project = path.join(app, 'tsconfig.json');
  writeFileSync(project, JSON.stringify(tsconfig));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [tsc, '-p', project, '--pretty', 'false'],
    {
      cwd: app,
      encoding: 'utf8',
    },
  );
  const errors = stdout.split('\n').filter((line) => /error TS\d+/.test(line));
  if (status !== 0 && errors.length === 0) return [`${stdout}${stderr}`];
  return errors.filter(
    (line) => !/^\.\.\/node_modules\//.test(line) || line.includes(`/${PACKAGE}/`),
  );
}
