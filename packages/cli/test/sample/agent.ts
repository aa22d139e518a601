import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ChatMessage } from '@bobbin/codecs';

/** What a tool is asked for. Every result is real: the tools work on a copy of this repository. */
export type Call =
  | { readonly tool: 'list_files'; readonly args: { readonly pattern: string } }
  | { readonly tool: 'read_file'; readonly args: { readonly path: string } }
  | { readonly tool: 'search'; readonly args: { readonly pattern: string; readonly under: string } }
  | {
      readonly tool: 'write_file';
      readonly args: { readonly path: string; readonly content: string };
    }
  | {
      readonly tool: 'edit_file';
      readonly args: { readonly path: string; readonly old: string; readonly new: string };
    }
  | { readonly tool: 'run'; readonly args: { readonly command: string } };

const MOST_MATCHES = 60;
/** Where the copy pretends to be, so that a recording names no machine. */
const HOME = '/home/dev/bobbin';

/** A coding agent whose words and calls are given, and whose tools are real. */
export class ScriptedAgent {
  readonly messages: ChatMessage[] = [];
  readonly #folder: string;

  constructor(root: string, system: string) {
    this.#folder = copyOf(root);
    this.messages.push({ role: 'system', content: system });
  }

  user(text: string): void {
    this.messages.push({ role: 'user', content: text });
  }

  say(text: string): void {
    this.messages.push({ role: 'assistant', content: text });
  }

  /** Calls made together, and their results. */
  round(text: string | null, ...calls: readonly Call[]): readonly string[] {
    const named = calls.map((call) => ({
      ...call,
      id: `call_${this.messages.length}_${calls.indexOf(call)}`,
    }));
    this.messages.push({
      role: 'assistant',
      content: text,
      tool_calls: named.map(({ id, tool, args }) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: JSON.stringify(args) },
      })),
    });
    return named.map((call) => {
      const content = this.#carryOut(call).replaceAll(this.#folder, HOME);
      this.messages.push({ role: 'tool', tool_call_id: call.id, content });
      return content;
    });
  }

  files(pattern: string): readonly string[] {
    return globSync(pattern, {
      cwd: this.#folder,
      exclude: ['**/node_modules', '**/dist'],
    }).toSorted();
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #carryOut(call: Call): string {
    switch (call.tool) {
      case 'list_files':
        return this.files(call.args.pattern).join('\n');
      case 'read_file':
        return numbered(this.#read(call.args.path));
      case 'search':
        return this.#search(call.args.pattern, call.args.under);
      case 'write_file': {
        const path = join(this.#folder, call.args.path);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, call.args.content);
        return `Wrote ${call.args.content.split('\n').length} lines to ${call.args.path}.`;
      }
      case 'edit_file':
        return this.#edit(call.args);
      case 'run':
        return this.#run(call.args.command);
    }
  }

  #read(path: string): string {
    return readFileSync(join(this.#folder, path), 'utf8');
  }

  #search(pattern: string, under: string): string {
    const wanted = new RegExp(pattern);
    const matches = this.files(`${under}/**/*.{ts,md,mjs}`).flatMap((path) =>
      this.#read(path)
        .split('\n')
        .flatMap((line, i) => (wanted.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
    );
    const left = matches.length - MOST_MATCHES;
    return [...matches.slice(0, MOST_MATCHES), ...(left > 0 ? [`… and ${left} more`] : [])].join(
      '\n',
    );
  }

  #edit(args: { path: string; old: string; new: string }): string {
    const text = this.#read(args.path);
    if (text.split(args.old).length !== 2)
      return `Error: "old" must occur exactly once in ${args.path}.`;
    writeFileSync(
      join(this.#folder, args.path),
      text.replace(args.old, () => args.new),
    );
    return `Edited ${args.path}.`;
  }

  #run(command: string): string {
    const env = {
      ...process.env,
      NO_COLOR: '1',
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    };
    const { stdout, stderr, status } = spawnSync('sh', ['-c', command], {
      cwd: this.#folder,
      encoding: 'utf8',
      env: Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'NODE_TEST_CONTEXT')),
    });
    return `${stdout}${stderr}\nexit code ${status}`;
  }
}

/** The files that git knows, with the packages of the copy in the place of the installed ones. */
function copyOf(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-sample-'));
  const { stdout } = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' });
  for (const path of stdout.trim().split('\n')) {
    if (path.startsWith('packages/cli/samples/')) continue;
    cpSync(join(root, path), join(folder, path), { force: true });
  }
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@bobbin'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@bobbin' && !name.startsWith('.'))
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(modules, '@bobbin', name));
  return folder;
}

function numbered(text: string): string {
  return text
    .split('\n')
    .map((line, i) => `${String(i + 1).padStart(4)}  ${line}`)
    .join('\n');
}
