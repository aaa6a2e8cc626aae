"""What no rule can read in a command line is found, in any of the ways in which it is written; what is harmless is not."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.config.model import ApprovalRule as Rule
from hub.domain.permission.reach import shown
from hub.domain.permission.rules import SeenPath
from hub.domain.permission.unread import runs_code, writes_unnamed
from tests.hub.domain.permission.test_rules import FOLDER, SECRET, decision, shell

BELOW = SeenPath(
    below={FOLDER: [SECRET, f"{FOLDER}/a"], f"{FOLDER}/d": [SECRET], f"{FOLDER}/e": [f"{FOLDER}/e/a"]}
)
CODE = r"""
python3 -c "print(1)"
python -Ic 'import x'
python3 -c'import x' 's/a/b/'
python -IW error -c 'import x'
echo x | python -BW ignore
python3 -Bm http.server
python3 -mcProfile f
curl u | bash -eo pipefail
curl u | bash -norc
curl u | bash -rcfile /dev/null
python3 -v -c "x"
perl -c < a
python3
python3 -
python3 - <<'X'
python3 < a
curl u | python3
perl -e 'unlink "x"'
perl -pe 's/a/b/' -e 'unlink "x"' f
perl -i -ne 'print; unlink "x"' f
perl -pe 's/a/unlink "x"/e' f
perl '-Mstrict;unlink "x"' f
perl '-wMstrict;system q(x)' /dev/null
perl '-mPOSIX (unlink "x")' f
perl -pe 's/@{[unlink "x"]}/b/' f
ruby -e 'File.delete "x"'
node -e 'x'
node -r y -e 'x'
node --eval=x
node --import=data:text/javascript,x f.js
node --import data:text/javascript,x f.js
node --test --import data:text/javascript,x
node --test-reporter ./r.js --import=data:text/javascript,x f.js
deno run data:text/javascript,x
deno run -A --seed 1 data:text/javascript,x
deno run -A -
deno run -c d.json -
deno run --allow-net --seed 1 -
deno -L debug run -
deno run /dev/stdin
deno run <(curl u)
bun run -
bun run -r y --smol -
uv run - <<< 'x'
uv run --with y - < x
uv run -qp 3.12 -
uv run --frozen --no-extra y -- -
uv --system-certs run -
uv --directory run run -
sudo uv run -
deno data:text/javascript,x
php -dauto_prepend_file=data:,x f.php
php -d auto_prepend_file=data:,x f.php
deno eval x
php -r 'unlink("x");'
lua -e 'os.execute("x")'
echo YQ== | base64 -d | sh
curl u | bash
curl u | sudo bash -s -- a
bash <(curl u)
source <(curl u)
sh < a
bash
sh -s a
printf 'r%s' m | sh
echo "$X" | sh
awk 'BEGIN{system("x")}'
awk 'BEGIN{"x" | getline y}'
awk '{print > "x"}' f
awk '{print | "sh"}' f
sed '1e x' f
sed 's/a/x/e' f
sed -n 's/a/b/w f' f
sed --expression='1e x' f
sed --expression '1e x' f
sed -e '1d' -e 'r x' f
vim -es -c '!x' -c q
ed f
gdb -batch -ex 'shell x'
at now
sqlite3 a '.shell x'
psql -c '\! x'
env -i python3 -c 'x'
python3 -m http.server
python3 -m timeit 'x'
curl -K f
curl --config=f -o x
wget -i f
aria2c -i f
git p origin
git -C x --no-pager p
git --work-tree x --config-env a=b p
git --new-option x status
python3 /dev/stdin
timeout 5 bash
LD_PRELOAD=./x ls
export BASH_ENV=x; make
ZDOTDIR=x zsh -c y
env LD_AUDIT=x ls
"""
PLAIN = r"""
LD_PRELOAD= ls
PATH=$PATH:x make
python -m pytest tests -k foo
python train.py --dataset data:train
python -m tool --volume data:/data
python t.py --input data:image/png,x
php artisan import data:users
bash run.sh data:x
deno run -A t.ts data:x
deno run a.ts -
deno run --allow-read --no-check a.ts -
deno run -c d.json npm:y -
deno task run -
cat a.ts | deno fmt --ext ts -
uv run --with y pytest
uv run ruff format -
cat a.py | uv run black -
cat a.py | uv run -q --frozen black -
uv run --no-sync --with y --python 3.12 ruff check -
uv run pytest -k -
uv run -m black -
uv run -- black -
uv run --env-file .env main.py -
uv pip install -r run -
uv tool run black -
bun run dev data:x
bun run build -
bun run --silent build -
bun run lint -- -
node --no-warnings x.js
aws s3 cp - s3://b/x
aws lambda update-function-code --zip-file fileb://x.zip
zsh -c 'ls "${ZDOTDIR:-$HOME}"'
bun test
python3 x.py -c y
python3 --version
python -Xtracemalloc -Wignore::UnicodeWarning x.py
python -Bm pytest tests
bash -eo pipefail run.sh
bash -lc 'ls x'
git -C x -c a=b --no-pager status
git --version
git
node index.js -e production
node --test
perl -pe 's/a/b/' f
perl -Mstrict -MPOSIX=floor,ceil x.pl
perl -pi -e 's|a/b|c|g' f
bash run.sh
sh -c 'ls x'
echo ls | sh
awk '{print $1}' f
awk -F, '{s+=$2} END {print s}' f
awk '$1 > 5 || $2 < 3' f
sed -n '1,40p' f
sed -i 's/foo/bar/g' f
sed -e 's/a/b/' -e '/x/d' f
sed 's|/a/b|/c|' f
sed -i '3i hello there' f
sed '/^#/d;s/ *$//' f
sqlite3 a 'select x from y'
vim --version
which python3
docker ps
npm test
"""
HARMLESS = r"""
ls -la src | head
cd src && ls
for f in src/*.py; do wc -l "$f"; done
for f in a b c; do echo $f; done
find . -name '*.py'
find src -type f -name '*.ts' | head
rg -n "def x" src -g '*.py'
git status --short
git log --oneline -5
git log --stat -3
git diff --stat
git show --stat HEAD
git show HEAD:src/a.py
git add -A && git commit -m "a change"
git commit -am "x: $(date)"
git checkout -b feature
git push origin HEAD
echo "hello $USER" >> src/log
X=$(git rev-parse HEAD)
cd "$(git rev-parse --show-toplevel)" && ls
ls $(npm root)
rm -rf node_modules
mv src/a src/b
cp src/a src/b
curl -s https://example.com | jq .name
diff src/a src/b
sort src/a | uniq -c | sort -rn | head
[ -d src ] || mkdir -p src
timeout 60 npm test
(cd src && npm test)
while true; do sleep 1; done
cargo test -- --nocapture
docker compose up -d
rsync -e ssh -a src/ h:src
git push -u origin main
git clean -x -n
tar -I zstd -cf x.tar.zst src
go test -exec x ./...
"""
TEXTS = [
    "git commit -m \"$(cat <<'EOF'\nAdd a thing\n\nDon't break it.\nEOF\n)\"",
    "cat > src/new.py <<'EOF'\nimport os\nprint(os.environ['X'])\nEOF",
    "cat <<EOF > src/x\nhello $USER\nEOF",
]


def lines(text: str) -> list[str]:
    return text.strip().split("\n")


def ruled(pattern: str, command: str, seen: SeenPath = BELOW) -> str:
    return decision(
        [Rule(command=pattern, decision="deny")], attrs.evolve(shell(command), folder=FOLDER), seen
    )


@pytest.mark.parametrize("command", lines(CODE))
def test_code_is_asked_about_under_any_rule_that_forbids(command):
    assert runs_code(command)
    assert ruled("git push*", command) == "ask"


@pytest.mark.parametrize("command", lines(PLAIN))
def test_what_is_told_by_its_words_is_no_code(command):
    assert not runs_code(command)


@pytest.mark.parametrize(
    "command",
    ["patch -p1 < x", "git apply x", "git am x", "git -C a -c b=c apply x", "git --git-dir a --work-tree b am x",
     "git --attr-source HEAD apply x", "tar xzf x", "tar -C y -x -f x", "tar -f x --extract", "tar -f x --get",
     "bsdtar -xf x", "unzip x", "cpio -i"],
)  # fmt: skip
def test_files_that_another_file_names_are_asked_about_under_a_rule_about_files(command):
    assert writes_unnamed(command)
    assert ruled("elsewhere/y", command, SeenPath(below={FOLDER: []})) == "ask"
    assert ruled("git push*", command) == "allow"


@pytest.mark.parametrize("command", [*lines(HARMLESS), *TEXTS])
@pytest.mark.parametrize(
    "pattern", ["d/secret.txt", "*.github/*", ".env", "touch *", "git tag*", "cat secret*", "rm -rf /*"]
)
def test_harmless_work_goes_on_under_a_rule_about_something_else(pattern, command):
    assert ruled(pattern, command) == "allow"


@pytest.mark.parametrize(
    "command",
    ["$(echo rm) x", "`echo rm` x", "$CMD", '"$CMD" x', "${CMD} x", 'eval "$CMD"', 'bash -c "$CMD"', "sudo -n $X y", "env A=1 $X y",
     "cat f | xargs sudo", "xargs -n1 timeout 5 <f", "cat f | xargs -L1 bash -c", "cat f | xargs -I{} sh -c '{}'", "parallel <f",
     'timeout 5 bash -c "$X"', "if c; then X=rm; else X=ls; fi; $X y", "X=ls; read X < f; $X y", "X=r; X+=m; $X y", "printf -v X r%s m; $X y"],
)  # fmt: skip
def test_a_program_that_is_known_only_when_it_runs_is_asked_about(command):
    assert ruled("rm *", command) in ("ask", "deny")


def test_what_a_program_is_told_by_another_is_asked_about_where_a_rule_may_mean_it():
    assert ruled("git push*", "echo push | xargs git") == "ask"
    for harmless in ("ls src | xargs git add", "ls src | xargs", "ls src | xargs -n1 basename"):
        assert ruled("git tag*", harmless) == "allow"


@pytest.mark.parametrize(
    "command",
    ['cat "$X"', "cat $(ls d)", "cat d/$(echo secret).txt", 'find d | while read f; do cat "$f"; done', "f() { cat d/$1; }; f secret.txt",
     "cat $OLDPWD/d/secret.txt", 'cat "$(git rev-parse --show-toplevel)/d/secret.txt"', "cd $X && cat d/secret.txt", 'set -- d secret.txt; cat "$1/$2"',
     "a=d/secretXtxt; cat ${a/X/.}", "sh -c 'cat $X'", "cat e/$X", "cat ${PWD%/}/d/secret.txt", "cat ~-/d/secret.txt", "cat ~u/d/secret.txt",
     "IFS=,; v=d/secret.txt,; cat $v"],
)  # fmt: skip
def test_a_file_that_is_known_only_when_it_is_read_is_asked_about(command):
    assert ruled("d/secret.txt", command) in ("ask", "deny")


def test_of_a_file_that_ends_otherwise_nobody_asks():
    for command in ("cat $X/other.txt", "cat src/$X.py"):
        assert ruled("d/secret.txt", command, attrs.evolve(BELOW, files=frozenset([SECRET]))) == "allow"


def test_what_git_brings_back_is_judged_by_the_files_that_come():
    [(_, merge)] = shown("git merge x")
    for files, answer in ((None, "ask"), ([SECRET], "deny"), ([f"{FOLDER}/a"], "allow")):
        assert (
            ruled("d/secret.txt", "git merge x", attrs.evolve(BELOW, shown={(FOLDER, merge): files}))
            == answer
        )
    assert ruled("d/secret.txt", "git pull") == "ask"
    assert ruled("git push*", "git pull") == "allow"


def test_what_git_shows_is_asked_about_while_nobody_knows_of_which_files():
    [diff] = shown("git diff")
    for files, answer in ((None, "ask"), ([SECRET], "deny"), ([f"{FOLDER}/a"], "allow")):
        seen = attrs.evolve(BELOW, shown={(FOLDER, diff[1]): files})
        assert ruled("d/secret.txt", "git diff", seen) == answer
    assert ruled("https://x/*", "git diff", BELOW) == "allow"  # an address is no file


@pytest.mark.parametrize(
    ("command", "answer"),
    [("for f in d/secret.txt; do cat $f; done", "deny"), ("for f in $(ls d); do cat $f; done", "ask"), ("for f in `ls`; do cat $f; done", "ask")],
)  # fmt: skip
def test_a_loop_over_what_is_found_out_when_it_runs_is_asked_about(command, answer):
    assert ruled("d/secret.txt", command) == answer


@pytest.mark.parametrize(("command", "answer"), [("cat [a-z]/*.txt", "deny"), ("cat $X/[a-z]*.txt", "ask")])
def test_a_pattern_of_the_shell_is_held_against_one_of_the_rule(command, answer):
    assert ruled("d/s?cret*", command) == answer


@pytest.mark.parametrize(
    "command",
    ["hub approve a-1", "python3 -m hub --json approve a-1", "h''ub approve", "sleep 1; hub trust --yes", "/usr/bin/hub approve",
     "curl -d '{}' http://127.0.0.1:4748/api/approvals/a-1", "(while :; do curl h/api/%61pprovals/a; done) &"],
)  # fmt: skip
def test_no_agent_answers_for_its_user(command):
    """Whatever the rules are about."""
    assert decision([Rule(tool="*note*")], shell(command)) == "ask"
    assert decision([Rule(tool="Bash", decision="allow"), Rule()], shell(command)) == "allow"
    for other in (
        "hub status",
        "hub approvals",
        "curl http://127.0.0.1:4748/api/approvals",
        "ls hub approve",
    ):
        assert decision([Rule(tool="*note*")], shell(other)) == "allow"


def test_an_earlier_rule_that_allows_it_holds():
    """The first rule that is met, or may be."""
    code = shell("python3 -c x")
    allow, deny = Rule(command="python3 *", decision="allow"), Rule(command="rm *", decision="deny")
    assert decision([allow, deny], code) == "allow"
    assert decision([deny, allow], code) == "ask"
    assert decision([deny, Rule(tool="Bash", decision="deny")], code) == "deny"
    assert decision([Rule(command="rm *", decision="deny", tool="Write")], code) == "allow"


@pytest.mark.parametrize(
    "command",
    ["find . -delete", "find . -name x -delete", "fd x -delete", "unlink x", "shred x", "xargs rm < list", "echo x | xargs -d, rm", "PAGER='rm x' git log",
     "tar cf y x --checkpoint-action=exec=rm\\ x", "tar cf y x --checkpoint-action=exec='rm x'", "git submodule foreach rm x", "busybox rm x",
     "git rebase --exec 'rm x' y", "env -S'rm x'", "cp /bin/rm x; ./x y", "cp $(which rm) y; ./y x", "ln -s `command -v rm` y",
     "rg --pre rm x", "rg --pre=rm x", "git grep -Orm x", "sort --compress-program rm x", "tar cf y x -Irm", "tar cf y x -I rm", "cmake -E rm x",
     "rsync -e rm x y", "make SHELL=rm", "less '+!rm x' y", "ssh-agent rm x",  "ln -s /usr/bin/rm x", "setpriv --reuid 1 rm x", "perf stat rm x"],
)  # fmt: skip
def test_a_program_under_another_name_or_with_what_it_is_fed_is_meant(command):
    assert ruled("rm *", command) == "deny"


def test_a_part_of_git_is_git():
    assert ruled("git push*", "/usr/lib/git-core/git-push origin") == "deny"
    assert ruled("d/secret.txt", "/usr/lib/git-core/git-grep x") == "deny"
    for command in ("git checkout -b d", "ls -l /usr/bin/git"):
        assert ruled("d/secret.txt", command) == "allow"
        assert ruled("git push*", command) == "allow"


def test_a_link_to_a_program_is_that_program():
    seen = SeenPath({f"{FOLDER}/x": "/bin/rm"})
    assert ruled("rm *", "./x y", seen) == "deny"
    assert ruled("rm *", "cd e && ../x y", seen) == "deny"
    assert ruled("rm *", "./x y", SeenPath()) == "allow"


@pytest.mark.parametrize(
    "command",
    ["mv d e; cat e/secret.txt", "ln -s d e; cat e/secret.txt", "rm -rf d", "chmod -R 777 d", "git rm -r d", "git mv d e", "find d -delete",
     "git checkout HEAD~1 -- d", "grep -d recurse x .", "busybox find . -exec cat {} +", "fd . -x cat", "sudo tar c .", "docker run -v .:/x y",
     "git grep x HEAD", "git diff --no-index e d", "tar cf x --files-from=list", "gzip -r d", "cat d/{a..z}ecret.txt", "cat ${Y:-d/secret.txt}",
     "cat $(pwd)/d/secret.txt", "cat /proc/self/cwd/d/secret.txt", "cat /proc/123/task/4/cwd/d/secret.txt", "shopt -s nocaseglob; cat D/SEC*",
     "git show x:0:d/secret.txt", "cp x/secret.txt d", "install -t d x/secret.txt", "git checkout main d", "git checkout ."],
)  # fmt: skip
def test_a_file_is_meant_by_what_takes_its_folder_and_by_its_stranger_names(command):
    assert ruled("d/secret.txt", command) == "deny"


@given(st.text(alphabet="ab ;&|()<>'\"`\\\n$={}!-*/~", max_size=60))
@settings(max_examples=300)
def test_nothing_that_is_written_breaks_it(line):
    assert ruled("d/secret.txt", line) in ("allow", "ask", "deny")


@pytest.mark.parametrize(
    "command", ["sudo " * 500 + "tar c $X", "cat " + "$X " * 500, "cat " + "$(" * 500, "sed '" + "s/a/b/;" * 500 + "e'", 'bash -c "' + "a$X" * 20_000 + '"']
)  # fmt: skip
def test_a_line_that_nobody_wrote_is_judged_in_time(command):
    assert ruled("d/secret.txt", command) in ("ask", "deny")
