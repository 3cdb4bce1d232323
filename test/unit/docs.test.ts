/**
 * What people read is true as far as a machine can tell: every block of code compiles, and every
 * link leads somewhere. What the blocks do is tested elsewhere.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { resolveConfig } from '../../src/config.ts';
import { EventLoopInstrumentation } from '../../src/instrumentation.ts';
import * as semconv from '../../src/semconv.ts';
import {
  blocksOfCommands,
  type CodeBlock,
  codeBlocks,
  KNOWN,
  NOT_RUN,
} from '../../tools/doc-commands.cjs';
import { anchors, PAGES, ROOT, read, relativeLinks } from './support/markdown.ts';

const BLOCKS = PAGES.flatMap(codeBlocks);
const blocksIn = (...languages: string[]) =>
  BLOCKS.filter(({ language }) => languages.includes(language));
const nameOf = ({ page, line }: CodeBlock) => `${page}:${line}`;

test('every block of code has a language that is checked here, or none', () => {
  const checked = ['ts', 'js', 'json', 'yaml', 'sh', ''];
  /** Transcripts, drawings, and what has no parser here; `check -- stack` runs the queries. */
  const others = ['console', 'promql', 'text', 'dockerfile'];
  const unknown = BLOCKS.filter(({ language }) => ![...checked, ...others].includes(language));
  expect(unknown.map(nameOf)).toEqual([]);
});

