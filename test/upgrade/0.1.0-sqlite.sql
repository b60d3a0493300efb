CREATE TABLE keyhook_accounts (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        plan TEXT NOT NULL CHECK (plan IN ('free', 'pro')),
        suspended_at BIGINT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      );
INSERT INTO "keyhook_accounts" VALUES('01a21f46-a92d-7000-9b0a-f700b3bd6497','owner@example.com','pro',NULL,1795821054253,1795821054253);
CREATE TABLE keyhook_attempts (
        delivery_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        cause TEXT NOT NULL,
        started_at BIGINT NOT NULL,
        duration INTEGER NOT NULL,
        status_code INTEGER,
        error TEXT,
        response TEXT,
        PRIMARY KEY (delivery_id, number)
      ) WITHOUT ROWID;
INSERT INTO "keyhook_attempts" VALUES('01a21f46-adb2-7000-803f-60d905820f57',1,'event',1795821055436,96,204,NULL,NULL);
INSERT INTO "keyhook_attempts" VALUES('01a21f46-adff-7000-a6ff-de9ca821f20d',1,'event',1795821055547,18,503,'http_status',NULL);
CREATE TABLE keyhook_audit (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL,
        at BIGINT NOT NULL,
        actor_type TEXT NOT NULL,
        actor_id TEXT,
        action TEXT NOT NULL,
        target_type TEXT NOT NULL,
        target_id TEXT NOT NULL,
        app_id TEXT,
        request_id TEXT NOT NULL
      , ip TEXT);
INSERT INTO "keyhook_audit" VALUES('01a21f46-ac8b-7000-8551-7107151f5d05','01a21f46-a92d-7000-9b0a-f700b3bd6497',1795821055060,'operator',NULL,'webhook.created','webhook','01a21f46-ac81-7000-97a1-640ef8746c47',NULL,'req_15dsAp4LKIa6gFHLM','127.0.0.1');
INSERT INTO "keyhook_audit" VALUES('01a21f46-acce-7000-9c61-327e12269b08','01a21f46-a92d-7000-9b0a-f700b3bd6497',1795821055160,'operator',NULL,'key.created','key','01a21f46-acc6-7000-8e4e-0935fb76f82d',NULL,'req_0JdW75Y2vB3LK9Z9O','127.0.0.1');
INSERT INTO "keyhook_audit" VALUES('01a21f46-ad0d-7000-a569-3e8118f376cd','01a21f46-a92d-7000-9b0a-f700b3bd6497',1795821055220,'key','01a21f46-acc6-7000-8e4e-0935fb76f82d','key.created','key','01a21f46-ad07-7000-a2d1-d383b06008b8',NULL,'req_066zqDxm9kxdSfTx1','127.0.0.1');
INSERT INTO "keyhook_audit" VALUES('01a21f46-ad4e-7000-b845-2cfdc72a003a','01a21f46-a92d-7000-9b0a-f700b3bd6497',1795821055261,'key','01a21f46-acc6-7000-8e4e-0935fb76f82d','key.created','key','01a21f46-ad34-7000-96f9-33917dcb47be',NULL,'req_1755KuJZUDWTKCa05','127.0.0.1');
INSERT INTO "keyhook_audit" VALUES('01a21f46-ad85-7000-a88f-5c0edee1fc22','01a21f46-a92d-7000-9b0a-f700b3bd6497',1795821055337,'key','01a21f46-acc6-7000-8e4e-0935fb76f82d','key.revoked','key','01a21f46-ad34-7000-96f9-33917dcb47be',NULL,'req_1II4zzkV198mO9ypR','127.0.0.1');
CREATE TABLE keyhook_deliveries (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL,
        webhook_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        event_type TEXT NOT NULL,
        app_id TEXT,
        status TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        automatic INTEGER NOT NULL,
        cause TEXT NOT NULL,
        retry SMALLINT NOT NULL,
        next_at BIGINT,
        created_at BIGINT NOT NULL,
        done_at BIGINT,
        claim TEXT
      ) WITHOUT ROWID;
INSERT INTO "keyhook_deliveries" VALUES('01a21f46-adb2-7000-803f-60d905820f57','01a21f46-a92d-7000-9b0a-f700b3bd6497','01a21f46-ac81-7000-97a1-640ef8746c47','evt_01m8fmdbcvqf2wbcqrrhbq9zz9','order.paid',NULL,'succeeded',1,1,'event',0,NULL,1795821055410,1795821055533,NULL);
INSERT INTO "keyhook_deliveries" VALUES('01a21f46-adff-7000-a6ff-de9ca821f20d','01a21f46-a92d-7000-9b0a-f700b3bd6497','01a21f46-ac81-7000-97a1-640ef8746c47','evt_01m8fmdbfzajt37758vqbbxq4v','order.paid',NULL,'pending',1,1,'retry',1,1795821705021,1795821055487,NULL,NULL);
CREATE TABLE keyhook_event_types (
        account_id TEXT NOT NULL,
        type TEXT NOT NULL,
        description TEXT,
        schema TEXT,
        sample TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        PRIMARY KEY (account_id, type)
      );
