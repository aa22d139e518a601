import { basename } from 'node:path';
import type { Invocation } from '../command-line.ts';
import { ExpectedError } from '../expected-error.ts';
import type { Folders } from '../folders.ts';
import type { Conversation } from '../tui/conversation.ts';
import { endOnSignal } from '../signals.ts';
import { printable } from '../tui/printable.ts';
import { Screen } from '../tui/screen.ts';
import { themeFor } from '../tui/theme.ts';

/**
 * The agent in a terminal. The screen with its prompt is there at once: the engine is loaded and the session opened in
 * the background, and what is typed meanwhile waits.
 */
export async function tuiMode(invocation: Invocation, folders: Folders): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new ExpectedError('this is no terminal: use --print, or --mode json|rpc');
  const { promise: over, resolve: quit } = Promise.withResolvers<void>();
  let conversation: Conversation | undefined;
  const typed: string[] = [];
  const theme = themeFor(process.env);
  const screen = new Screen(theme, folders.project, {
    submit: (text) => (conversation === undefined ? typed.push(text) : conversation.submit(text)),
    interrupt: () => conversation?.interrupt(),
    toggleFolds: () => conversation?.toggleFolds(),
    quit: () => quit(),
  });
  screen.say(`${theme.bold('bobbin')} ${theme.dim(`in ${printable(basename(folders.project))}`)}`);
  screen.start();
  endOnSignal(async () => {
    screen.stop();
    await conversation?.close();
  });
  try {
    const opened = open(invocation, folders, screen);
    conversation = await Promise.race([opened, over.then(() => undefined)]);
    if (invocation.resume?.kind === 'choose') conversation?.submit('/resume');
    for (const text of [invocation.prompt, ...typed]) if (text !== '') conversation?.submit(text);
    await over;
  } catch (error) {
    await screen.erase();
    throw error;
  } finally {
    screen.stop();
  }
  await conversation?.close();
  const session = conversation?.resumable;
  if (session !== undefined) process.stdout.write(`To go on: bobbin --resume ${session}\n`);
  return 0;
}

async function open(
  invocation: Invocation,
  folders: Folders,
  screen: Screen,
): Promise<Conversation> {
  // The first drawing goes out before anything heavy is loaded.
  await new Promise((resolve) => setTimeout(resolve, FIRST_DRAWING_MS));
  const [{ agentOptions }, { Conversation: Loaded }] = await Promise.all([
    import('../run.ts'),
    import('../tui/conversation.ts'),
  ]);
  return Loaded.open(await agentOptions(invocation, folders), screen, themeFor(process.env));
}

const FIRST_DRAWING_MS = 5;
