import { after } from 'node:test';
import { startPostgres, type PostgresServer } from './postgres-server.ts';

let started: Promise<PostgresServer> | undefined;
let databases = 0;
after(async () => (await started)?.stop());

/** The address of a new database. The test files of a process share its server, which takes longer to start. */
export async function newDatabase(): Promise<string> {
  started ??= startPostgres();
  const server = await started;
  const name = `own_${++databases}`;
  const sql = server.sql();
  await sql.unsafe(`CREATE DATABASE ${name}`);
  await sql.end();
  return server.url(name);
}
