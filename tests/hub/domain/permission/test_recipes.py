"""What `make` and `just` would run is read from their files: the recipes of what is asked for and of all that it needs."""

import time

import pytest

from hub.domain.permission.recipes import of_just, of_make

MAKEFILE = """
# what is built
DIR := build
CLEAN = $(RM) -r ${DIR}
.PHONY: all deploy clean
all: app
app: main.o ; cc -o $@ $^
%.o: %.c
\t@cc -c $<
deploy: clean \\
  app
\t-git push $(REMOTE) \\
\t   main
\t# said, not done
\techo $$HOME $(call odd,x)
clean:
\t@$(CLEAN)
LOOP = $(LOOP) $(LOOP)
loop:: loop
\techo $(LOOP)
include more.mk
"""


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ([], ["cc -o app main.o", "cc -c %.c"]),
        (["clean"], ["rm -f -r build"]),
        (["clean", "DIR=other"], ["rm -f -r other"]),
        (["x.o"], ["cc -c %.c"]),
        (["nothing"], []),
    ],
)
def test_a_target_runs_its_recipe_and_those_of_what_it_needs(words, lines):
    assert of_make(MAKEFILE, words).splitlines() == lines


def test_a_line_of_a_recipe_is_filled_in_and_joined_and_loses_what_only_make_reads():
    lines = of_make(MAKEFILE, ["deploy", "REMOTE=origin"]).splitlines()
    assert lines[0].split() == ["git", "push", "origin", "main"]
    assert lines[1:] == ["echo $HOME $(call odd,x)", "rm -f -r build", "cc -o app main.o", "cc -c %.c"]


def test_a_variable_of_itself_ends():
    assert of_make(MAKEFILE, ["loop"]).startswith("echo ")
    assert len(of_make("A = $(A)" + "x" * 70_000 + "\na:\n\t$(A)", [])) < 300_000


def test_what_make_runs_only_to_read_its_file_is_told_whatever_is_asked_for():
    text = "V := $(shell rm -r x)\n$(info $(shell ls))\nx:\n\techo $(shell id)\ny:\n"
    assert of_make(text, ["y"]).splitlines() == ["V := $(rm -r x)", "$(info $(ls))"]
    assert of_make(text, ["x"]).splitlines()[-1] == "echo $(id)"


JUSTFILE = """
set shell := ["bash", "-c"]
export dir := "build"
alias d := deploy
default: build
build target='x':
  cargo build {{target}}
@deploy env="p" *args: clean (build "y") && notify
    git push {{ env }}
    @rm -r {{dir}}
[private]
clean:
    rm -r {{dir}}
notify:
    #!/usr/bin/env python3
    import os
told:
    #!/bin/bash
    rm z
"""


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ([], ["cargo build {{target}}"]),
        (["d"], ["git push {{ env }}", "rm -r build", "rm -r build", "cargo build {{target}}"]),
        (["clean", "dir=other"], ["rm -r other"]),
        (["notify"], []),
        (["told"], ["rm z"]),
    ],
)
def test_a_recipe_of_just_is_read_likewise(words, lines):
    assert of_just(JUSTFILE, words).splitlines() == lines


def test_an_empty_file_runs_nothing():
    assert of_make("", []) == of_just("", []) == ""


@pytest.mark.parametrize(
    "text",
    [
        "A = $(A)$(A)\nall:\n" + "\t$(A)\n" * 10_000,
        "x" + " " * 65_000,
        "N = " + "a " * 30_000 + "\n" + "".join(f"t{n}: $(N)\n" for n in range(5_000)),
        "%: " + "".join(f"n{n} " for n in range(8_000)) + "\n\techo\nall: a\n",
        "a: " * 20_000,
        "$(" * 30_000,
    ],
)
def test_a_file_made_to_take_long_takes_no_time(text):
    """A Makefile is whoever's repository it is."""
    before = time.process_time()
    assert len(of_make(text, [])) + len(of_just(text, [])) < 3_000_000
    assert time.process_time() - before < 2
