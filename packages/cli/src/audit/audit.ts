import { oneOf } from '../command.ts';
import type { AuditValues } from '../commands/audit.ts';
import { compacted, settingsFor } from '../compact/compacted.ts';
import { COUNTERS } from '../compact/counters.ts';
import { EXIT, InputError, writeError, UsageError } from '../failure.ts';
import { readConversation, type Conversation } from '../input/conversation.ts';
import { sessionFormat } from '../input/formats.ts';
import { isFileOf, readText, sourcesOf, write, type TextSource } from '../input/text-stream.ts';
import { OutFile } from '../output/out-file.ts';
import { Progress } from '../output/progress.ts';
import { stdoutScreen } from '../output/screen.ts';
import { PRESETS } from '@bobbin/core/internal';
import { htmlReport } from './html-report.ts';
import {
  auditSession,
  itemsOf,
  totalsOf,
  type AuditRequest,
  type SessionAudit,
} from './session-audit.ts';
import { textReport } from './text-report.ts';

/** What is known of one file. */
export interface FileAudit extends SessionAudit {
  readonly file: string;
  /** Without a compaction: what one would do, in the largest usual window that the session does not fit. */
  readonly wouldBe?: {
    readonly windowTokens: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
  };
}

/** Audits the sessions that the operands name, prints the report, and gives the exit code. */
export async function audit(operands: readonly string[], values: AuditValues): Promise<number> {
  const sources = sourcesOf(operands);
  const { html } = values;
  if (html !== undefined && sources.some((source) => isFileOf(source, html)))
    throw new UsageError(`--html ${html} is a session that is read`);
  const counter = oneOf('counter', values.counter, COUNTERS);
  const request: AuditRequest = {
    ...(counter === undefined ? {} : { counter }),
    ...(values.model === undefined ? {} : { model: values.model }),
  };
  const files = await auditAll(sources, request);
  if (html !== undefined) await writePage(html, htmlReport(files));
  const text =
    values.json === true
      ? `${JSON.stringify(asData(files), null, 2)}\n`
      : `${textReport(stdoutScreen(), files, values.all === true ? Infinity : SHOWN_ITEMS).join('\n')}\n`;
  await write(process.stdout, text);
  if (html !== undefined) writeError(`the report is in ${html}`);
  return EXIT.done;
}

/** How many lost items of a compaction are listed, unless all are asked for. */
const SHOWN_ITEMS = 12;

async function auditAll(
  sources: readonly TextSource[],
  request: AuditRequest,
): Promise<readonly FileAudit[]> {
  const progress = new Progress();
  const files: FileAudit[] = [];
  try {
    for (const [i, source] of sources.entries()) {
      const head = sources.length === 1 ? '' : `${i + 1} of ${sources.length}: `;
      await progress.announce(`${head}reading ${source.name}`);
      const conversation = readSession(await readText(source), source.name);
      const onProgress = (done: number, of: number): Promise<void> =>
        progress.announce(`${head}compaction ${done + 1} of ${of} in ${source.name}`);
      const found = await auditSession(conversation, { ...request, onProgress });
      files.push({
        file: source.name,
        ...found,
        ...(await forecast(conversation, request, found)),
      });
    }
  } finally {
    progress.clear();
  }
  return files;
}

/** @throws InputError if the text is not a session file. */
function readSession(text: string, name: string): Conversation {
  if (text.trim() === '') throw new InputError(name, undefined, 'is empty');
  if (sessionFormat('auto', text) === undefined)
    throw new InputError(
      name,
      undefined,
      'is not a session file of Claude Code, Codex, pi, OpenCode or Bobbin',
    );
  return readConversation(text, name, 'auto');
}

const WINDOWS = [200_000, 128_000, 64_000, 32_000, 16_000, 8_000];

async function forecast(
  conversation: Conversation,
  request: AuditRequest,
  { compactions }: SessionAudit,
): Promise<Pick<FileAudit, 'wouldBe'>> {
  if (compactions.length > 0) return {};
  const asked = { ...request, format: 'auto', policy: PRESETS.ladder };
  const { counter } = await settingsFor(asked, conversation);
  const tokens = conversation.messages.reduce((sum, one) => sum + counter.message(one), 0);
  const windowTokens = WINDOWS.find((window) => window < tokens);
  if (windowTokens === undefined) return {};
  const settings = await settingsFor({ ...asked, windowTokens }, conversation);
  const { fitted, tokensBefore } = await compacted(settings, conversation);
  return { wouldBe: { windowTokens, tokensBefore, tokensAfter: fitted.prompt.tokens } };
}

function asData(files: readonly FileAudit[]): object {
  return {
    totals: totalsOf(itemsOf(files)),
    sessions: files.map((file) => ({
      ...file,
      compactions: file.compactions.map((compaction) =>
        compaction.kind === 'audited'
          ? { ...compaction, totals: totalsOf(compaction.items) }
          : compaction,
      ),
    })),
  };
}

async function writePage(path: string, page: string): Promise<void> {
  const file = await OutFile.open(path);
  try {
    await write(file.stream, page);
    await file.keep();
  } catch (error) {
    await file.discard();
    throw error;
  }
}
