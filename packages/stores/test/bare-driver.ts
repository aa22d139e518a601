import type { Node } from '@bobbin/core/internal';
import postgres from 'postgres';

/** The rows that an append writes, the message's and its thread's, with the driver alone: what a store is compared with. */
export function bareDriver(
  url: string,
  connections: number,
): { insert(thread: string, node: Node): Promise<unknown>; end(): Promise<void> } {
  const sql = postgres(url, { max: connections, onnotice: () => undefined });
  return {
    insert: (thread, { id, parent, index, turn, message }) =>
      sql`WITH thread AS (
          INSERT INTO bobbin.threads (tenant, thread, head, length) VALUES ('bare', ${thread}, ${id}, ${index + 1})
          ON CONFLICT (tenant, thread) DO UPDATE SET head = excluded.head, length = excluded.length)
        INSERT INTO bobbin.messages
        VALUES ('bare', ${thread}, ${id}, ${parent}, ${index}, ${turn}, true, ${JSON.stringify(message)})`,
    end: () => sql.end(),
  };
}