INSERT INTO "keyhook_event_types" VALUES('','order.paid',NULL,NULL,NULL,1795821052954,1795821052954);
CREATE TABLE keyhook_events (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        
        account_id TEXT NOT NULL,
        id TEXT NOT NULL,
        app_id TEXT,
        type TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (account_id, id)
      );
INSERT INTO "keyhook_events" VALUES(1,'01a21f46-a92d-7000-9b0a-f700b3bd6497','evt_01m8fmdbcvqf2wbcqrrhbq9zz9',NULL,'order.paid',1795821055387,X'7B226964223A226576745F30316D38666D64626376716632776263717272686271397A7A39222C2274797065223A226F726465722E70616964222C22637265617465645F6174223A22323032362D31312D32375432333A31303A35352E3338375A222C2264617461223A7B226E756D626572223A317D7D');
INSERT INTO "keyhook_events" VALUES(2,'01a21f46-a92d-7000-9b0a-f700b3bd6497','evt_01m8fmdbfzajt37758vqbbxq4v',NULL,'order.paid',1795821055487,X'7B226964223A226576745F30316D38666D6462667A616A7433373735387671626278713476222C2274797065223A226F726465722E70616964222C22637265617465645F6174223A22323032362D31312D32375432333A31303A35352E3438375A222C2264617461223A7B226E756D626572223A322C226661696C73223A747275657D7D');
CREATE TABLE keyhook_idempotency (
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        status SMALLINT,
        body TEXT,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (scope, key)
      );
CREATE TABLE keyhook_key_secrets (
        hash TEXT PRIMARY KEY,
        key_id TEXT NOT NULL REFERENCES keyhook_keys (id),
        version INTEGER NOT NULL,
        display TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        not_after BIGINT,
        UNIQUE (key_id, version)
      );
INSERT INTO "keyhook_key_secrets" VALUES('b5363946e1f80ec364de3be214cef06e3f189d68723f7c033db54b355ad838fd','01a21f46-acc6-7000-8e4e-0935fb76f82d',1,'service_dk_n1zdTx7t',1795821055160,NULL);
INSERT INTO "keyhook_key_secrets" VALUES('ae395ea5512e1e3b9b00586a1b829cda4a13d1fa124d06f00e586c0711526277','01a21f46-ad07-7000-a2d1-d383b06008b8',1,'service_dk_NLZJXnPs',1795821055220,NULL);
INSERT INTO "keyhook_key_secrets" VALUES('bbc43f87ff7271b31a884c9d77b1186a23135951932c86133113e3e3ed7cc955','01a21f46-ad34-7000-96f9-33917dcb47be',1,'service_dk_A3JOcknp',1795821055261,NULL);
CREATE TABLE keyhook_keys (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL,
        parent_id TEXT REFERENCES keyhook_keys (id) ON DELETE RESTRICT,
        depth SMALLINT NOT NULL CHECK (depth BETWEEN 0 AND 8),
        name TEXT NOT NULL,
        scopes TEXT NOT NULL,
        pins TEXT,
        expires_at BIGINT,
        revoked_at BIGINT,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        last_used_at BIGINT,
        version INTEGER NOT NULL
      );
