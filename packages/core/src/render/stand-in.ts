import { textMessage, type Message } from '../message/message.ts';
import type { PlanRecord, RenderStyle, SummarizeRecord } from '../plan/plan.ts';
import { isInPlace, pointer } from './in-place.ts';

/** Comes before a summary's shadow, so that user and assistant alternate. */
const SHADOW = 'Summarize the conversation so far, so that the work can go on from it.';

/** The messages that replace a summarised span; none if there was no space for any of it. */
export function summaryMessages(
  record: Pick<SummarizeRecord, 'summary' | 'text'>,
  style: RenderStyle,
): readonly Message[] {
  if (record.text === '') return [];
  const prefix = style.summaryPrefix
    .replaceAll('{first}', String(record.summary.firstTurn))
    .replaceAll('{last}', String(record.summary.lastTurn))
    .replaceAll('{round}', String(record.summary.round));
  const text = `${prefix}\n${record.text}`;
  const synthetic = { synthetic: true };
  switch (style.summaryRole) {
    case 'assistant':
    case 'user':
      return [textMessage(style.summaryRole, text, synthetic)];
    case 'pair':
      return [
        textMessage('user', style.shadowPrompt ?? SHADOW, synthetic),
        textMessage('assistant', text, synthetic),
      ];
  }
}

/** The messages that a record adds; one that changes its message in place adds none. */
export function standIns(record: PlanRecord, style: RenderStyle): readonly Message[] {
  switch (record.kind) {
    case 'summarize':
      return summaryMessages(record, style);
    case 'externalize':
      return isInPlace(record)
        ? []
        : [textMessage('assistant', pointer('', record, style), { synthetic: true })];
    case 'drop':
    case 'clear':
      return [];
  }
}