describe('links', () => {
  test.each(PAGES)('%s links to what there is', (page) => {
    const broken = relativeLinks(page).filter(({ target, anchor }) => {
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchors(target).has(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('those of the package lead to what is in it', () => {
    const { files } = JSON.parse(read('package.json'));
    const isPacked = (target: string) =>
      ['README.md', 'package.json', ...files].includes(target) || /^docs\/[^/]+\.md$/.test(target);
    const pages = PAGES.filter((page) => page.startsWith('docs/') || page === 'CHANGELOG.md');
    expect(files).toContain('docs/*.md');
    const lost = pages.flatMap((page) =>
      relativeLinks(page).map(({ target }) => `${page}: ${target}`),
    );
    expect(lost.filter((link) => !isPacked(link.split(': ')[1] as string))).toEqual([]);
  });

  test('no page that users read has the placeholder of the owner', () => {
    const pages = PAGES.filter((page) => page !== 'scripts/README.md');
    expect(pages.filter((page) => read(page).includes('OWNER_NOT_SET'))).toEqual([]);
  });

  test('every page of docs/ is in the index', () => {
    const linked = relativeLinks('docs/README.md').map(({ target }) => target);
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
  });
});

test('the pages name one line of the application of README.md', () => {
  const pages = ['README.md', 'docs/getting-started.md'].map(read);
  const application = /```js\n([^`]*createHash[\s\S]*?)```/.exec(pages[0] ?? '')?.[1];
  const places = pages.flatMap((page) => [
    ...page.matchAll(/app\.js(?::| (?!2>))(\d+)|code\.line\.number +(\d+)/g),
  ]);
  expect(places.length).toBeGreaterThan(5);
  const line = 1 + Number(application?.split('\n').findIndex((text) => text.includes('for (')));
  expect(new Set(places.map(([, ...of]) => Number(of.find(Boolean))))).toEqual(new Set([line]));
});

describe('commands', () => {
  test('those in blocks of README.md and docs/ are run by `check -- docs`, or say why not', () => {
    const blocks = blocksOfCommands();
    const unknown = blocks
      .filter(({ reason }) => reason === undefined)
      .flatMap(({ where, commands }) => commands.map((command) => `${where}: ${command}`))
      .filter((row) => !KNOWN.test(row.slice(row.indexOf(': ') + 2)));
    expect(unknown).toEqual([]);
    expect(blocks.filter(({ commands }) => commands.length === 0)).toEqual([]);
    const used = new Set(blocks.map(({ reason }) => reason).filter(Boolean));
    expect(used).toEqual(new Set(Object.values(NOT_RUN)));
  });

  test('`npm run` names a script, a check or a benchmark that there is', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const checks = [...read('scripts/check.mjs').matchAll(/^ {2}(\w+): \{/gm)].map(
      ([, name]) => name,
    );
    const isThere = (text: string) => {
      const [, script = '', , name] = /npm run ([\w:]+)(\s+--\s+(\w[\w-]*))?/.exec(text) ?? [];
      if (script === 'check' && name !== undefined) return checks.includes(name);
      if (script === 'bench' && name !== undefined)
        return existsSync(join(ROOT, `bench/${name}.mjs`));
      // `start` is the application's own.
      return script in scripts || script === 'start';
    };
    const pages = PAGES.filter((page) => /^(README|CONTRIBUTING|docs\/|bench\/)/.test(page));
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/npm run [\w:]+(?:\s+--\s+\w[\w-]*)?/g)].map(([text]) => text),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((text) => !isThere(text))).toEqual([]);
  });
});

describe('the reference', () => {
  const reference = read('docs/reference.md');
  const has = (text: string) => reference.includes(text);
  const upper = (name = '') => name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
  const namesIn = (file: string, heading: string, member: RegExp) => {
    const [, body = ''] = read(file).split(`${heading} {\n`);
    return [...(body.split(/^}/m, 1)[0] ?? '').matchAll(member)].map(([, name = '']) => name);
  };
  const FIELD = /^ {2}(?:readonly )?(\w+)\??: .*;$/gm;
  const optionsOf = (type: string) => namesIn('src/types.ts', `interface ${type}`, FIELD);

  test('has every option, with its environment variable', () => {
    const options = optionsOf('EventLoopInstrumentationConfig');
    expect(options).toContain('thresholdMillis');
    const withoutVariable = ['blockHook', 'ignoreBlockHook', 'healthServer'];
    const heads = options.map((name) =>
      withoutVariable.includes(name) ? `**\`${name}\`**` : `**\`${name}\`, \`${upper(name)}\`**`,
    );
    const ofHealthServer = optionsOf('HealthServerConfig').map(
      (name) => `**\`${name}\`, \`HEALTH_${upper(name)}\`**`,
    );
    expect(ofHealthServer).toContain('**`failAfterMillis`, `HEALTH_FAIL_AFTER_MILLIS`**');
    expect([...heads, ...ofHealthServer].filter((head) => !has(head))).toEqual([]);
  });

  test('has the defaults that are in force', () => {
    const { healthServer, ...usual } = resolveConfig({ healthServer: { port: 1 } }, {}, () => {});
    const shown = (value: unknown) => (typeof value === 'string' ? `'${value}'` : value);
    const heads = [
      ...Object.entries(usual).map(([name, value]) => [name, upper(name), value]),
      ...Object.entries(healthServer ?? {})
        .filter(([name]) => name !== 'port')
        .map(([name, value]) => [name, `HEALTH_${upper(name)}`, value]),
    ].map(
      ([name, variable, value]) => `**\`${name}\`, \`${variable}\`** (default \`${shown(value)}\``,
    );
    expect(heads).toContain('**`thresholdMillis`, `THRESHOLD_MILLIS`** (default `100`');
    expect(heads.filter((head) => !has(head))).toEqual([]);
  });

  test('has every method', () => {
    const methods = Object.getOwnPropertyNames(EventLoopInstrumentation.prototype).filter(
      (name) => name !== 'constructor' && !name.startsWith('_'),
    );
    expect(methods).toContain('forceFlush');
    expect(methods.filter((name) => !has(`**\`${name}(`))).toEqual([]);
  });

  test('has every field of a block and of what is in it', () => {
    const [, section = ''] = reference.split('## `EventLoopBlock`');
    const names = ['EventLoopBlock', 'BlockingCode', 'FunctionShare'].flatMap(optionsOf);
    expect(names).toContain('durationMillis');
    expect(names.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
  });

  test('has every export', () => {
    const lists = [...read('src/index.ts').matchAll(/^export (?:type )?\{([^}]+)\}/gm)];
    const names = lists.flatMap(([, list = '']) => list.split(',').map((name) => name.trim()));
    expect(names).toContain('LAG_CHANNEL');
    expect(names.filter((name) => name !== '' && !has(`\`${name}\``))).toEqual([]);
  });

  test('has every name that is emitted, and the constants are named as it says', () => {
    const names = Object.values(semconv).filter((name) => !has(`\`${name}\``));
    expect(names).toEqual([]);
    const isNamedByRule = ([constant, name]: [string, string]) =>
      constant.replace(/^(SPAN|EVENT|ATTR|METRIC)_/, '') ===
      name.toUpperCase().replaceAll(/\W/g, '_');
    const others = Object.entries(semconv).filter((entry) => !isNamedByRule(entry));
    expect(others).toEqual([
      ['LINK_TYPE_BLOCKED_BY', 'blocked_by'],
      ['LINK_TYPE_MADE_BY', 'made_by'],
    ]);
  });
});

/** The imports that a block leaves out, as most do but the first of a page. */
const IMPORTS: Record<string, string> = {
  EventLoopInstrumentation: 'opentelemetry-instrumentation-event-loop',
  EventLoopSpanProcessor: 'opentelemetry-instrumentation-event-loop',
  expectNoBlocks: 'opentelemetry-instrumentation-event-loop/testing',
  recordBlocks: 'opentelemetry-instrumentation-event-loop/testing',
  NodeSDK: '@opentelemetry/sdk-node',
  HttpInstrumentation: '@opentelemetry/instrumentation-http',
};

/** What the application of a block declares, and the block does not show. */
const DECLARATIONS = `
declare function renderReport(rows: readonly string[]): string;
declare const rows: readonly string[];
declare function importAll(files: readonly string[]): Promise<void>;
declare const files: readonly string[];
declare function compileTemplates(): void;
declare function readTable(table: string): Promise<readonly string[]>;
declare function fillCache(rows: readonly string[]): void;
declare const tables: readonly string[];
`;

const OWN_CODE = (entry: string) => [join(ROOT, `src/${entry}.ts`)];
const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2023'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    allowJs: true,
    skipLibCheck: true,
    types: ['node', 'jest'],
    allowImportingTsExtensions: true,
    paths: {
      'opentelemetry-instrumentation-event-loop': OWN_CODE('index'),
      'opentelemetry-instrumentation-event-loop/testing': OWN_CODE('testing'),
    },
  },
  include: ['.'],
};

