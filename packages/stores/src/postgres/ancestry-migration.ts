/**
 * Messages learn an ancestor to jump to, where it is not the parent (those that are there already are walked through
 * their parents). Its position is the message's own as a sum of the fewest numbers of the form 2ⁿ − 1, without the least
 * of them (Myers, "An applicative random-access stack", 1983): any ancestor is a few steps away. So a window finds the
 * newest plan on the path to a head, and recall tells whether a message stands on it, without walking the path.
 *
 * A message is looked up by its whole key, in a query of its own or behind LIMIT: in a join the server, which has no
 * statistics of a thread that grows, may look through the whole thread for each row.
 *
 * Functions that read are STABLE: all their queries see one moment, so that a plan is never read with an older head. The
 * index of all words of all tenants goes: row-level security kept every role from using it, and each commit paid for it.
 */
export const ANCESTRY = `
  ALTER TABLE bobbin.messages ADD COLUMN jump text COLLATE "C";
  DROP INDEX bobbin.recall_words;

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

  CREATE FUNCTION bobbin.ancestor(p_tenant text, p_thread text, p_id text, p_position int)
  RETURNS text LANGUAGE plpgsql STABLE AS $$
  DECLARE step record;
  BEGIN
    SELECT m.id, m.parent, m.position, m.jump INTO step FROM bobbin.messages m
    WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = p_id;
    WHILE step.position > p_position LOOP
      SELECT m.id, m.parent, m.position, m.jump INTO step FROM bobbin.messages m
      WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.position < step.position AND m.id =
        CASE WHEN step.jump IS NOT NULL AND bobbin.jump_position(step.position) >= p_position
          THEN step.jump ELSE step.parent END;
    END LOOP;
    RETURN CASE WHEN step.position = p_position THEN step.id END;
  END $$;

  CREATE OR REPLACE FUNCTION bobbin.append(
    p_tenant text, p_thread text, p_needed text[], p_ids text[], p_parents text[], p_positions int[], p_turns int[],
    p_opens int[], p_messages text[]
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    last int := array_upper(p_ids, 1);
    needed text;
    up int;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    FOREACH needed IN ARRAY p_needed LOOP
      IF NOT EXISTS (
        SELECT 1 FROM bobbin.messages m WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = needed
      ) THEN RETURN needed; END IF;
    END LOOP;
    -- The thread's row first: whoever writes to a thread waits here, and never in a circle.
    INSERT INTO bobbin.threads (tenant, thread, head, length)
    VALUES (p_tenant, p_thread, p_ids[last], p_positions[last] + 1)
    ON CONFLICT (tenant, thread) DO UPDATE SET head = excluded.head, length = excluded.length;
    FOR i IN 1 .. last LOOP
      up := bobbin.jump_position(p_positions[i]);
      INSERT INTO bobbin.messages (tenant, thread, id, parent, position, turn, opens_turn, message, jump)
      VALUES (p_tenant, p_thread, p_ids[i], p_parents[i], p_positions[i], p_turns[i], p_opens[i] = 1, p_messages[i],
        CASE WHEN up < p_positions[i] - 1 THEN bobbin.ancestor(p_tenant, p_thread, p_parents[i], up) END)
      ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN NULL;
  END $$;

  CREATE OR REPLACE FUNCTION bobbin.path(p_tenant text, p_thread text, p_head text, p_from int)
  RETURNS SETOF bobbin.messages LANGUAGE plpgsql STABLE AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    RETURN QUERY
    WITH RECURSIVE steps AS (
      SELECT m.* FROM bobbin.messages m
      WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = p_head AND m.position >= p_from
      UNION ALL
      SELECT m.* FROM steps s CROSS JOIN LATERAL (
        SELECT each.* FROM bobbin.messages each
        WHERE each.tenant = p_tenant AND each.thread = p_thread AND each.id = s.parent LIMIT 1
      ) m WHERE s.position > p_from
    )
    SELECT * FROM steps;
  END $$;

  CREATE OR REPLACE FUNCTION bobbin.not_indexed(p_tenant text, p_thread text, p_ids text[])
  RETURNS SETOF bobbin.messages LANGUAGE plpgsql STABLE AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    RETURN QUERY SELECT m.* FROM (SELECT DISTINCT unnest(p_ids) AS id) given CROSS JOIN LATERAL (
      SELECT each.* FROM bobbin.messages each
      WHERE each.tenant = p_tenant AND each.thread = p_thread AND each.id = given.id LIMIT 1
    ) m
    WHERE (SELECT r.id FROM bobbin.recall r
      WHERE r.tenant = p_tenant AND r.thread = p_thread AND r.id = given.id LIMIT 1) IS NULL;
  END $$;

  CREATE FUNCTION bobbin.not_embedded(p_tenant text, p_thread text, p_embedder text, p_most int)
  RETURNS SETOF bobbin.messages LANGUAGE plpgsql STABLE AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    RETURN QUERY SELECT m.* FROM bobbin.recall r CROSS JOIN LATERAL (
      SELECT each.* FROM bobbin.messages each
      WHERE each.tenant = p_tenant AND each.thread = p_thread AND each.id = r.id LIMIT 1
    ) m
    WHERE r.tenant = p_tenant AND r.thread = p_thread AND (SELECT v.id FROM bobbin.vectors v
      WHERE v.tenant = p_tenant AND v.thread = p_thread AND v.embedder = p_embedder AND v.id = r.id LIMIT 1) IS NULL
    ORDER BY m.position LIMIT p_most;
  END $$;

  CREATE OR REPLACE FUNCTION bobbin.window_of(p_tenant text, p_thread text, p_head text)
  RETURNS TABLE (kind text, id text, parent text, "position" int, turn int, message text)
  LANGUAGE plpgsql STABLE AS $$
  DECLARE
    thread record;
    wanted text;
    place int;
    plan record;
    older record;
    step text;
    best int := 0;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    SELECT t.head, t.version INTO thread FROM bobbin.threads t WHERE t.tenant = p_tenant AND t.thread = p_thread;
    wanted := coalesce(p_head, thread.head);
    SELECT m.position INTO place FROM bobbin.messages m
    WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = wanted;
    IF place IS NULL THEN RETURN; END IF;
    RETURN QUERY SELECT 'thread', ''::text, NULL::text, thread.version, 0, ''::text;

    SELECT p.version, p.head, p.reach, p.carried, p.plan, (SELECT m.position FROM bobbin.messages m
      WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = p.head LIMIT 1) AS made_at
    INTO plan FROM bobbin.plans p
    WHERE p.tenant = p_tenant AND p.thread = p_thread AND p.version = thread.version;
    IF plan.head IS NOT NULL
      AND bobbin.ancestor(p_tenant, p_thread, wanted, plan.made_at) IS DISTINCT FROM plan.head THEN
      -- Every older plan is looked for on the path, from its end to its beginning: one walk for all of them.
      step := wanted;
      FOR older IN
        SELECT made.version, made.head, (SELECT m.position FROM bobbin.messages m
          WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = made.head LIMIT 1) AS made_at
        FROM (SELECT max(p.version) AS version, p.head FROM bobbin.plans p
          WHERE p.tenant = p_tenant AND p.thread = p_thread AND p.version < thread.version GROUP BY p.head) made
        ORDER BY made_at DESC NULLS LAST
      LOOP
        CONTINUE WHEN older.made_at > place;
        IF older.head IS NOT NULL THEN step := bobbin.ancestor(p_tenant, p_thread, step, older.made_at); END IF;
        IF older.head IS NULL OR step = older.head THEN best := greatest(best, older.version); END IF;
      END LOOP;
      SELECT p.version, p.head, p.reach, p.carried, p.plan, 0 AS made_at INTO plan FROM bobbin.plans p
      WHERE p.tenant = p_tenant AND p.thread = p_thread AND p.version = best;
    END IF;

    IF plan.version IS NOT NULL THEN
      RETURN QUERY SELECT 'plan', ''::text, NULL::text, plan.version, 0, plan.plan;
      RETURN QUERY SELECT 'carried', m.id::text, m.parent::text, m.position, m.turn, m.message FROM bobbin.messages m
        WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = ANY (plan.carried);
    END IF;
    RETURN QUERY SELECT 'path', m.id::text, m.parent::text, m.position, m.turn, m.message
      FROM bobbin.path(p_tenant, p_thread, wanted, coalesce(plan.reach, 0)) m;
  END $$;

  DROP FUNCTION bobbin.search(text, text, text, int);
  CREATE FUNCTION bobbin.search(p_tenant text, p_thread text, p_query text, p_most int, p_head text)
  RETURNS TABLE (id text, parent text, "position" int, turn int, message text, score real)
  LANGUAGE plpgsql STABLE AS $$
  DECLARE
    candidate record;
    found bobbin.messages;
    many int := 0;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    FOR candidate IN
      SELECT r.id, ts_rank(r.words, p_query::tsquery, 1) AS score FROM bobbin.recall r
      WHERE r.tenant = p_tenant AND r.thread = p_thread AND r.words @@ p_query::tsquery ORDER BY score DESC, r.id
    LOOP
      EXIT WHEN many = p_most;
      SELECT m.* INTO found FROM bobbin.messages m
      WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = candidate.id;
      CONTINUE WHEN found.id IS NULL OR (p_head IS NOT NULL
        AND bobbin.ancestor(p_tenant, p_thread, p_head, found.position) IS DISTINCT FROM found.id);
      many := many + 1;
      RETURN QUERY SELECT found.id::text, found.parent::text, found.position, found.turn, found.message, candidate.score;
    END LOOP;
  END $$;

  CREATE FUNCTION bobbin.first_on_path(p_tenant text, p_thread text, p_ids text[], p_most int, p_head text)
  RETURNS SETOF bobbin.messages LANGUAGE plpgsql STABLE AS $$
  DECLARE
    found bobbin.messages;
    many int := 0;
    candidate text;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    FOREACH candidate IN ARRAY p_ids LOOP
      EXIT WHEN many = p_most;
      SELECT m.* INTO found FROM bobbin.messages m
      WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = candidate;
      CONTINUE WHEN found.id IS NULL OR (p_head IS NOT NULL
        AND bobbin.ancestor(p_tenant, p_thread, p_head, found.position) IS DISTINCT FROM found.id);
      many := many + 1;
      RETURN NEXT found;
    END LOOP;
  END $$;

  CREATE OR REPLACE FUNCTION bobbin.add_events(p_tenant text, p_thread text, p_version int, p_events text[])
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE last int;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    UPDATE bobbin.threads SET events = events + cardinality(p_events)
    WHERE tenant = p_tenant AND thread = p_thread RETURNING events INTO last;
    IF last IS NULL OR cardinality(p_events) = 0 THEN RETURN; END IF;
    INSERT INTO bobbin.events (tenant, thread, sequence, version, event)
    SELECT p_tenant, p_thread, last - cardinality(p_events) + e.n, p_version, e.event
    FROM unnest(p_events) WITH ORDINALITY AS e (event, n);
    -- One channel a tenant. A thread's name may be too long for a message: then none is named.
    PERFORM pg_notify('bobbin_' || md5(p_tenant), json_build_object(
      'thread', CASE WHEN length(p_thread) <= 1000 THEN p_thread END, 'sequence', last)::text);
  END $$;
`;
