/** 150312 as `150,312`; whole numbers only. */
export function grouped(number: number): string {
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** -150312 as `−150,312`, 96 as `+96`. */
export function signed(number: number): string {
  return `${number < 0 ? '−' : '+'}${grouped(Math.abs(number))}`;
}

/** A text whose numbers are grouped. */
export function groupedIn(text: string): string {
  return text.replaceAll(/\b\d{4,}\b/g, (digits) => grouped(Number(digits)));
}

/** 150312 as `150.3k`. */
export function short(number: number): string {
  if (Math.abs(number) < 1_000) return String(number);
  return Math.abs(number) < 999_950
    ? `${(number / 1_000).toFixed(1)}k`
    : `${(number / 1_000_000).toFixed(2)}M`;
}

/** `1 message`, `2 messages`. */
export function counted(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
}

export function duration(millis: number): string {
  return millis < 1_000 ? `${Math.round(millis)} ms` : `${(millis / 1_000).toFixed(1)} s`;
}
