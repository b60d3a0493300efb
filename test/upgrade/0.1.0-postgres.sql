SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.keyhook_accounts (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    plan text NOT NULL,
    suspended_at bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT keyhook_accounts_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text])))
);
CREATE TABLE public.keyhook_attempts (
    delivery_id text NOT NULL COLLATE pg_catalog."C",
    number integer NOT NULL,
    cause text NOT NULL,
    started_at bigint NOT NULL,
    duration integer NOT NULL,
    status_code integer,
    error text,
    response text
);
CREATE TABLE public.keyhook_audit (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    actor_type text NOT NULL,
    actor_id text,
    action text NOT NULL,
    target_type text NOT NULL,
    target_id text NOT NULL,
    app_id text,
    request_id text NOT NULL,
    ip text
);
CREATE TABLE public.keyhook_deliveries (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    webhook_id text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    event_type text NOT NULL,
    app_id text,
    status text NOT NULL,
    attempts integer NOT NULL,
    automatic integer NOT NULL,
    cause text NOT NULL,
    retry smallint NOT NULL,
    next_at bigint,
    created_at bigint NOT NULL,
    done_at bigint,
    claim text
);
CREATE TABLE public.keyhook_event_types (
    account_id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    description text,
    schema text,
    sample text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.keyhook_events (
    "position" bigint NOT NULL,
    era integer DEFAULT 0 NOT NULL,
    xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
    account_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    app_id text,
    type text NOT NULL,
    created_at bigint NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE public.keyhook_events ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.keyhook_events_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.keyhook_idempotency (
    scope text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    status smallint,
    body text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.keyhook_key_secrets (
    hash text NOT NULL,
    key_id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    display text NOT NULL,
    created_at bigint NOT NULL,
    not_after bigint
);
CREATE TABLE public.keyhook_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    parent_id text COLLATE pg_catalog."C",
    depth smallint NOT NULL,
    name text NOT NULL,
    scopes text NOT NULL,
    pins text,
    expires_at bigint,
    revoked_at bigint,
    created_by_type text NOT NULL,
    created_by_id text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    last_used_at bigint,
    version integer NOT NULL,
    CONSTRAINT keyhook_keys_depth_check CHECK (((depth >= 0) AND (depth <= 8)))
);
CREATE TABLE public.keyhook_meta (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE public.keyhook_migrations (
    name text NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.keyhook_sessions (
    hash text NOT NULL,
    user_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    seen_at bigint DEFAULT 0 NOT NULL,
    authenticated_at bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.keyhook_setup_links (
    hash text NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.keyhook_users (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL,
    password text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.keyhook_webhook_secrets (
    id text NOT NULL COLLATE pg_catalog."C",
    webhook_id text NOT NULL COLLATE pg_catalog."C",
    sealed text NOT NULL,
    display text NOT NULL,
    created_at bigint NOT NULL,
    not_after bigint
);
CREATE TABLE public.keyhook_webhooks (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL,
    events text NOT NULL,
    description text,
    apps text,
    status text NOT NULL,
    disabled_reason text,
    disabled_at bigint,
    consecutive_failures integer NOT NULL,
    first_failure_at bigint,
    failing_at bigint,
    last_success_at bigint,
    last_delivery_at bigint,
    standard_headers smallint NOT NULL,
    created_by_type text NOT NULL,
    created_by_id text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    headers text,
    rate_limit integer,
    concurrency integer,
    CONSTRAINT keyhook_webhooks_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
);
INSERT INTO public.keyhook_accounts VALUES ('01a21f47-0b1e-7000-af16-4d17893f5056', 'owner@example.com', 'pro', NULL, 1795821079326, 1795821079326);
INSERT INTO public.keyhook_attempts VALUES ('01a21f47-10ff-7000-9ac5-8ab0e67c32c1', 1, 'event', 1795821080849, 190, 204, NULL, NULL);
INSERT INTO public.keyhook_attempts VALUES ('01a21f47-11ac-7000-a061-93658b4a64d2', 1, 'event', 1795821081009, 75, 503, 'http_status', NULL);
INSERT INTO public.keyhook_audit VALUES ('01a21f47-0e40-7000-bb82-f3a4f54c71c4', '01a21f47-0b1e-7000-af16-4d17893f5056', 1795821080034, 'operator', NULL, 'webhook.created', 'webhook', '01a21f47-0e1c-7000-b9c3-bccf086732df', NULL, 'req_1XENWPkbeGKZyIWO8', '127.0.0.1');
INSERT INTO public.keyhook_audit VALUES ('01a21f47-0ea0-7000-8172-f65e37b7ef2a', '01a21f47-0b1e-7000-af16-4d17893f5056', 1795821080161, 'operator', NULL, 'key.created', 'key', '01a21f47-0e89-7000-a211-67a4c2991623', NULL, 'req_0o3cumbV65fvkflpd', '127.0.0.1');
INSERT INTO public.keyhook_audit VALUES ('01a21f47-0f36-7000-a3da-4100ff08dc2e', '01a21f47-0b1e-7000-af16-4d17893f5056', 1795821080299, 'key', '01a21f47-0e89-7000-a211-67a4c2991623', 'key.created', 'key', '01a21f47-0f2d-7000-8b20-241a1bc624c6', NULL, 'req_0v5CmXxuUtPCWyV7f', '127.0.0.1');
INSERT INTO public.keyhook_audit VALUES ('01a21f47-0fbe-7000-a5a5-0c700e6a7ad2', '01a21f47-0b1e-7000-af16-4d17893f5056', 1795821080425, 'key', '01a21f47-0e89-7000-a211-67a4c2991623', 'key.created', 'key', '01a21f47-0faa-7000-a2c5-0e216ec24e6a', NULL, 'req_18UM70IRAhxAvaesr', '127.0.0.1');
INSERT INTO public.keyhook_audit VALUES ('01a21f47-109c-7000-aa4b-a29118a4969d', '01a21f47-0b1e-7000-af16-4d17893f5056', 1795821080596, 'key', '01a21f47-0e89-7000-a211-67a4c2991623', 'key.revoked', 'key', '01a21f47-0faa-7000-a2c5-0e216ec24e6a', NULL, 'req_1DCN23LC7M8pK2iTG', '127.0.0.1');
INSERT INTO public.keyhook_deliveries VALUES ('01a21f47-10ff-7000-9ac5-8ab0e67c32c1', '01a21f47-0b1e-7000-af16-4d17893f5056', '01a21f47-0e1c-7000-b9c3-bccf086732df', 'evt_01m8fme476eeewnmz4593tb9ct', 'order.paid', NULL, 'succeeded', 1, 1, 'event', 0, NULL, 1795821080831, 1795821081060, NULL);
INSERT INTO public.keyhook_deliveries VALUES ('01a21f47-11ac-7000-a061-93658b4a64d2', '01a21f47-0b1e-7000-af16-4d17893f5056', '01a21f47-0e1c-7000-b9c3-bccf086732df', 'evt_01m8fme4dbk0tzm2ge8131mj7z', 'order.paid', NULL, 'pending', 1, 1, 'retry', 1, 1795821731006, 1795821081004, NULL, NULL);
INSERT INTO public.keyhook_event_types VALUES ('', 'order.paid', NULL, NULL, NULL, 1795821078083, 1795821078083);
INSERT INTO public.keyhook_events OVERRIDING SYSTEM VALUE VALUES (1, 0, '737', '01a21f47-0b1e-7000-af16-4d17893f5056', 'evt_01m8fme476eeewnmz4593tb9ct', NULL, 'order.paid', 1795821080806, '\x7b226964223a226576745f30316d38666d65343736656565776e6d7a343539337462396374222c2274797065223a226f726465722e70616964222c22637265617465645f6174223a22323032362d31312d32375432333a31313a32302e3830365a222c2264617461223a7b226e756d626572223a317d7d');
INSERT INTO public.keyhook_events OVERRIDING SYSTEM VALUE VALUES (2, 0, '738', '01a21f47-0b1e-7000-af16-4d17893f5056', 'evt_01m8fme4dbk0tzm2ge8131mj7z', NULL, 'order.paid', 1795821081003, '\x7b226964223a226576745f30316d38666d653464626b30747a6d326765383133316d6a377a222c2274797065223a226f726465722e70616964222c22637265617465645f6174223a22323032362d31312d32375432333a31313a32312e3030335a222c2264617461223a7b226e756d626572223a322c226661696c73223a747275657d7d');
INSERT INTO public.keyhook_key_secrets VALUES ('dfbdac5e89f7007ce96cde95326952339bf497d7724f9198442c06e13ef9567e', '01a21f47-0e89-7000-a211-67a4c2991623', 1, 'service_dk_qureDZNe', 1795821080161, NULL);
INSERT INTO public.keyhook_key_secrets VALUES ('bd3917697063f256fb774119265fb17c1ddb82340bd7c929e03dc3c344e363b9', '01a21f47-0f2d-7000-8b20-241a1bc624c6', 1, 'service_dk_L7hlyxMk', 1795821080299, NULL);
INSERT INTO public.keyhook_key_secrets VALUES ('abfe163a4ac1a5e7a5d0455eea33473fb5272c73019d9fdfc888a18f614a989b', '01a21f47-0faa-7000-a2c5-0e216ec24e6a', 1, 'service_dk_TLUjpZRz', 1795821080425, NULL);
INSERT INTO public.keyhook_keys VALUES ('01a21f47-0f2d-7000-8b20-241a1bc624c6', '01a21f47-0b1e-7000-af16-4d17893f5056', '01a21f47-0e89-7000-a211-67a4c2991623', 1, 'child', 'events:*', NULL, NULL, NULL, 'key', '01a21f47-0e89-7000-a211-67a4c2991623', 1795821080299, 1795821080299, NULL, 1);
INSERT INTO public.keyhook_keys VALUES ('01a21f47-0faa-7000-a2c5-0e216ec24e6a', '01a21f47-0b1e-7000-af16-4d17893f5056', '01a21f47-0e89-7000-a211-67a4c2991623', 1, 'gone', 'events:*', NULL, NULL, 1795821080596, 'key', '01a21f47-0e89-7000-a211-67a4c2991623', 1795821080425, 1795821080596, NULL, 1);
INSERT INTO public.keyhook_keys VALUES ('01a21f47-0e89-7000-a211-67a4c2991623', '01a21f47-0b1e-7000-af16-4d17893f5056', NULL, 0, 'root', 'events:* keys:* webhooks:*', NULL, NULL, NULL, 'operator', NULL, 1795821080161, 1795821080161, 1795821081003, 1);
INSERT INTO public.keyhook_meta VALUES ('feed_era', '0');
INSERT INTO public.keyhook_meta VALUES ('feed_cluster', '7712992782447087421');
INSERT INTO public.keyhook_meta VALUES ('served_by', '9c65d80f-bf63-44f1-bbeb-e5f2801caeda');
INSERT INTO public.keyhook_meta VALUES ('brand', 'service');
INSERT INTO public.keyhook_meta VALUES ('master_key_check', 'v1.k1.TA1yGJpF1XaKKyMIeQ96X+s5bgsOvd/Kr3KoIxVFh6xERZM=');
INSERT INTO public.keyhook_meta VALUES ('first_user', 'guarded');
INSERT INTO public.keyhook_migrations VALUES ('accounts/0001-accounts-users-sessions', 1795821077823);
INSERT INTO public.keyhook_migrations VALUES ('accounts/0002-session-seen-authenticated', 1795821077832);
INSERT INTO public.keyhook_migrations VALUES ('keys/0001-keys-and-secrets', 1795821077844);
INSERT INTO public.keyhook_migrations VALUES ('webhooks/0001-webhooks-and-secrets', 1795821077852);
INSERT INTO public.keyhook_migrations VALUES ('webhooks/0002-headers-rate-concurrency', 1795821077855);
INSERT INTO public.keyhook_migrations VALUES ('events/0001-types-events-deliveries-attempts', 1795821077870);
INSERT INTO public.keyhook_migrations VALUES ('requests/0001-idempotency-and-audit', 1795821077877);
INSERT INTO public.keyhook_migrations VALUES ('requests/0002-audit-ip', 1795821077878);
INSERT INTO public.keyhook_users VALUES ('01a21f47-0b20-7000-8ce5-c3ada3978131', '01a21f47-0b1e-7000-af16-4d17893f5056', 'owner@example.com', '$scrypt$ln=17,r=8,p=1$plwECYTdbxVbVW2rsbWg8g$Ca6BXXnIIVWrjzFVx0JH8o83l/cEqy5zCrZmmx9STjA', 1795821079326, 1795821079326);
INSERT INTO public.keyhook_webhook_secrets VALUES ('01a21f47-0e1d-7000-af78-bb5462797ae1', '01a21f47-0e1c-7000-b9c3-bccf086732df', 'v1.k1.TKo5Zh7gnNVCHVmba01uFNY2Rg3TOqMDRfbe1FdgX5stgI2Rlf+aPoFvbrwTTVwV46EE2I/HhEvVbAFIw96go0v4rgDSzT2BRHRlL0b1', 'whsec_tMzu…', 1795821080034, NULL);
INSERT INTO public.keyhook_webhooks VALUES ('01a21f47-0e1c-7000-b9c3-bccf086732df', '01a21f47-0b1e-7000-af16-4d17893f5056', 'http://127.0.0.1:RECEIVER/hooks', '["order.paid"]', NULL, NULL, 'active', NULL, NULL, 1, 1795821081084, NULL, 1795821081039, 1795821081084, 0, 'operator', NULL, 1795821080034, 1795821080034, '{"names":["X-Own"],"sealed":"v1.k1.QxzHvyqIsd3lDMcYDHoGpuWkzE06/bsQFL856kwNrN4eucIK2ClRhS9198Qt4OAMnXb1ugjBkXqbVNADfw=="}', NULL, NULL);
SELECT pg_catalog.setval('public.keyhook_events_position_seq', 2, true);
ALTER TABLE ONLY public.keyhook_accounts
    ADD CONSTRAINT keyhook_accounts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keyhook_attempts
    ADD CONSTRAINT keyhook_attempts_pkey PRIMARY KEY (delivery_id, number);
ALTER TABLE ONLY public.keyhook_audit
    ADD CONSTRAINT keyhook_audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keyhook_deliveries
    ADD CONSTRAINT keyhook_deliveries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keyhook_event_types
    ADD CONSTRAINT keyhook_event_types_pkey PRIMARY KEY (account_id, type);
ALTER TABLE ONLY public.keyhook_events
    ADD CONSTRAINT keyhook_events_account_id_id_key UNIQUE (account_id, id);
ALTER TABLE ONLY public.keyhook_events
    ADD CONSTRAINT keyhook_events_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY public.keyhook_idempotency
    ADD CONSTRAINT keyhook_idempotency_pkey PRIMARY KEY (scope, key);
ALTER TABLE ONLY public.keyhook_key_secrets
    ADD CONSTRAINT keyhook_key_secrets_key_id_version_key UNIQUE (key_id, version);
ALTER TABLE ONLY public.keyhook_key_secrets
    ADD CONSTRAINT keyhook_key_secrets_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.keyhook_keys
    ADD CONSTRAINT keyhook_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keyhook_meta
    ADD CONSTRAINT keyhook_meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.keyhook_migrations
    ADD CONSTRAINT keyhook_migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.keyhook_sessions
    ADD CONSTRAINT keyhook_sessions_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.keyhook_setup_links
    ADD CONSTRAINT keyhook_setup_links_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY public.keyhook_users
    ADD CONSTRAINT keyhook_users_email_key UNIQUE (email);
ALTER TABLE ONLY public.keyhook_users
    ADD CONSTRAINT keyhook_users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keyhook_webhook_secrets
    ADD CONSTRAINT keyhook_webhook_secrets_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.keyhook_webhooks
    ADD CONSTRAINT keyhook_webhooks_pkey PRIMARY KEY (id);
CREATE INDEX keyhook_audit_by_account ON public.keyhook_audit USING btree (account_id, id);
CREATE INDEX keyhook_deliveries_by_webhook ON public.keyhook_deliveries USING btree (webhook_id, id);
CREATE INDEX keyhook_deliveries_due ON public.keyhook_deliveries USING btree (webhook_id, retry, next_at, id) WHERE (done_at IS NULL);
CREATE INDEX keyhook_events_by_account ON public.keyhook_events USING btree (account_id, era, xact, "position");
CREATE INDEX keyhook_idempotency_by_expiry ON public.keyhook_idempotency USING btree (expires_at);
CREATE INDEX keyhook_keys_by_account ON public.keyhook_keys USING btree (account_id, id);
CREATE INDEX keyhook_keys_by_parent ON public.keyhook_keys USING btree (parent_id);
CREATE INDEX keyhook_sessions_by_user ON public.keyhook_sessions USING btree (user_id);
CREATE INDEX keyhook_webhook_secrets_by_webhook ON public.keyhook_webhook_secrets USING btree (webhook_id);
CREATE INDEX keyhook_webhooks_by_account ON public.keyhook_webhooks USING btree (account_id, id);
ALTER TABLE ONLY public.keyhook_key_secrets
    ADD CONSTRAINT keyhook_key_secrets_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.keyhook_keys(id);
ALTER TABLE ONLY public.keyhook_keys
    ADD CONSTRAINT keyhook_keys_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES public.keyhook_keys(id) ON DELETE RESTRICT;
ALTER TABLE ONLY public.keyhook_sessions
    ADD CONSTRAINT keyhook_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.keyhook_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.keyhook_users
    ADD CONSTRAINT keyhook_users_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.keyhook_accounts(id);
ALTER TABLE ONLY public.keyhook_webhook_secrets
    ADD CONSTRAINT keyhook_webhook_secrets_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.keyhook_webhooks(id) ON DELETE CASCADE;
