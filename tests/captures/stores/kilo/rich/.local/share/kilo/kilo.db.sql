BEGIN TRANSACTION;
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO "message" VALUES('msg_1fe0e3238001lT2G2in0nIeIig','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263705657,1795263713395,'{"role":"user","time":{"created":1795263705657},"agent":"build","model":{"providerID":"anthropic","modelID":"claude-sonnet-5-5"},"summary":{"diffs":[{"file":"a/hello.txt","patch":"Index: a/hello.txt\n===================================================================\n--- a/hello.txt\t\n+++ a/hello.txt\t\n@@ -0,0 +1,1 @@\n+hi\n","additions":1,"deletions":0,"status":"added"}]}}');
INSERT INTO "message" VALUES('msg_1fe0e3b69001IgI5kZSVj51rzv','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263708009,1795263711809,'{"parentID":"msg_1fe0e3238001lT2G2in0nIeIig","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/repo","root":"/home/dev/repo"},"cost":0,"tokens":{"total":167,"input":101,"output":33,"reasoning":0,"cache":{"write":11,"read":22}},"modelID":"claude-sonnet-5-5","providerID":"anthropic","time":{"created":1795263708009,"completed":1795263711807},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_1fe0e4a49001tHaqdiXbXQDxae','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263711817,1795263712888,'{"parentID":"msg_1fe0e3238001lT2G2in0nIeIig","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/repo","root":"/home/dev/repo"},"cost":0,"tokens":{"total":167,"input":101,"output":33,"reasoning":0,"cache":{"write":11,"read":22}},"modelID":"claude-sonnet-5-5","providerID":"anthropic","time":{"created":1795263711817,"completed":1795263712884},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_1fe0e4e7d001e14cFU46V1Q9vE','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263712893,1795263713724,'{"parentID":"msg_1fe0e3238001lT2G2in0nIeIig","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/repo","root":"/home/dev/repo"},"cost":0,"tokens":{"total":167,"input":101,"output":33,"reasoning":0,"cache":{"write":11,"read":22}},"modelID":"claude-sonnet-5-5","providerID":"anthropic","time":{"created":1795263712893,"completed":1795263713721},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO "part" VALUES('prt_1fe0e3255001ZN6mRt4IcNlpYI','msg_1fe0e3238001lT2G2in0nIeIig','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263707974,1795263707980,'{"type":"text","text":"Write hello.txt, then check it."}');
INSERT INTO "part" VALUES('prt_1fe0e465c001cK0NM1asnuWyNz','msg_1fe0e3b69001IgI5kZSVj51rzv','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263710813,1795263710823,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1fe0e466d001BrQ4ezKWFFTIG6','msg_1fe0e3b69001IgI5kZSVj51rzv','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263710829,1795263710841,'{"type":"reasoning","text":"First the file.","time":{"start":1795263710829,"end":1795263710838},"metadata":{"anthropic":{"signature":"c2lnbmVk"}}}');
INSERT INTO "part" VALUES('prt_1fe0e467c001Xt86zkhXTajUlD','msg_1fe0e3b69001IgI5kZSVj51rzv','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263710844,1795263710867,'{"type":"text","text":"Calling a tool.","time":{"start":1795263710844,"end":1795263710865}}');
INSERT INTO "part" VALUES('prt_1fe0e469d0015sOk23EWhDBpE4','msg_1fe0e3b69001IgI5kZSVj51rzv','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263710877,1795263711079,'{"type":"tool","tool":"write","callID":"toolu_00000000000000000001","state":{"status":"completed","input":{"filePath":"/home/dev/repo/a/hello.txt","content":"hi\n"},"output":"Wrote file successfully.","metadata":{"diagnostics":{},"filepath":"/home/dev/repo/a/hello.txt","exists":false,"truncated":false},"title":"a/hello.txt","time":{"start":1795263710925,"end":1795263711064}}}');
INSERT INTO "part" VALUES('prt_1fe0e48a5001tiyeTOtOepjRqA','msg_1fe0e3b69001IgI5kZSVj51rzv','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263711398,1795263711415,'{"reason":"tool-calls","snapshot":"fa9d8c94489bbafffea57824b894d337bf6456fc","type":"step-finish","tokens":{"total":167,"input":101,"output":33,"reasoning":0,"cache":{"write":11,"read":22}},"cost":0}');
INSERT INTO "part" VALUES('prt_1fe0e4a28001oy5zmA48016bag','msg_1fe0e3b69001IgI5kZSVj51rzv','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263711784,1795263711795,'{"type":"patch","hash":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","files":["/home/dev/repo/a/hello.txt"]}');
INSERT INTO "part" VALUES('prt_1fe0e4be3001WQwqXMH4zlxtUO','msg_1fe0e4a49001tHaqdiXbXQDxae','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263712228,1795263712229,'{"snapshot":"fa9d8c94489bbafffea57824b894d337bf6456fc","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1fe0e4bf4001pmLrf7UXBiOqQP','msg_1fe0e4a49001tHaqdiXbXQDxae','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263712244,1795263712262,'{"type":"text","text":"Calling a tool.","time":{"start":1795263712244,"end":1795263712253}}');
INSERT INTO "part" VALUES('prt_1fe0e4c08001E805vczMZxZdrU','msg_1fe0e4a49001tHaqdiXbXQDxae','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263712264,1795263712536,'{"type":"tool","tool":"bash","callID":"toolu_00000000000000000004","state":{"status":"completed","input":{"command":"cat a/hello.txt; exit 3","description":"run it"},"output":"hi\n","metadata":{"output":"hi\n","exit":3,"truncated":false},"title":"cat a/hello.txt; exit 3","time":{"start":1795263712299,"end":1795263712535}}}');
INSERT INTO "part" VALUES('prt_1fe0e4db4001dbAnFIKHCHxKp7','msg_1fe0e4a49001tHaqdiXbXQDxae','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263712692,1795263712696,'{"reason":"tool-calls","snapshot":"fa9d8c94489bbafffea57824b894d337bf6456fc","type":"step-finish","tokens":{"total":167,"input":101,"output":33,"reasoning":0,"cache":{"write":11,"read":22}},"cost":0}');
INSERT INTO "part" VALUES('prt_1fe0e4fcd001VqB7x9ZnJKB413','msg_1fe0e4e7d001e14cFU46V1Q9vE','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263713229,1795263713243,'{"snapshot":"fa9d8c94489bbafffea57824b894d337bf6456fc","type":"step-start"}');
INSERT INTO "part" VALUES('prt_1fe0e4fdc001fk1wKmp1kbxN7A','msg_1fe0e4e7d001e14cFU46V1Q9vE','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263713255,1795263713277,'{"type":"text","text":"All done.","time":{"start":1795263713254,"end":1795263713266}}');
INSERT INTO "part" VALUES('prt_1fe0e5138001exqP8koYOGYq52','msg_1fe0e4e7d001e14cFU46V1Q9vE','ses_e01f1ce43ffevM7R08c0vgzyeK',1795263713592,1795263713594,'{"reason":"stop","snapshot":"fa9d8c94489bbafffea57824b894d337bf6456fc","type":"step-finish","tokens":{"total":167,"input":101,"output":33,"reasoning":0,"cache":{"write":11,"read":22}},"cost":0}');
CREATE TABLE `project` (
          `id` text PRIMARY KEY,
          `worktree` text NOT NULL,
          `vcs` text,
          `name` text,
          `icon_url` text,
          `icon_url_override` text,
          `icon_color` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_initialized` integer,
          `sandboxes` text NOT NULL,
          `commands` text
        );
INSERT INTO "project" VALUES('global','/home/dev/repo','git',NULL,NULL,NULL,NULL,1795263704489,1795263704489,NULL,'[]',NULL);
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO "session" VALUES('ses_e01f1ce43ffevM7R08c0vgzyeK','global',NULL,NULL,'glowing-river','/home/dev/repo','','hub s-1','1.18.33',NULL,0,0,0,NULL,NULL,0.0,303,99,0,66,33,NULL,NULL,'build','{"id":"claude-sonnet-5-5","providerID":"anthropic","variant":"default"}',1795263705533,1795263713734,NULL,NULL);
CREATE TABLE `todo` (
          `session_id` text NOT NULL,
          `content` text NOT NULL,
          `status` text NOT NULL,
          `priority` text NOT NULL,
          `position` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `todo_pk` PRIMARY KEY(`session_id`, `position`),
          CONSTRAINT `fk_todo_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
COMMIT;