INSERT INTO "keyhook_keys" VALUES('01a21f46-acc6-7000-8e4e-0935fb76f82d','01a21f46-a92d-7000-9b0a-f700b3bd6497',NULL,0,'root','events:* keys:* webhooks:*',NULL,NULL,NULL,'operator',NULL,1795821055160,1795821055160,1795821055486,1);
INSERT INTO "keyhook_keys" VALUES('01a21f46-ad07-7000-a2d1-d383b06008b8','01a21f46-a92d-7000-9b0a-f700b3bd6497','01a21f46-acc6-7000-8e4e-0935fb76f82d',1,'child','events:*',NULL,NULL,NULL,'key','01a21f46-acc6-7000-8e4e-0935fb76f82d',1795821055220,1795821055220,NULL,1);
INSERT INTO "keyhook_keys" VALUES('01a21f46-ad34-7000-96f9-33917dcb47be','01a21f46-a92d-7000-9b0a-f700b3bd6497','01a21f46-acc6-7000-8e4e-0935fb76f82d',1,'gone','events:*',NULL,NULL,1795821055337,'key','01a21f46-acc6-7000-8e4e-0935fb76f82d',1795821055261,1795821055337,NULL,1);
CREATE TABLE keyhook_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "keyhook_meta" VALUES('brand','service');
INSERT INTO "keyhook_meta" VALUES('master_key_check','v1.k1.cAGazfxLvBPWGcXvAJAC0/sk5ZbhCBbuLu/1UROENj6GYDQ=');
INSERT INTO "keyhook_meta" VALUES('first_user','guarded');
CREATE TABLE keyhook_migrations (name TEXT PRIMARY KEY, at BIGINT NOT NULL);
INSERT INTO "keyhook_migrations" VALUES('accounts/0001-accounts-users-sessions',1795821052522);
INSERT INTO "keyhook_migrations" VALUES('accounts/0002-session-seen-authenticated',1795821052535);
INSERT INTO "keyhook_migrations" VALUES('keys/0001-keys-and-secrets',1795821052548);
INSERT INTO "keyhook_migrations" VALUES('webhooks/0001-webhooks-and-secrets',1795821052552);
INSERT INTO "keyhook_migrations" VALUES('webhooks/0002-headers-rate-concurrency',1795821052554);
INSERT INTO "keyhook_migrations" VALUES('events/0001-types-events-deliveries-attempts',1795821052562);
INSERT INTO "keyhook_migrations" VALUES('requests/0001-idempotency-and-audit',1795821052564);
INSERT INTO "keyhook_migrations" VALUES('requests/0002-audit-ip',1795821052566);
CREATE TABLE keyhook_sessions (
        hash TEXT PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES keyhook_users (id) ON DELETE CASCADE,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      , seen_at BIGINT NOT NULL DEFAULT 0, authenticated_at BIGINT NOT NULL DEFAULT 0);
CREATE TABLE keyhook_setup_links (hash TEXT PRIMARY KEY, expires_at BIGINT NOT NULL);
CREATE TABLE keyhook_users (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES keyhook_accounts (id),
        email TEXT NOT NULL UNIQUE,
        password TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      );
INSERT INTO "keyhook_users" VALUES('01a21f46-a92e-7000-b3d2-5a55c07759ac','01a21f46-a92d-7000-9b0a-f700b3bd6497','owner@example.com','$scrypt$ln=17,r=8,p=1$0bEgO7xB3dcz5htjyuJ7oQ$wYqa9yinVWkwZWC5MezG2zVXo+NgsYkxRzjbIJx+Stw',1795821054253,1795821054253);
CREATE TABLE keyhook_webhook_secrets (
        id TEXT PRIMARY KEY,
        webhook_id TEXT NOT NULL REFERENCES keyhook_webhooks (id) ON DELETE CASCADE,
        sealed TEXT NOT NULL,
        display TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        not_after BIGINT
      );
INSERT INTO "keyhook_webhook_secrets" VALUES('01a21f46-ac81-7001-877b-d8a9736685d0','01a21f46-ac81-7000-97a1-640ef8746c47','v1.k1.o/juBW0v2jdmCqr7p2Q6Xr5izYgG6G1cQeePX9YM+rRC1jR8aoyiGvPMvR6eza2Pp/SvK9LMZwYlLpFs0wGAgVlqlK59c9w/aeT61pr3','whsec_wbBZ…',1795821055060,NULL);
CREATE TABLE keyhook_webhooks (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL,
        url TEXT NOT NULL,
        events TEXT NOT NULL,
        description TEXT,
        apps TEXT,
        status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
        disabled_reason TEXT,
        disabled_at BIGINT,
        consecutive_failures INTEGER NOT NULL,
        first_failure_at BIGINT,
        failing_at BIGINT,
        last_success_at BIGINT,
        last_delivery_at BIGINT,
        standard_headers SMALLINT NOT NULL,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      , headers TEXT, rate_limit INTEGER, concurrency INTEGER);
INSERT INTO "keyhook_webhooks" VALUES('01a21f46-ac81-7000-97a1-640ef8746c47','01a21f46-a92d-7000-9b0a-f700b3bd6497','http://127.0.0.1:RECEIVER/hooks','["order.paid"]',NULL,NULL,'active',NULL,NULL,1,1795821055565,NULL,1795821055532,1795821055565,0,'operator',NULL,1795821055060,1795821055060,'{"names":["X-Own"],"sealed":"v1.k1.6xNl+PxH70Et0B32t8JuKXoqhypYX+4Sjb73RN6be1ccEccAvKonjJhfKu8gSEG4Bcbb3cURkL8A3s+1Eg=="}',NULL,NULL);
CREATE INDEX keyhook_sessions_by_user ON keyhook_sessions (user_id);
CREATE INDEX keyhook_keys_by_account ON keyhook_keys (account_id, id);
CREATE INDEX keyhook_keys_by_parent ON keyhook_keys (parent_id);
CREATE INDEX keyhook_webhooks_by_account ON keyhook_webhooks (account_id, id);
CREATE INDEX keyhook_webhook_secrets_by_webhook ON keyhook_webhook_secrets (webhook_id);
CREATE INDEX keyhook_events_by_account ON keyhook_events
        (account_id, position);
