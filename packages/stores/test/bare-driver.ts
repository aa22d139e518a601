import type { Node } from '@bobbin/core';
import postgres from 'postgres';

/** The rows of a store written with the driver alone: what a benchmark of the store is compared with. */
export function bareDriver(
  url: string,
  connections: number,
): { insert(thread: string, node: Node): Promise<unknown>; end(): Promise<void> } {
  const sql = postgres(url, { max: connections, onnotice: () => undefined });
  return {
    insert: (thread, { id, parent, index, turn, message }) =>
      sql`INSERT INTO bobbin.messages
        VALUES ('bare', ${thread}, ${id}, ${parent}, ${index}, ${turn}, true, ${JSON.stringify(message)})`,
    end: () => sql.end(),
  };
}
