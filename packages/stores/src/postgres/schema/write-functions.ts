/**
 * What changes the tables: `append`, `commit`, `add_events` and `erase`. Each takes the thread's row first: writers of one
 * thread wait there. Commits of several threads in one transaction do not wait, so that none waits in a circle.
 *
 * **Jumps.** A message has an ancestor to jump to, where it is not the parent. Its position is the message's own as a sum
 * of the fewest numbers of the form 2ⁿ − 1, without the least of them (Myers, "An applicative random-access stack",
 * 1983): any ancestor is a few steps away. A thread's row has the jumps of its head: the ancestor that the head jumps to,
 * the one that this jumps to, and so on to the first message. A message after the head jumps to the head, or to the
 * second of them, so that to go on with a thread nothing older is looked up.
 */
export const WRITE_FUNCTIONS = `
  CREATE FUNCTION bobbin.act_for(p_tenant text) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
  END $$;

  CREATE FUNCTION bobbin.jump_position(p_position int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
  DECLARE
    rest int := p_position;
    weight int := 1;
  BEGIN
    WHILE weight < p_position LOOP weight := 2 * weight + 1; END LOOP;
    WHILE rest > 0 LOOP
      WHILE weight > rest LOOP weight := weight >> 1; END LOOP;
      rest := rest - weight;
    END LOOP;
    RETURN greatest(0, p_position - weight);
  END $$;

  -- The id of a message's ancestor at a position, or its own.
  CREATE FUNCTION bobbin.ancestor(p_tenant text, p_thread text, p_id text, p_position int)
  RETURNS text LANGUAGE plpgsql STABLE AS $$
  DECLARE step record;
  BEGIN
    SELECT m.id, m.parent, m.position, m.jump INTO step FROM bobbin.messages m
    WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = p_id;
    WHILE step.position > p_position LOOP
      -- A damaged row may lead anywhere, but never round in a circle.
      SELECT m.id, m.parent, m.position, m.jump INTO step FROM bobbin.messages m
      WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.position < step.position AND m.id =
        CASE WHEN step.jump IS NOT NULL AND bobbin.jump_position(step.position) >= p_position
          THEN step.jump ELSE step.parent END;
    END LOOP;
    RETURN CASE WHEN step.position = p_position THEN step.id END;
  END $$;

  -- Where a message's jumps lead, down to the first message.
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

  -- Adds one message after the head: the usual case. p_up is the position that it jumps to. False where its parent is
  -- not the head; nothing is written then.
  CREATE FUNCTION bobbin.append_next(
    p_tenant text, p_thread text, p_id text, p_parent text, p_position int, p_turn int, p_opens int, p_message text,
    p_up int
  ) RETURNS bool LANGUAGE plpgsql AS $$
  DECLARE chain text[];
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    UPDATE bobbin.threads t SET head = p_id, length = p_position + 1, changed_at = now(),
      jumps = CASE WHEN p_up = p_position - 1 THEN array_prepend(t.head, t.jumps) ELSE t.jumps[2:] END
    WHERE t.tenant = p_tenant AND t.thread = p_thread AND t.head = p_parent
    RETURNING t.jumps INTO chain;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO bobbin.messages (tenant, thread, id, parent, position, turn, opens_turn, message, jump)
    VALUES (p_tenant, p_thread, p_id, p_parent, p_position, p_turn, p_opens = 1, p_message,
      CASE WHEN p_up < p_position - 1 THEN chain[1] END)
    ON CONFLICT DO NOTHING;
    RETURN true;
  END $$;

  -- Adds messages, of which p_needed are the parents that must be there. Nothing is written where one of those is
  -- missing, or where the head is neither the expected one nor the one that this append leads to (it came twice).
  CREATE FUNCTION bobbin.append(
    p_tenant text, p_thread text, p_needed text[], p_ids text[], p_parents text[], p_positions int[], p_turns int[],
    p_opens int[], p_messages text[], p_expects int, p_expected text, OUT missing text, OUT conflict bool, OUT current_head text
  ) LANGUAGE plpgsql AS $$
  DECLARE
    last int := array_upper(p_ids, 1);
    needed text;
    up int;
    before record;
    is_new bool;
    chain text[];
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    conflict := false;
    SELECT t.head, t.jumps INTO before FROM bobbin.threads t
    WHERE t.tenant = p_tenant AND t.thread = p_thread FOR UPDATE;
    is_new := NOT FOUND;
    IF p_expects = 1 AND before.head IS DISTINCT FROM p_expected AND before.head IS DISTINCT FROM p_ids[last] THEN
      conflict := true;
      current_head := before.head;
      RETURN;
    END IF;
    IF p_needed = p_parents[1:1] AND before.head = p_parents[1] THEN
      chain := before.jumps;
    ELSE
      FOREACH needed IN ARRAY p_needed LOOP
        IF NOT EXISTS (
          SELECT 1 FROM bobbin.messages m WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = needed
        ) THEN
          missing := needed;
          RETURN;
        END IF;
      END LOOP;
    END IF;
    IF is_new THEN
      INSERT INTO bobbin.threads (tenant, thread, head, length)
      VALUES (p_tenant, p_thread, p_ids[last], p_positions[last] + 1)
      ON CONFLICT (tenant, thread) DO UPDATE SET changed_at = now() RETURNING threads.head INTO current_head;
      -- Another writer may have made the thread since it was looked for.
      IF p_expects = 1 AND current_head IS DISTINCT FROM p_ids[last] THEN
        conflict := true;
        RETURN;
      END IF;
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
    UPDATE bobbin.threads t SET head = p_ids[last], length = p_positions[last] + 1, jumps = chain, changed_at = now()
    WHERE t.tenant = p_tenant AND t.thread = p_thread;
  END $$;

  -- Adds events that come without a plan, and gives the sequence number of the last one; NULL where there is no such
  -- thread or no event.
  CREATE FUNCTION bobbin.add_events(p_tenant text, p_thread text, p_events text[])
  RETURNS int LANGUAGE plpgsql AS $$
  DECLARE last int;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    IF cardinality(p_events) = 0 THEN RETURN NULL; END IF;
    UPDATE bobbin.threads SET events = events + cardinality(p_events), changed_at = now()
    WHERE tenant = p_tenant AND thread = p_thread RETURNING events INTO last;
    IF last IS NULL THEN RETURN NULL; END IF;
    FOR n IN 1 .. cardinality(p_events) LOOP
      INSERT INTO bobbin.events (tenant, thread, sequence, version, event)
      VALUES (p_tenant, p_thread, last - cardinality(p_events) + n, 0, p_events[n]);
    END LOOP;
    RETURN last;
  END $$;

  -- Makes messages searchable, each once, and gives how many of the thread are. Those that were erased since they were
  -- read stay out.
  CREATE FUNCTION bobbin.add_words(p_tenant text, p_thread text, p_ids text[], p_lengths int[], p_words text[])
  RETURNS int LANGUAGE plpgsql AS $$
  DECLARE
    fresh int;
    total bigint;
    searchable int;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    PERFORM 1 FROM bobbin.threads t WHERE t.tenant = p_tenant AND t.thread = p_thread FOR UPDATE;
    WITH added AS (
      INSERT INTO bobbin.recall (tenant, thread, id, length, words)
      SELECT p_tenant, p_thread, c.id, c.length, c.words::tsvector
      FROM unnest(p_ids, p_lengths, p_words) AS c (id, length, words)
      WHERE (SELECT 1 FROM bobbin.messages m
        WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = c.id LIMIT 1) = 1
      ON CONFLICT DO NOTHING RETURNING recall.length
    ) SELECT count(*), coalesce(sum(added.length), 0) INTO fresh, total FROM added;
    UPDATE bobbin.threads t SET compacted = t.compacted + fresh, words = t.words + total
    WHERE t.tenant = p_tenant AND t.thread = p_thread RETURNING t.compacted INTO searchable;
    RETURN searchable;
  END $$;

  -- Commits plans of several threads, each with its events and the words of what it compacts, if the thread's version is
  -- still the expected one; the arrays within are texts. won is NULL where this one does not wait, and another
  -- transaction has the thread, or not as many messages are searchable as it knows of.
  CREATE FUNCTION bobbin.commit_all(
    p_tenants text[], p_threads text[], p_expected int[], p_heads text[], p_reaches int[], p_carried text[],
    p_artifacts text[], p_plans text[], p_events text[], p_ids text[], p_lengths text[], p_words text[], p_known int[],
    p_waits int
  ) RETURNS TABLE (won bool, sequence int, searchable int) LANGUAGE plpgsql AS $$
  DECLARE
    own text;
    name text;
    expected int;
    added text[];
  BEGIN
    FOR i IN 1 .. cardinality(p_tenants) LOOP
      own := p_tenants[i];
      name := p_threads[i];
      expected := p_expected[i];
      added := p_events[i];
      PERFORM set_config('bobbin.tenant', own, true);
      IF p_waits = 0 THEN
        PERFORM 1 FROM bobbin.threads t
        WHERE t.tenant = own AND t.thread = name AND t.version = expected
          AND t.compacted = coalesce(p_known[i], t.compacted) FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
          PERFORM 1 FROM bobbin.threads t WHERE t.tenant = own AND t.thread = name AND t.version = expected;
          won := CASE WHEN NOT FOUND THEN false END;
          sequence := NULL;
          RETURN NEXT;
          CONTINUE;
        END IF;
      END IF;
      UPDATE bobbin.threads t
      SET version = expected + 1, events = t.events + cardinality(added), changed_at = now()
      WHERE t.tenant = own AND t.thread = name AND t.version = expected
      RETURNING t.events, t.compacted INTO sequence, searchable;
      won := FOUND;
      IF won THEN
        INSERT INTO bobbin.plans (tenant, thread, version, head, reach, carried, artifacts, plan)
        VALUES (own, name, expected + 1, p_heads[i], p_reaches[i], p_carried[i]::text[], p_artifacts[i]::text[],
          p_plans[i]);
        FOR n IN 1 .. cardinality(added) LOOP
          INSERT INTO bobbin.events (tenant, thread, sequence, version, event)
          VALUES (own, name, commit_all.sequence - cardinality(added) + n, expected + 1, added[n]);
        END LOOP;
        IF added = '{}' THEN sequence := NULL; END IF;
        IF p_ids[i] <> '{}' THEN
          searchable := bobbin.add_words(
            own, name, p_ids[i]::text[], p_lengths[i]::int[], p_words[i]::text[]);
        END IF;
      END IF;
      RETURN NEXT;
    END LOOP;
  END $$;

  -- Erases a thread, unless it was changed after a time. True where it was there.
  CREATE FUNCTION bobbin.erase(p_tenant text, p_thread text, p_unchanged_since timestamptz)
  RETURNS bool LANGUAGE plpgsql AS $$
  DECLARE name text;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    DELETE FROM bobbin.threads t WHERE t.tenant = p_tenant AND t.thread = p_thread
      AND (p_unchanged_since IS NULL OR t.changed_at <= p_unchanged_since);
    IF NOT FOUND THEN RETURN false; END IF;
    FOREACH name IN ARRAY ARRAY['messages', 'plans', 'events', 'recall', 'vectors'] LOOP
      EXECUTE format('DELETE FROM bobbin.%I WHERE tenant = $1 AND thread = $2', name) USING p_tenant, p_thread;
    END LOOP;
    RETURN true;
  END $$;
`;
