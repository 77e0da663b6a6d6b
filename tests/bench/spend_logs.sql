-- psql -v rows=N -v until='2026-11-29 12:00:00': the gateway's table with N rows over the 30 days before,
-- deterministic, in time order; 2.5 % failures, one request in 500 five minutes long.
drop table if exists "LiteLLM_SpendLogs";
create table "LiteLLM_SpendLogs" (
  request_id text not null, call_type text not null, api_key text not null default '',
  spend double precision not null default 0, total_tokens integer not null default 0,
  prompt_tokens integer not null default 0, completion_tokens integer not null default 0,
  "startTime" timestamp(3) not null, "endTime" timestamp(3) not null, "completionStartTime" timestamp(3),
  model text not null default '', model_id text default '', model_group text default '',
  custom_llm_provider text default '', metadata jsonb default '{}', cache_hit text default '',
  team_id text, end_user text, session_id text, status text);
insert into "LiteLLM_SpendLogs"
select 'chatcmpl-' || md5(i::text), 'acompletion', md5((h % 40)::text), tok * 2.5e-6, tok + ct, tok, ct, st, st + dur,
  st + dur * 0.3, prov || '/model-' || m, md5(m::text), 'model-' || m, prov,
  jsonb_build_object('user_api_key', md5((h % 40)::text), 'user_api_key_alias', 'team-' || h % 40,
    'user_api_key_team_id', 'team-' || h % 17, 'requester_ip_address', '10.0.0.' || h % 250,
    'applied_guardrails', '[]'::jsonb, 'status', case when fail then 'failure' else 'success' end,
    'attempted_retries', 0, 'attempted_fallbacks', 0, 'original_model_group', 'model-' || m,
    'usage_object', case when fail then null else jsonb_build_object('prompt_tokens', tok,
      'completion_tokens', ct, 'total_tokens', tok + ct,
      'prompt_tokens_details', jsonb_build_object('cached_tokens', tok / 3, 'audio_tokens', null),
      'completion_tokens_details', jsonb_build_object('reasoning_tokens',
        case when m % 3 = 0 then ct / 2 else 0 end, 'audio_tokens', null)) end,
    'model_map_information', jsonb_build_object('model_map_key', 'model-' || m, 'model_map_value', null),
    'error_information', case when fail then jsonb_build_object('error_code', '500', 'error_class',
      'InternalServerError', 'llm_provider', prov, 'error_message', repeat('upstream said no ', 8),
      'traceback', repeat('File "/app/litellm/router.py", line 1, in f ', 6)) else null end),
  'None', 'team-' || h % 17, null, md5((i / 4)::text), case when fail then 'failure' else 'success' end
from (select i, h, (h % 50)::int as m, (array['openai','anthropic','bedrock','azure'])[1 + h % 4] as prov,
        (200 + h % 6000)::int as tok, (20 + (h / 7) % 1500)::int as ct, (h / 11) % 1000 < 25 as fail,
        :'until'::timestamp - interval '30 days' + i * (interval '30 days' / :rows) as st,
        ((h / 13) % 30000 + case when h % 500 = 0 then 300000 else 400 end) * interval '1 millisecond' as dur
      from (select i, abs(hashint8(i::bigint))::bigint as h from generate_series(1, :rows) i) a) b;
alter table "LiteLLM_SpendLogs" add primary key (request_id);
create index "LiteLLM_SpendLogs_startTime_idx" on "LiteLLM_SpendLogs" ("startTime");
create index "LiteLLM_SpendLogs_end_user_idx" on "LiteLLM_SpendLogs" (end_user);
create index "LiteLLM_SpendLogs_session_id_idx" on "LiteLLM_SpendLogs" (session_id);
vacuum analyze "LiteLLM_SpendLogs";
create role reader login;
grant select on "LiteLLM_SpendLogs" to reader;
