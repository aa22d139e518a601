/**
 * A thread's row learns where its head's jumps lead: the ancestor that the head jumps to, the one that this jumps to, and
 * so on to the first message, a few ids. A message behind the head jumps to the head, or to the second of them (Myers):
 * so to go on with a thread, nothing older has to be looked up, and that the parent is there is known from the head.
 *
 * Where a message stands behind another one than the head, or the thread is of an older schema, its jumps are found step
 * by step, and remembered from then on.
 */
export const JUMPS = `
  ALTER TABLE bobbin.threads ADD COLUMN jumps text[];

  CREATE FUNCTION bobbin.jumps_of(p_tenant text, p_thread text, p_id text, p_position int)
  RETURNS text[] LANGUAGE plpgsql STABLE AS $$
  DECLARE
    jumps text[] := '{}';
    id text := p_id;
    place int := p_position;
  BEGIN
    WHILE place > 0 LOOP
      place := bobbin.jump_position(place);
      id := bobbin.ancestor(p_tenant, p_thread, id, place);
      jumps := jumps || id;
    END LOOP;
    RETURN jumps;
  END $$;

  CREATE OR REPLACE FUNCTION bobbin.append(
    p_tenant text, p_thread text, p_needed text[], p_ids text[], p_parents text[], p_positions int[], p_turns int[],
    p_opens int[], p_messages text[]
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    last int := array_upper(p_ids, 1);
    needed text;
    up int;
    chain text[];
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    -- The thread's row first: whoever writes to a thread waits here, and never in a circle.
    IF last = 1 THEN
      up := bobbin.jump_position(p_positions[1]);
      UPDATE bobbin.threads t SET head = p_ids[1], length = p_positions[1] + 1,
        jumps = CASE WHEN up = p_positions[1] - 1 THEN array_prepend(t.head, t.jumps) ELSE t.jumps[2:] END
      WHERE t.tenant = p_tenant AND t.thread = p_thread AND t.head = p_parents[1] AND t.jumps IS NOT NULL
      RETURNING t.jumps INTO chain;
      IF FOUND THEN
        INSERT INTO bobbin.messages (tenant, thread, id, parent, position, turn, opens_turn, message, jump)
        VALUES (p_tenant, p_thread, p_ids[1], p_parents[1], p_positions[1], p_turns[1], p_opens[1] = 1, p_messages[1],
          CASE WHEN up < p_positions[1] - 1 THEN chain[1] END)
        ON CONFLICT DO NOTHING;
        RETURN NULL;
      END IF;
    ELSIF p_needed = p_parents[1:1] THEN
      SELECT t.jumps INTO chain FROM bobbin.threads t
      WHERE t.tenant = p_tenant AND t.thread = p_thread AND t.head = p_parents[1] FOR UPDATE;
    END IF;
    IF chain IS NULL THEN
      FOREACH needed IN ARRAY p_needed LOOP
        IF NOT EXISTS (
          SELECT 1 FROM bobbin.messages m WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = needed
        ) THEN RETURN needed; END IF;
      END LOOP;
      INSERT INTO bobbin.threads (tenant, thread, head, length)
      VALUES (p_tenant, p_thread, p_ids[last], p_positions[last] + 1)
      ON CONFLICT (tenant, thread) DO UPDATE SET head = excluded.head;
    END IF;
    FOR i IN 1 .. last LOOP
      up := bobbin.jump_position(p_positions[i]);
      -- Another fork within what is appended: its jumps are another message's.
      IF i > 1 AND p_parents[i] IS DISTINCT FROM p_ids[i - 1] THEN chain := NULL; END IF;
      IF p_positions[i] = 0 THEN chain := '{}';
      ELSIF up < p_positions[i] - 1 THEN chain := chain[2:];
      ELSIF chain IS NOT NULL THEN chain := array_prepend(p_parents[i], chain);
      END IF;
      INSERT INTO bobbin.messages (tenant, thread, id, parent, position, turn, opens_turn, message, jump)
      VALUES (p_tenant, p_thread, p_ids[i], p_parents[i], p_positions[i], p_turns[i], p_opens[i] = 1, p_messages[i],
        CASE WHEN up < p_positions[i] - 1
          THEN coalesce(chain[1], bobbin.ancestor(p_tenant, p_thread, p_parents[i], up)) END)
      ON CONFLICT DO NOTHING;
    END LOOP;
    IF chain IS NULL THEN chain := bobbin.jumps_of(p_tenant, p_thread, p_ids[last], p_positions[last]); END IF;
    UPDATE bobbin.threads t SET head = p_ids[last], length = p_positions[last] + 1, jumps = chain
    WHERE t.tenant = p_tenant AND t.thread = p_thread;
    RETURN NULL;
  END $$;
`;
