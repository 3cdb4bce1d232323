// Does what a Dockerfile says, in a folder, without Docker: for those that copy, run commands with
// relative paths, and nothing else. A base image is the machine itself.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const IMAGE_NAME = /^(\S+)(?: AS (\S+))?$/;

/** @returns {[string, string][]} instruction and its arguments */
function readInstructions(/** @type {string} */ file) {
  return readFileSync(file, 'utf8')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

/**
 * Files that git knows, as a context made from a clean clone has them, and that the ignore file
 * lets through.
 * @param {string} context
 * @param {string} pattern
 * @param {string[]} allowed
 */
function contextFiles(context, pattern, allowed) {
  const output = execFileSync(
    'git',
    ['ls-files', '-z', `:(glob)${pattern}`, `:(glob)${pattern}/**`],
    {
      cwd: context,
    },
  );
  const files = output.toString().split('\0').filter(Boolean);
  const kept = files.filter((file) =>
    allowed.some((entry) => file === entry || file.startsWith(`${entry}/`)),
  );
  if (kept.length === 0) throw new Error(`COPY ${pattern}: not in the context`);
  return kept;
}

/**
 * @param {string} context
 * @param {string[]} sources
 * @param {string} target
 * @param {string[]} allowed
 */
function copyFromContext(context, sources, target, allowed) {
  for (const source of sources) {
    for (const file of contextFiles(context, source, allowed)) {
      const below = file.startsWith(`${source}/`) ? file.slice(source.length + 1) : basename(file);
      mkdirSync(dirname(join(target, below)), { recursive: true });
      cpSync(join(context, file), join(target, below));
    }
  }
}

/**
 * @typedef {{ root: string, workdir: string, env: Record<string, string>,
 *   command: string[] }} Stage
 */

/**
 * @param {string} context the folder that it is built from
 * @param {string} file below it; `<file>.dockerignore` lets through what its `!` lines name
 * @param {string} folder where the stages are made
 * @param {{ copyOnly?: boolean }} [options] `copyOnly`: takes what it copies from the context, and
 *   runs nothing
 * @returns {{ workdir: string, command: string[], first: string }} folder and command of the last
 *   stage, folder of the first one
 */
export function followDockerfile(context, file, folder, { copyOnly = false } = {}) {
  const allowed = readFileSync(join(context, `${file}.dockerignore`), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  /** @type {Record<string, Stage>} */
  const stages = {};
  /** @type {Stage} */
  let stage = { root: folder, workdir: '/', env: {}, command: [] };
  for (const [instruction, argument] of readInstructions(join(context, file))) {
    const words = argument.split(/\s+/).filter((word) => !word.startsWith('--'));
    if (instruction === 'FROM') {
      const name = IMAGE_NAME.exec(argument)?.[2] ?? 'last';
      stage = { root: join(folder, name), workdir: '/', env: {}, command: [] };
      stages[name] = stage;
    } else if (instruction === 'WORKDIR') {
      stage.workdir = argument;
      mkdirSync(join(stage.root, argument), { recursive: true });
    } else if (instruction === 'ENV') {
      const [name = '', value = ''] = argument.split('=');
      stage.env[name] = value;
    } else if (instruction === 'COPY') {
      const target = join(stage.root, stage.workdir, words.pop() ?? '.');
      const from = /--from=(\S+)/.exec(argument)?.[1];
      if (from && copyOnly) continue;
      if (from)
        for (const source of words)
          cpSync(join(stages[from]?.root ?? '', source), target, { recursive: true });
      else copyFromContext(context, words, target, allowed);
    } else if (instruction === 'RUN') {
      if (copyOnly) continue;
      const cwd = join(stage.root, stage.workdir);
      const command = argument.replace(/^(?:--\S+ )+/, '');
      execFileSync('sh', ['-ec', command], {
        cwd,
        env: { ...process.env, npm_config_prefer_offline: 'true', ...stage.env },
        stdio: 'pipe',
      });
    } else if (instruction === 'CMD') {
      stage.command = JSON.parse(argument);
    } else if (!['USER', 'EXPOSE'].includes(instruction)) {
      throw new Error(`${instruction} cannot be followed`);
    }
  }
  const [first = stage] = Object.values(stages);
  const folderOf = (/** @type {Stage} */ { root, workdir }) => join(root, workdir);
  return { workdir: folderOf(stage), command: stage.command, first: folderOf(first) };
}
