import type { ReservedSql } from 'postgres';

/** Resolves as soon as something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Resolves as soon as a statement waits for a lock. */
export async function blocked(sql: ReservedSql): Promise<void> {
  for (;;) {
    const rows =
      await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