/** The modules that a block is compiled as: both kinds, unless it can only be one of them. */
function modulesOf({ language, text }: CodeBlock): [extension: string, text: string][] {
  const kind = language === 'ts' ? 'ts' : 'js';
  const isOurs = text.includes('opentelemetry-instrumentation-event-loop');
  const missing = Object.entries(IMPORTS).filter(
    ([name]) => new RegExp(`\\b${name}\\b`).test(text) && !text.includes(`{ ${name} }`) && !isOurs,
  );
  // Packages without types, such as express, are only checked for their syntax.
  const isTyped = !text.includes('express') && (isOurs || missing.length > 0);
  const check = kind === 'js' && isTyped ? '// @ts-check\n' : '';
  const usesRequire = /\brequire\(|\bmodule\.exports\b/.test(text);
  if (usesRequire) {
    const lines = missing.map(([name, from]) => `const { ${name} } = require('${from}');`);
    return [[`c${kind}`, `${check}${lines.join('\n')}\n${text}`]];
  }
  const lines = missing.map(([name, from]) => `import { ${name} } from '${from}';`);
  const esm = `${check}${lines.join('\n')}\n${text}\nexport {};`;
  const imports = [...text.matchAll(/^import [\s\S]*?;$/gm)].map(([statement]) => statement);
  if (kind === 'js' && imports.length > 0) return [['mjs', esm]];
  // CommonJS has no top-level await.
  const body = text.replaceAll(/^import [\s\S]*?;$/gm, '');
  const required =
    kind === 'ts'
      ? [...lines, ...imports]
      : missing.map(([name, from]) => `const { ${name} } = require('${from}');`);
  const cjs = `${check}${required.join('\n')}\nasync function example() {\n${body}\n}\nvoid example;`;
  return [
    [`m${kind}`, esm],
    [`c${kind}`, kind === 'ts' ? `${cjs}\nexport {};` : cjs],
  ];
}

describe('TypeScript and JavaScript', () => {
  let folder: string;
  beforeAll(() => {
    mkdirSync(join(ROOT, '.matrix'), { recursive: true });
    // Below the root, where the packages are found that the blocks import.
    folder = mkdtempSync(join(ROOT, '.matrix/docs-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('every block compiles, as an ES module and as CommonJS', () => {
    const sources = new Map<string, string>();
    for (const [i, block] of blocksIn('ts', 'js').entries()) {
      for (const [extension, text] of modulesOf(block)) {
        const file = `block-${i}.${extension}`;
        sources.set(file, nameOf(block));
        writeFileSync(join(folder, file), text);
      }
    }
    expect(sources.size).toBeGreaterThan(20);
    writeFileSync(join(folder, 'declarations.d.ts'), DECLARATIONS);
    writeFileSync(join(folder, 'app.js'), 'export {};');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(
      process.execPath,
      [tsc, '-p', folder, '--pretty', 'false'],
      {
        encoding: 'utf8',
      },
    );
    const errors = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) =>
        line.replace(/^.*(block-\d+\.\w+)/, (_, file) => `${sources.get(file)} ${file}`),
      );
    expect(errors).toEqual([]);
    expect(status).toBe(0);
  });

  test('those of the health page are in the services that are tested', () => {
    const examples = ['telemetry', 'health-check-express', 'shed-load-express', 'shed-load-fastify']
      .map((name) => read(`examples/${name}.cjs`))
      .join('\n');
    const blocks = codeBlocks('docs/health.md').filter(({ language }) => language === 'js');
    expect(blocks.length).toBeGreaterThan(1);
    for (const { text } of blocks)
      for (const line of text.split('\n')) expect(examples).toContain(line);
  });
});

test.each(blocksIn('json').map((block) => [nameOf(block), block.text]))(
  '%s is JSON',
  (_name, text) => {
    expect(() => JSON.parse(text)).not.toThrow();
  },
);

test.each(blocksIn('yaml').map((block) => [nameOf(block), block.text]))(
  '%s is YAML',
  (_name, text) => {
    expect(parseAllDocuments(text).flatMap(({ errors }) => errors)).toEqual([]);
  },
);

test.each(blocksIn('sh').map((block) => [nameOf(block), block.text]))(
  '%s is what a shell takes',
  (_name, text) => {
    // A placeholder, as in `--node <path>`, is not shell.
    const input = text.replaceAll(/<[\w /-]+>/g, 'placeholder');
    expect(() => execFileSync('bash', ['-n'], { input })).not.toThrow();
  },
);
