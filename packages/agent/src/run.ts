import { text } from 'node:stream/consumers';
import type { ThreadId } from '@bobbin/core';
import { Agent } from './loop/agent.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Invocation } from './command-line.ts';
import type { EndReason } from './events.ts';
import type { Folders } from './folders.ts';
import { ExpectedError } from './expected-error.ts';
import { chooseModel, defaultModel } from './model/models.ts';
import { newSessionId, projectName } from './session/session-id.ts';
import { restoredModel } from './session/session-model.ts';
import { namedSession, newestSession } from './session/sessions.ts';
import { loadSettings } from './settings.ts';
import { endOnSignal } from './signals.ts';
import { openVault } from './session/vault.ts';
import { printable, visibleLine } from './tui/printable.ts';

/** Starts the agent in the mode that was asked for, and returns the exit code. */
export async function run(invocation: Invocation, folders: Folders): Promise<number> {
  switch (invocation.mode) {
    case 'tui':
      return runTui(invocation, folders);
    case 'import':
      return runImport(invocation, folders);
    case 'print':
      return runPrint(invocation, await agentOptions(invocation, folders));
    case 'json':
      return runJson(invocation, await agentOptions(invocation, folders));
    case 'rpc':
      return runRpc(await agentOptions(invocation, folders));
  }
}

export async function agentOptions(
  invocation: Invocation,
  folders: Folders,
): Promise<AgentOptions> {
  const settings = loadSettings(folders, process.env);
  const vault = await openVault(folders);
  const session = sessionOf(invocation, folders);
  return {
    folders,
    settings,
    env: process.env,
    vault,
    ...(await modelFor(invocation, session, { folders, settings, vault })),
    session,
    permissions: { all: invocation.yes, allow: settings.allow },
    interactive:
      invocation.mode === 'tui' ||
      invocation.mode === 'rpc' ||
      (invocation.mode === 'json' && invocation.prompt === ''),
    clock: { now: () => Date.now() },
  };
}

/** The model that was named, or otherwise the session's, or the default; with a notice about it. */
async function modelFor(
  invocation: Invocation,
  session: string,
  { folders, settings, vault }: Pick<AgentOptions, 'folders' | 'settings' | 'vault'>,
): Promise<Pick<AgentOptions, 'model' | 'notices'>> {
  if (invocation.model !== undefined) return { model: invocation.model, notices: [] };
  const key = { tenant: projectName(folders.project), thread: session as ThreadId };
  const restored = await restoredModel(vault.store, key, (name) =>
    chooseModel(name, settings, process.env, folders.project),
  );
  if (restored.kind === 'restored') return { model: restored.name, notices: [] };
  const notices = restored.kind === 'unavailable' ? [restored.why] : [];
  const model = defaultModel(settings, process.env);
  if (model !== undefined) return { model, notices };
  return { model: modelWithoutKey(invocation), notices: [...notices, WITHOUT_KEY] };
}

const WITHOUT_KEY = `No model is set up yet, so that a script answers. To work with a model, either
- set ANTHROPIC_API_KEY or OPENAI_API_KEY and start bobbin again, or
- run a server on this machine (Ollama, LM Studio, llama.cpp) and choose with /model.
Without one, all commands work, and bobbin import FILE shows what you said elsewhere.`;

/** A person sees that a script plays the model; a reader of the answer alone would take it for a model. */
function modelWithoutKey({ mode }: Invocation): string {
  if (mode === 'tui') return 'scripted/demo';
  throw new ExpectedError(
    'there is no model to ask: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name one with --model (scripted/demo needs no key)',
  );
}

function sessionOf({ resume }: Invocation, folders: Folders): string {
  const fresh = newSessionId(Date.now());
  if (resume === undefined) return fresh;
  if (resume.kind !== 'named') return newestSession(folders) ?? fresh;
  return namedSession(folders, resume.id);
}

async function runTui(invocation: Invocation, folders: Folders): Promise<number> {
  const { tuiMode } = await import('./modes/tui.ts');
  return tuiMode(invocation, folders);
}

/** Imports, and goes on from there if there is a terminal. What cannot be imported is a failure, not a wrong call. */
async function runImport(invocation: Invocation, folders: Folders): Promise<number> {
  const { importSession } = await import('./session/import-session.ts');
  const vault = await openVault(folders);
  let imported;
  try {
    imported = await importSession(invocation.file ?? '', folders, vault, Date.now());
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    process.stderr.write(`bobbin: ${visibleLine(error.message)}\n`);
    return EXIT_CODES.failed;
  } finally {
    await vault.store.close();
  }
  const { session, format, messages, leftOut } = imported;
  const without = leftOut === 0 ? '' : `, without ${leftOut} system messages of that program`;
  process.stdout.write(
    `Imported ${messages} messages of ${format} as session ${session}${without}.\n`,
  );
  if (!process.stdin.isTTY || !process.stdout.isTTY) return 0;
  return runTui({ ...invocation, mode: 'tui', resume: { kind: 'named', id: session } }, folders);
}

async function runPrint(invocation: Invocation, options: AgentOptions): Promise<number> {
  const { printMode, verboseMode } = await import('./modes/print.ts');
  const print = invocation.verbose ? verboseMode : printMode;
  const piped = process.stdin.isTTY ? '' : await pipedText();
  const prompt = [invocation.prompt, piped.trim()].filter((part) => part !== '').join('\n\n');
  if (prompt === '')
    throw new ExpectedError('there is nothing to answer: give a prompt, or pipe one in');
  return withAgent(options, (agent) =>
    print(agent, prompt, {
      write: (said) => put(process.stdout, said),
      complain: (said) => put(process.stderr, said),
    }),
  );
}

/** A terminal gets characters only: an answer may quote anything. Other outputs get it as it is. */
function put(stream: NodeJS.WriteStream, said: string): void {
  stream.write(stream.isTTY ? printable(said) : said);
}

/** All that comes in. A pipe that stays open is waited for, since what comes late counts too, but with a notice. */
async function pipedText(): Promise<string> {
  const timer = setTimeout(
    () => process.stderr.write('bobbin: reading stdin to its end (< /dev/null gives none)\n'),
    PATIENCE_MS,
  );
  try {
    return await text(process.stdin);
  } finally {
    clearTimeout(timer);
  }
}

const PATIENCE_MS = 2_000;

async function runJson(invocation: Invocation, options: AgentOptions): Promise<number> {
  const { jsonMode } = await import('./modes/json.ts');
  return withAgent(options, (agent) => jsonMode(agent, invocation.prompt, process.stdin, putLine));
}

async function runRpc(options: AgentOptions): Promise<number> {
  const { rpcMode } = await import('./modes/rpc.ts');
  return withAgent(options, async (agent) => {
    await rpcMode(agent, process.stdin, putLine);
    return 'done';
  });
}

function putLine(line: string): void {
  process.stdout.write(line);
}

/** Has an agent work, and returns the exit code that says how it ended. */
async function withAgent(
  options: AgentOptions,
  work: (agent: Agent) => Promise<EndReason>,
): Promise<number> {
  const agent = await Agent.start(options);
  endOnSignal(async () => {
    agent.interrupt();
    await agent.rest();
    await agent.close();
  });
  const reason = await work(agent);
  await agent.close();
  return EXIT_CODES[reason];
}

const EXIT_CODES = { done: 0, failed: 1, stopped: 1, interrupted: 130 } as const;
