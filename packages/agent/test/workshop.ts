import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Agent } from '../src/loop/agent.ts';
import type { AgentEvent, EndReason } from '../src/events.ts';
import type { Folders } from '../src/folders.ts';
import { newSessionId } from '../src/session/session-id.ts';
import { loadSettings } from '../src/settings.ts';
import { submit } from '../src/loop/submit.ts';
import { openVault } from '../src/session/vault.ts';
import { temporaryFolder } from './terminal.ts';

interface Context {
  after(fn: () => void | Promise<void>): void;
}

export interface WorkshopOptions {
  /** The body of the model: a function of the request, with `log` to write it down. */
  readonly script: string;
  readonly windowTokens?: number;
  /** Another model than the script. */
  readonly model?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: object;
  readonly env?: Record<string, string>;
  readonly yes?: boolean;
  readonly interactive?: boolean;
  readonly session?: string;
}

/** A temporary project with a scripted model, and an agent that works in it. */
export interface Workshop {
  readonly agent: Agent;
  readonly folders: Folders;
  readonly events: AgentEvent[];
  /** What the model was asked, in order. */
  readonly requests: () => readonly Asked[];
  /** Sends a line and waits until all is done. */
  readonly line: (text: string) => Promise<EndReason>;
  /** The program started anew on the same folders; this agent can only be looked at from then on. */
  readonly again: (options?: Partial<WorkshopOptions>) => Promise<Workshop>;
}

export interface Asked {
  readonly tools: readonly string[];
  readonly earlier: number;
  readonly messages: readonly {
    readonly role: string;
    readonly text: string;
    readonly calls: readonly { readonly tool: string; readonly args: Record<string, unknown> }[];
  }[];
}

export async function workshop(t: Context, options: WorkshopOptions): Promise<Workshop> {
  const root = temporaryFolder(t);
  const folders: Folders = {
    project: join(root, 'project'),
    config: join(root, 'config', 'bobbin'),
    data: join(root, 'data', 'bobbin'),
  };
  mkdirSync(folders.project);
  execFileSync('git', ['init', '-q'], { cwd: folders.project });
  for (const [path, content] of Object.entries(options.files ?? {}))
    put(join(folders.project, path), content);
  if (options.settings !== undefined)
    put(join(folders.config, 'settings.json'), JSON.stringify(options.settings));
  writeScript(root, options.script);
  return open(t, root, folders, options);
}

/** Writes a script module that logs what it is asked. */
export function writeScript(root: string, body: string, name: string = 'script.mjs'): string {
  const path = join(root, name);
  const log = JSON.stringify(join(root, 'requests.jsonl'));
  put(
    path,
    `import { appendFileSync, readFileSync } from 'node:fs';
export const script = async (request) => {
  const { messages, tools, earlier } = request;
  appendFileSync(${log}, JSON.stringify(request) + '\\n');
  const last = messages.at(-1);
  const lastCall = messages.findLast((message) => message.calls.length > 0)?.calls.at(-1);
  ${body}
};
`,
  );
  return path;
}

async function open(
  t: Context,
  root: string,
  folders: Folders,
  options: WorkshopOptions,
): Promise<Workshop> {
  const { windowTokens = 16_000, env = {}, yes = true, interactive = false } = options;
  const settings = loadSettings(folders, env);
  const vault = await openVault(folders);
  const events: AgentEvent[] = [];
  const agent = await Agent.start(
    {
      folders,
      settings,
      env,
      vault,
      model: options.model ?? `scripted/${join(root, 'script.mjs')}@${windowTokens}`,
      session: options.session ?? newSessionId(Date.now()),
      permissions: { all: yes, allow: settings.allow },
      interactive,
      clock: { now: () => Date.now() },
    },
    (event) => events.push(event),
  );
  t.after(() => agent.close());
  const log = join(root, 'requests.jsonl');
  return {
    agent,
    folders,
    events,
    requests: () =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as Asked)
        : [],
    async line(text) {
      await submit(agent, text);
      return agent.rest();
    },
    async again(other = {}) {
      await agent.close();
      return open(t, root, folders, { ...options, ...other });
    },
  };
}

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** The events of one type, in order. */
export function ofType<Type extends AgentEvent['type']>(
  events: readonly AgentEvent[],
  type: Type,
): readonly Extract<AgentEvent, { type: Type }>[] {
  return events.filter(
    (event): event is Extract<AgentEvent, { type: Type }> => event.type === type,
  );
}
