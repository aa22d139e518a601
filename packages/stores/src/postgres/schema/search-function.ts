/**
 * Finds compacted messages by words, of one thread or of all threads of a tenant, best first. They are ranked as the
 * other stores do it (BM25), but a word counts once in a message. Each query word is a bit: one look at a message says
 * which words it has, and all of these together how rare each word is.
 *
 * `p_queries` has each word as the text of a tsquery. A search reads the rows of what it searches: row-level security
 * keeps every role from an index of words that tenants share.
 */
export const SEARCH_FUNCTION = `
  CREATE FUNCTION bobbin.search(p_tenant text, p_thread text, p_queries text[], p_most int, p_head text)
  RETURNS TABLE (thread text, id text, parent text, "position" int, turn int, message text, score real)
  LANGUAGE plpgsql STABLE AS $$
  DECLARE
    texts float8;
    total float8;
    bits text;
    counts text;
    sums text;
    candidate record;
    place bobbin.messages;
    many int := 0;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    IF p_thread IS NULL THEN
      SELECT sum(t.compacted), sum(t.words) INTO texts, total FROM bobbin.threads t WHERE t.tenant = p_tenant;
    ELSE
      SELECT t.compacted, t.words INTO texts, total FROM bobbin.threads t
      WHERE t.tenant = p_tenant AND t.thread = p_thread;
    END IF;
    SELECT string_agg(format('CASE WHEN r.words @@ %L::tsquery THEN %s ELSE 0 END', q.word, 1::bigint << q.bit), ' + '),
      string_agg(format('sum((hit.bits >> %s) & 1)', q.bit), ', '),
      string_agg(format('((hit.bits >> %s) & 1) * rare.weights[%s]', q.bit, q.bit + 1), ' + ')
    INTO bits, counts, sums
    FROM (SELECT word, n::int - 1 AS bit FROM unnest(p_queries) WITH ORDINALITY AS given (word, n)) q;
    FOR candidate IN EXECUTE format('
      WITH hit AS MATERIALIZED (
        SELECT r.thread, r.id, r.length, (%s)::bigint AS bits FROM bobbin.recall r
        WHERE r.tenant = $1 %s AND r.words @@ $3
      ), rare AS MATERIALIZED (
        SELECT ARRAY(SELECT ln(1 + ($4 - held.texts + 0.5) / (held.texts + 0.5))
          FROM unnest(ARRAY[%s]::float8[]) WITH ORDINALITY AS held (texts, n) ORDER BY held.n) AS weights FROM hit
      )
      SELECT hit.thread, hit.id,
        ((%s) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * hit.length / $5)))::real AS score
      FROM hit, rare ORDER BY score DESC, hit.id LIMIT $6',
      bits, CASE WHEN p_thread IS NOT NULL THEN 'AND r.thread = $2' END, counts, sums)
    USING p_tenant, p_thread, array_to_string(p_queries, ' | ')::tsquery, texts, greatest(1, total / greatest(1, texts)),
      CASE WHEN p_head IS NULL THEN p_most END
    LOOP
      EXIT WHEN many = p_most;
      SELECT m.* INTO place FROM bobbin.messages m
      WHERE m.tenant = p_tenant AND m.thread = candidate.thread AND m.id = candidate.id;
      CONTINUE WHEN place.id IS NULL OR (p_head IS NOT NULL
        AND bobbin.ancestor(p_tenant, p_thread, p_head, place.position) IS DISTINCT FROM place.id);
      many := many + 1;
      RETURN QUERY SELECT place.thread::text, place.id::text, place.parent::text, place.position, place.turn,
        place.message, candidate.score;
    END LOOP;
  END $$;
`;
