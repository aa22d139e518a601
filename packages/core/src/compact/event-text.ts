import type { EventDetail } from '../events.ts';
import { redactSecrets, type Redact } from '../summary/redact.ts';

/** An event whose text may come from a provider's error, without the secrets that such a text may quote. */
export function withoutSecrets(detail: EventDetail, redact: Redact = redactSecrets): EventDetail {
  if (detail.kind === 'warning') return { ...detail, message: redact(detail.message) };
  if (detail.kind !== 'summary-report') return detail;
  const { report } = detail;
  if (!('reason' in report)) return detail;
  return { ...detail, report: { ...report, reason: redact(report.reason) } };
}