CREATE INDEX keyhook_deliveries_by_webhook ON keyhook_deliveries (webhook_id, id);
CREATE INDEX keyhook_deliveries_due ON keyhook_deliveries (webhook_id, retry, next_at, id)
        WHERE done_at IS NULL;
CREATE VIEW keyhook_publishing AS
      SELECT 'event' AS kind, account_id, id, app_id, type, created_at, body,
        NULL AS webhook_id, NULL AS event_id, NULL AS status, NULL AS next_at, NULL AS done_at,
        NULL AS claim, NULL AS cause
      FROM keyhook_events;
CREATE TRIGGER keyhook_publishing_event INSTEAD OF INSERT ON keyhook_publishing
      WHEN new.kind = 'event' BEGIN
        INSERT INTO keyhook_events (account_id, id, app_id, type, created_at, body)
          VALUES (new.account_id, new.id, new.app_id, new.type, new.created_at, new.body);
      END;
CREATE TRIGGER keyhook_publishing_delivery INSTEAD OF INSERT ON keyhook_publishing
      WHEN new.kind = 'delivery' BEGIN
        INSERT INTO keyhook_deliveries (id, account_id, webhook_id, event_id, event_type, app_id,
            status, attempts, automatic, cause, retry, next_at, created_at, done_at, claim)
          VALUES (new.id, new.account_id, new.webhook_id, new.event_id, new.type, new.app_id,
            new.status, 0, 0, new.cause, 0, new.next_at, new.created_at, new.done_at, new.claim);
      END;
CREATE VIEW keyhook_settling AS
      SELECT 'attempt' AS kind, delivery_id, number, cause, started_at, duration, status_code,
        error, response, NULL AS claim, NULL AS status, NULL AS attempts, NULL AS automatic,
        NULL AS next_cause, NULL AS next_at, NULL AS done_at, NULL AS webhook_id,
        NULL AS succeeded, NULL AS failures, NULL AS first_failure_at, NULL AS last_success_at,
        NULL AS last_delivery_at
      FROM keyhook_attempts;
CREATE TRIGGER keyhook_settling_attempt INSTEAD OF INSERT ON keyhook_settling
      WHEN new.kind = 'attempt' BEGIN
        UPDATE keyhook_deliveries SET status = CASE WHEN new.status = 'pending' AND EXISTS (SELECT 1 FROM keyhook_webhooks w
       WHERE w.id = keyhook_deliveries.webhook_id AND w.status = 'disabled')
     THEN 'skipped' ELSE new.status END,
            attempts = new.attempts,
            automatic = new.automatic, cause = new.next_cause, retry = new.next_cause = 'retry',
            next_at = CASE WHEN new.status = 'pending' AND EXISTS (SELECT 1 FROM keyhook_webhooks w
       WHERE w.id = keyhook_deliveries.webhook_id AND w.status = 'disabled')
     THEN NULL ELSE new.next_at END,
            done_at = CASE WHEN new.status = 'pending' AND EXISTS (SELECT 1 FROM keyhook_webhooks w
       WHERE w.id = keyhook_deliveries.webhook_id AND w.status = 'disabled')
     THEN new.started_at + new.duration ELSE new.done_at END, claim = NULL
          WHERE id = new.delivery_id AND claim = new.claim AND status = 'delivering';
        INSERT INTO keyhook_attempts (delivery_id, number, cause, started_at, duration, status_code,
            error, response)
          SELECT new.delivery_id, new.number, new.cause, new.started_at, new.duration,
            new.status_code, new.error, new.response WHERE changes() = 1;
      END;
CREATE TRIGGER keyhook_settling_health INSTEAD OF INSERT ON keyhook_settling
      WHEN new.kind = 'health' BEGIN
        UPDATE keyhook_webhooks SET
            consecutive_failures = new.failures +
              CASE WHEN new.succeeded THEN 0 ELSE consecutive_failures END,
            first_failure_at = COALESCE(
              CASE WHEN new.succeeded THEN NULL ELSE first_failure_at END, new.first_failure_at),
            failing_at = CASE WHEN new.succeeded THEN NULL ELSE failing_at END,
            last_success_at = COALESCE(new.last_success_at, last_success_at),
            last_delivery_at = new.last_delivery_at
          WHERE id = new.webhook_id;
      END;
CREATE INDEX keyhook_idempotency_by_expiry ON keyhook_idempotency (expires_at);
CREATE INDEX keyhook_audit_by_account ON keyhook_audit (account_id, id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('keyhook_events',2);
