/**
 * What reads the tables. Every function is STABLE: all its queries see one moment, so that a plan is never read with an
 * older head.
 *
 * A message is looked up by its whole key, in a separate query or under LIMIT: in a join the server, which has no
 * statistics of a thread that grows, may look through the whole thread for each row.
 */
export const READ_FUNCTIONS = `
  -- The path to a head, from a position on, the head first.
  CREATE FUNCTION bobbin.path(p_tenant text, p_thread text, p_head text, p_from int)
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

  -- Some messages, in the order of their ids.
  CREATE FUNCTION bobbin.messages_of(p_tenant text, p_thread text, p_ids text[])
  RETURNS SETOF bobbin.messages LANGUAGE plpgsql STABLE AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    RETURN QUERY SELECT m.* FROM unnest(p_ids) WITH ORDINALITY AS given (id, n) CROSS JOIN LATERAL (
      SELECT each.* FROM bobbin.messages each
      WHERE each.tenant = p_tenant AND each.thread = p_thread AND each.id = given.id LIMIT 1
    ) m ORDER BY given.n;
  END $$;

  -- What a prompt needs: the thread and the plan with their versions as positions, what the plan carries, and the path
  -- from the plan's start on.
  CREATE FUNCTION bobbin.window_of(p_tenant text, p_thread text, p_head text)
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

  -- Those of some messages of several threads whose words are not searchable yet, with the numbers of their threads among
  -- those that are given. The planner takes its time for an array anew in each call, unless it is kept from that.
  CREATE FUNCTION bobbin.not_indexed(p_tenants text[], p_threads text[], p_ids text[])
  RETURNS TABLE (item int, id text, parent text, "position" int, turn int, message text)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
  BEGIN
    FOR i IN 1 .. cardinality(p_tenants) LOOP
      PERFORM set_config('bobbin.tenant', p_tenants[i], true);
      RETURN QUERY SELECT i, m.id::text, m.parent::text, m.position, m.turn, m.message
      FROM unnest(p_ids[i]::text[]) AS given (id) CROSS JOIN LATERAL (
        SELECT each.* FROM bobbin.messages each
        WHERE each.tenant = p_tenants[i] AND each.thread = p_threads[i] AND each.id = given.id LIMIT 1
      ) m
      WHERE (SELECT r.id FROM bobbin.recall r
        WHERE r.tenant = p_tenants[i] AND r.thread = p_threads[i] AND r.id = given.id LIMIT 1) IS NULL;
    END LOOP;
  END $$;

  -- Compacted messages that have no vector of an embedder yet.
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

  -- The first of some messages that are on the path to a head.
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
`;
