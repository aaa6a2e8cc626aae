"""Questions as an agent asks them, each with the definition that answers it.

Owns: the questions, and how a definition's place is found.
Must not: ask them.

Written from knowledge of the two packages, before anything was asked; a question that is not answered stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("Django==5.0.6", "Werkzeug==3.0.3")
QUESTIONS = """
how does a queryset cut its objects into batches for bulk insert > django/db/models/query.py QuerySet.bulk_create
get or create an object race condition integrity error > django/db/models/query.py QuerySet.get_or_create
slice a queryset with limits __getitem__ negative indexing not supported > django/db/models/query.py QuerySet.__getitem__
prefetch related objects for a list of instances > django/db/models/query.py prefetch_related_objects
where are model instances saved to the database insert or update > django/db/models/base.py Model.save_base | django/db/models/base.py Model._save_table | django/db/models/base.py Model.save
refresh a model instance from the database reload fields > django/db/models/base.py Model.refresh_from_db
validate unique constraints of a model before saving > django/db/models/base.py Model.validate_unique | django/db/models/base.py Model._perform_unique_checks | django/db/models/base.py Model.validate_constraints
topological sort of migrations, detect circular dependency > django/db/migrations/graph.py MigrationGraph.ensure_not_cyclic
autodetector asks whether a field was renamed > django/db/migrations/questioner.py InteractiveMigrationQuestioner.ask_rename | django/db/migrations/autodetector.py MigrationAutodetector.create_renamed_fields
record that a migration was applied > django/db/migrations/recorder.py MigrationRecorder.record_applied
collect related objects to cascade delete > django/db/models/deletion.py Collector.collect
atomic transaction savepoint rollback on exception exit > django/db/transaction.py Atomic.__exit__
run a function after the transaction commits on_commit > django/db/transaction.py on_commit | django/db/backends/base/base.py BaseDatabaseWrapper.on_commit
close database connection that is too old or unusable > django/db/backends/base/base.py BaseDatabaseWrapper.close_if_unusable_or_obsolete | django/db/__init__.py close_old_connections
resolve an url path to a view function > django/urls/resolvers.py URLResolver.resolve | django/urls/base.py resolve
reverse a view name to a URL with arguments > django/urls/base.py reverse | django/urls/resolvers.py URLResolver._reverse_with_prefix
csrf token compare and check referer origin > django/middleware/csrf.py CsrfViewMiddleware._check_referer | django/middleware/csrf.py CsrfViewMiddleware._check_token | django/middleware/csrf.py CsrfViewMiddleware.process_view
mask the csrf secret with a random mask cipher > django/middleware/csrf.py _mask_cipher_secret
hash a password with pbkdf2 iterations > django/contrib/auth/hashers.py PBKDF2PasswordHasher.encode | django/contrib/auth/hashers.py PBKDF2PasswordHasher | django/utils/crypto.py pbkdf2
password reset token generator check expiry timeout > django/contrib/auth/tokens.py PasswordResetTokenGenerator.check_token
authenticate credentials against every backend > django/contrib/auth/__init__.py authenticate
session cookie is set on the response, vary header, expiry > django/contrib/sessions/middleware.py SessionMiddleware.process_response
sign a value with timestamp and check max age > django/core/signing.py TimestampSigner.unsign | django/core/signing.py TimestampSigner.sign | django/core/signing.py loads
parse multipart form data upload boundary > django/http/multipartparser.py MultiPartParser.parse | django/http/multipartparser.py MultiPartParser._parse
get client host name from headers, X-Forwarded-Host, allowed hosts > django/http/request.py HttpRequest._get_raw_host | django/http/request.py HttpRequest.get_host | django/http/request.py validate_host
serve a file download response with content disposition > django/http/response.py FileResponse.set_headers
compress response gzip middleware accept-encoding > django/middleware/gzip.py GZipMiddleware.process_response
append slash redirect middleware > django/middleware/common.py CommonMiddleware.get_full_path_with_slash | django/middleware/common.py CommonMiddleware.should_redirect_with_slash | django/middleware/common.py CommonMiddleware.process_request | django/middleware/common.py CommonMiddleware.process_response
template lexer tokenize tag strings > django/template/base.py Lexer.tokenize | django/template/base.py DebugLexer.tokenize
template variable lookup dictionary attribute list index > django/template/base.py Variable._resolve_lookup
for loop template tag forloop counter parent > django/template/defaulttags.py ForNode.render
template inheritance extends find parent template > django/template/loader_tags.py ExtendsNode.find_template | django/template/loader_tags.py ExtendsNode.get_parent
urlize text turn links into anchor tags > django/utils/html.py Urlizer.handle_word | django/utils/html.py urlize | django/template/defaultfilters.py urlize
strip html tags from text > django/utils/html.py strip_tags
slugify remove characters that are not alphanumerics > django/utils/text.py slugify
human readable time since a date > django/utils/timesince.py timesince
naive datetime to aware with timezone make_aware > django/utils/timezone.py make_aware
lazy object proxy evaluation setup > django/utils/functional.py LazyObject | django/utils/functional.py SimpleLazyObject | django/utils/functional.py SimpleLazyObject._setup | django/utils/functional.py LazyObject._setup
cached_property descriptor stores the result on the instance > django/utils/functional.py cached_property
autoreload watch files for changes, stat reloader > django/utils/autoreload.py StatReloader | django/utils/autoreload.py StatReloader.tick | django/utils/autoreload.py StatReloader.snapshot_files
send signal to receivers and catch errors robust > django/dispatch/dispatcher.py Signal.send_robust
file based cache delete expired cull entries > django/core/cache/backends/filebased.py FileBasedCache._cull | django/core/cache/backends/filebased.py FileBasedCache._is_expired
memcached key validation warnings too long or control characters > django/core/cache/backends/base.py memcache_key_warnings
email message headers forbid newlines header injection > django/core/mail/message.py forbid_multi_line_headers
smtp connection open starttls login > django/core/mail/backends/smtp.py EmailBackend.open
validate email address domain part allowlist > django/core/validators.py EmailValidator.__call__ | django/core/validators.py EmailValidator.validate_domain_part
paginator page number validation empty page > django/core/paginator.py Paginator.validate_number
formset total form count from management form > django/forms/formsets.py BaseFormSet.total_form_count
clean each form field and call clean_<fieldname> > django/forms/forms.py BaseForm._clean_fields
collectstatic copy a file, delete the old one if modified > django/contrib/staticfiles/management/commands/collectstatic.py Command.copy_file | django/contrib/staticfiles/management/commands/collectstatic.py Command.delete_file
hashed static file names md5 manifest storage post process > django/contrib/staticfiles/storage.py HashedFilesMixin._post_process | django/contrib/staticfiles/storage.py HashedFilesMixin.post_process | django/contrib/staticfiles/storage.py HashedFilesMixin.hashed_name
admin changelist search results filter by search_fields > django/contrib/admin/options.py ModelAdmin.get_search_results
debug page hide sensitive settings values cleanse > django/views/debug.py SafeExceptionReporterFilter.cleanse_setting
test client login force > django/test/client.py ClientMixin.force_login | django/test/client.py ClientMixin._login
parallel test runner worker init clone databases > django/test/runner.py _init_worker | django/test/runner.py ParallelTestSuite
loaddata parse fixture name compression format > django/core/management/commands/loaddata.py Command.parse_name
werkzeug development server run_simple reloader threaded > werkzeug/serving.py run_simple
generate adhoc self signed ssl certificate > werkzeug/serving.py generate_adhoc_ssl_pair | werkzeug/serving.py generate_adhoc_ssl_context
debugger pin calculated from machine id cookie > werkzeug/debug/__init__.py get_pin_and_cookie_name
check the debugger pin authentication exhausted failed attempts > werkzeug/debug/__init__.py DebuggedApplication.pin_auth
safely join untrusted path components to a base directory > werkzeug/security.py safe_join
check_password_hash scrypt pbkdf2 > werkzeug/security.py check_password_hash | werkzeug/security.py _hash_internal
parse Range header bytes units > werkzeug/http.py parse_range_header
parse a cookie header into a multidict > werkzeug/http.py parse_cookie | werkzeug/sansio/http.py parse_cookie
is the resource modified, etag if-none-match conditional > werkzeug/sansio/http.py is_resource_modified | werkzeug/http.py is_resource_modified
proxy fix trusted forwarded headers number of proxies > werkzeug/middleware/proxy_fix.py ProxyFix.__call__ | werkzeug/middleware/proxy_fix.py ProxyFix._get_real_value
match url against rules, redirect for strict slashes > werkzeug/routing/map.py MapAdapter.match | werkzeug/routing/matcher.py StateMachineMatcher.match
context local proxy to current object > werkzeug/local.py LocalProxy | werkzeug/local.py LocalProxy.__init__
limit the size of the request body stream content length > werkzeug/wsgi.py get_input_stream | werkzeug/wsgi.py LimitedStream
multipart decoder next event boundary max form memory > werkzeug/sansio/multipart.py MultipartDecoder.next_event | werkzeug/formparser.py MultiPartParser.parse
send_file with etag and conditional range response > werkzeug/utils.py send_file
watchdog reloader triggers on file change > werkzeug/_reloader.py WatchdogReloaderLoop | werkzeug/_reloader.py WatchdogReloaderLoop.__init__
"""
"""`question > answer | another one`: a path and a qualified name."""


def questions(root: Path) -> Iterator[tuple[str, frozenset[tuple[str, int]]]]:
    """Each question and the places of its answers: a path and the line of the definition.

    Args:
        root: The folder that both packages were unpacked into.
    """
    places: dict[str, dict[str, int]] = {}
    for line in QUESTIONS.strip().splitlines():
        question, _, answers = line.partition(" > ")
        right = set()
        for answer in answers.split(" | "):
            path, _, name = answer.partition(" ")
            if path not in places:
                places[path] = dict(_definitions(ast.parse((root / path).read_text())))
            right.add((path, places[path][name]))
        yield question, frozenset(right)


def _definitions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield within + node.name, node.lineno
            yield from _definitions(node, f"{within}{node.name}.")
        else:
            yield from _definitions(node, within)
