import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { globPattern } from './glob-pattern.ts';

/** What a tool wants to do that a person may not want. */
export interface PermissionRequest {
  readonly kind: 'run' | 'write' | 'read';
  /** The command, or the path: relative inside the project, absolute outside. */
  readonly subject: string;
  readonly outside: boolean;
  /** The path inside the project that was asked for, if a link in it leads out: such a path is refused. */
  readonly link?: string;
}

/** What is allowed without asking. */
export interface Permissions {
  /** Everything (`--yes`). */
  readonly all: boolean;
  /** Rules such as `run:npm test *` and `write:src/**`. They reach outside the project only if they name it. */
  readonly allow: readonly string[];
}

/** Anything by which one command line can run more than one program. */
const CHAINED = /[;&|<>`$(){}\n\\]/;

/** For the rest of the session: `always` the very same, `edits` every write in the project, `alike` commands like this. */
export type Answer = 'yes' | 'always' | 'edits' | 'alike' | 'no';

/** Programs that run any program they are given: "like this" would mean anything. */
const RUNNERS: ReadonlySet<string> = new Set(
  'bash sh zsh fish dash env exec eval sudo doas su xargs find ssh nohup timeout time watch node deno bun python python3 ruby perl php awk sed'.split(
    ' ',
  ),
);

/** Programs whose next word says what they do. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  'git gh npm npx pnpm yarn cargo go docker kubectl make just pip pip3 uv poetry brew apt apt-get dotnet mvn gradle rustup terraform systemctl'.split(
    ' ',
  ),
);

/** The rule for commands like one: the same program, with the same subcommand if it takes one. */
export function alikeRule(command: string): string | undefined {
  if (CHAINED.test(command)) return undefined;
  const [program = '', subcommand = ''] = command.trim().split(/\s+/);
  if (!/^[\w.+-]+$/.test(program) || program.includes('=') || RUNNERS.has(program))
    return undefined;
  if (!WITH_SUBCOMMANDS.has(program)) return `${program} *`;
  // An option before the subcommand can mean another folder, another host.
  return /^[a-z][\w:./@-]*$/.test(subcommand) ? `${program} ${subcommand} *` : undefined;
}

export function isAllowed(request: PermissionRequest, { all, allow }: Permissions): boolean {
  if (request.link !== undefined) return false;
  if (all || (request.kind === 'read' && !request.outside)) return true;
  return allow.some((rule) => covers(rule, request));
}

/** Folders whose files say what runs later, without a question. */
const GUARDED = /(?:^|\/)\.(?:git|bobbin)(?:\/|$)/;

/** A write that "all edits" covers: in the project, and not to a file whose content is run as a command. */
export function isEdit({ kind, subject, outside }: PermissionRequest): boolean {
  return kind === 'write' && !outside && !GUARDED.test(subject);
}

/** A rule that can be read; paths are globs, which may be broken. */
export function isRule(rule: string): boolean {
  const [, kind, pattern] = /^(run|write|read):(.+)$/s.exec(rule) ?? [];
  if (pattern === undefined) return false;
  try {
    return kind === 'run' || globPattern(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

function covers(rule: string, { kind, subject, outside }: PermissionRequest): boolean {
  if (!rule.startsWith(`${kind}:`)) return false;
  const pattern = rule.slice(kind.length + 1);
  if (kind === 'run') return coversCommand(pattern, subject);
  if (outside && !isAbsolute(pattern)) return false;
  return globPattern(pattern).test(subject);
}

function coversCommand(pattern: string, command: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.endsWith('*')) return pattern === command;
  // After a blank the star matches whole words, also none.
  const isBare = pattern.endsWith(' *') && command === pattern.slice(0, -2);
  return (isBare || command.startsWith(pattern.slice(0, -1))) && !CHAINED.test(command);
}

/** The request to touch a path. Links are followed first, so that none leads out of the project unseen. */
export function pathRequest(kind: 'read' | 'write', path: string, root: string): PermissionRequest {
  const named = relative(root, resolve(root, path));
  const absolute = realPath(resolve(root, path));
  const inside = relative(realPath(root), absolute);
  if (!leadsOut(inside)) return { kind, subject: inside || '.', outside: false };
  const link = leadsOut(named) ? {} : { link: named };
  return { kind, subject: absolute, outside: true, ...link };
}

/** Whether a relative path leads out of its starting folder. */
export function leadsOut(path: string): boolean {
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}

/** As many links as an operating system follows for one path. */
const MOST_LINKS = 40;

/** The real path of what is there, with the names of what is not there yet; also a link to nothing is followed. */
function realPath(path: string, links: number = 0): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const place = join(realPath(parent, links), basename(path));
    const target = links < MOST_LINKS ? linkTarget(place) : undefined;
    return target === undefined ? place : realPath(resolve(dirname(place), target), links + 1);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
