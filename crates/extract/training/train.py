#!/usr/bin/env python3
"""Learns which blocks of a page are content.  See README.md beside this file.

usage: train.py PAGES_DIR PAGES_PROGRAM MODEL_DIR"""
import json
import re
import struct
import subprocess
import sys
from collections import Counter
from urllib.parse import urlsplit

import lightgbm
import numpy as np
from rapidfuzz.distance import LCSseq

WORD = re.compile(r"\w+")
PARTS = 5
ROUNDS = 200
SETTINGS = dict(
    objective="cross_entropy", learning_rate=0.1, num_leaves=15, min_data_in_leaf=30, feature_fraction=0.4, extra_trees=True,
    bagging_fraction=0.7, bagging_freq=1, lambda_l2=10, max_bin=63, verbose=-1, num_threads=2, feature_pre_filter=False,
)
# Trees are learned so many times with other chances; a score is the mean of what they say.
SEEDS = (1, 2, 3, 4)
# Of a long page no more blocks are learned from than these; the page counts as much all the same.
MOST_BLOCKS = 150
# A word that fewer sites have is not in the table; the more a word is doubted, the nearer to 0 is its value.
LEAST_SITES = 6
DOUBT = 8
# The levels above a block whose names are looked at, as in `vocabulary.rs`.
LEVELS = 7


def words(text):
    return WORD.findall(text.lower())


def flat(text):
    return " ".join(text.split())


class Page:
    """The blocks of a page, and how much of each is content: from 0 to 1, or unknown."""

    def __init__(self, truth, sheet):
        self.texts, self.above = sheet["texts"], sheet["above"]
        self.rows = np.array(sheet["rows"], dtype=np.float32)
        self.sizes = np.array([max(1, len(WORD.findall(text))) for text in self.texts], dtype=np.float32)
        self.site = ".".join(urlsplit(truth["url"]).netloc.split(".")[-2:])
        self.kind = truth.get("page_type") or truth.get("source") or ""
        self.whole = "text" in truth
        self.marks = self.of_text(truth["text"]) if self.whole else self.of_pieces(truth["with"], truth["without"])
        self.names = {element: np.array(tokens, dtype=np.uint32) for element, tokens in sheet["names"]}
        self.said = [np.array(tokens, dtype=np.uint32) for tokens in sheet["said"]]
        self.headings, last = [], np.array([], dtype=np.uint32)
        for heading in sheet["headings"]:
            self.headings.append(last)
            if heading is not None:
                last = np.array(heading, dtype=np.uint32)

    def of_text(self, text):
        wanted, blocks = words(text), [words(text) for text in self.texts]
        owner = [index for index, block in enumerate(blocks) for _ in block]
        hits = np.zeros(len(blocks))
        for step in LCSseq.opcodes([word for block in blocks for word in block], wanted):
            if step.tag == "equal":
                for place in range(step.src_start, step.src_end):
                    hits[owner[place]] += 1
        triples = set(zip(wanted, wanted[1:], wanted[2:]))
        copies = Counter(map(tuple, blocks))
        marks = np.full(len(blocks), np.nan, dtype=np.float32)
        for index, block in enumerate(blocks):
            if not block:
                continue
            in_order = hits[index] / len(block)
            if len(block) >= 4 and copies[tuple(block)] == 1:
                own = list(zip(block, block[1:], block[2:]))
                found = sum(triple in triples for triple in own) / len(own)
                marks[index] = max(in_order if in_order > 0.9 else 0, found)
            else:
                marks[index] = in_order
        return marks

    def of_pieces(self, inside, outside):
        inside, outside = [flat(piece) for piece in inside], [flat(piece) for piece in outside]
        marks = np.full(len(self.texts), np.nan, dtype=np.float32)
        for index, text in enumerate(map(flat, self.texts)):
            if len(text) < 2:
                continue
            yes, no = (any(piece in text or (len(text) >= 8 and text in piece) for piece in pieces)
                       for pieces in (inside, outside))
            if yes != no:
                marks[index] = 1.0 if yes else 0.0
        return marks

    def weights(self):
        """Every page counts about the same, and within a page long blocks count more."""
        known = ~np.isnan(self.marks)
        if not self.whole:
            return np.where(known, 0.7 / max(1, known.sum()), 0)
        weights = np.where(known, self.sizes ** 0.6, 0)
        many = 1.0 if self.kind == "aeb" else 1.3 if self.kind == "article" else 1.8
        return weights / max(weights.sum(), 1e-9) * many

    def sampled(self):
        """The weights of the blocks that are learned from."""
        weights = self.weights()
        used = np.where(weights > 0)[0]
        if len(used) > MOST_BLOCKS:
            total, left_out = weights.sum(), np.random.RandomState(7).permutation(used)[MOST_BLOCKS:]
            weights[left_out] = 0
            weights *= total / weights.sum()
        return weights

    def levels(self, index):
        """The tokens of the elements above a block, the nearest first."""
        none = np.array([], dtype=np.uint32)
        return [self.names.get(element, none) for element in self.above[index][:LEVELS]]

    def word_marks(self):
        """How much more than the mean of the page each word's blocks are content, and how often it is there."""
        known = np.where((self.weights() > 0) & ~np.isnan(self.marks))[0]
        if not len(known):
            return None
        marks = np.clip(self.marks, 0, 1)
        above_mean = marks - np.average(marks[known], weights=np.sqrt(self.sizes[known]))
        of_blocks = [np.unique(np.concatenate([*self.levels(index), self.said[index], self.headings[index]])) for index in known]
        tokens, places = np.unique(np.concatenate(of_blocks), return_inverse=True)
        counts = np.bincount(places)
        sums = np.bincount(places, np.concatenate([np.full(len(tokens), above_mean[index]) for tokens, index in zip(of_blocks, known)]))
        often = np.sqrt(np.minimum(counts, 9))
        return tokens, sums / counts * often, often


def word_table(pages):
    """What each word says, as hashes in order and values as they are in the file."""
    tokens, sums, often = (np.concatenate(parts) for parts in zip(*filter(None, (page.word_marks() for page in pages))))
    sites = {}
    for page in pages:
        own = {token for part in (*page.names.values(), *page.said, *page.headings) for token in part.tolist()}
        for token in own:
            sites.setdefault(token, set()).add(page.site)
    order, places = np.unique(tokens, return_inverse=True)
    values = np.bincount(places, sums) / (np.bincount(places, often) + DOUBT)
    values = np.round(values * 127).astype(np.int8)
    common = np.array([len(sites[token]) >= LEAST_SITES for token in order.tolist()])
    return order[common], values[common]


def word_rows(page, table):
    """What the words of each block say; the same as in `vocabulary.rs`."""
    hashes, values = table

    def of(tokens):
        places = np.minimum(np.searchsorted(hashes, tokens), len(hashes) - 1)
        return values[places[hashes[places] == tokens]] / 127

    def row(found):
        return [found.sum(), found.mean(), found.min(), found.max()] if len(found) else [0, 0, 0, 0]

    rows = []
    of_element = {element: of(tokens) for element, tokens in page.names.items()}
    for index in range(len(page.texts)):
        levels = [of_element.get(element, np.array([])) for element in page.above[index][:LEVELS]]
        total, _, low, high = row(np.concatenate(levels))
        rows.append([*(level.sum() for level in levels), *[0] * (LEVELS - len(levels)), total, low, high,
                     *row(of(page.said[index])), *row(of(page.headings[index]))])
    return np.array(rows, dtype=np.float32)


def learn(pages, rows):
    marks = np.concatenate([np.nan_to_num(page.marks) for page in pages])
    weights = np.concatenate([page.sampled() for page in pages])
    used = weights > 0
    data = lightgbm.Dataset(np.vstack(rows)[used], label=np.clip(marks[used], 0, 1),
                            weight=weights[used] * used.sum() / weights[used].sum())
    return [lightgbm.train({**SETTINGS, "seed": seed}, data, ROUNDS) for seed in SEEDS]


def judge(models, rows):
    raw = sum(trees.predict(rows, raw_score=True) for trees in models) / len(models)
    return 1 / (1 + np.exp(-raw))


def parts_of(pages):
    """The part of each page; a site is in one of them only."""
    sites = sorted({page.site for page in pages})
    np.random.RandomState(3).shuffle(sites)
    part = {site: index % PARTS for index, site in enumerate(sites)}
    return [part[page.site] for page in pages]


def unseen_words(pages):
    """What a table says of every page that was made without its part."""
    part, rows = parts_of(pages), [None] * len(pages)
    for current in range(PARTS):
        table = word_table([page for page, own in zip(pages, part) if own != current])
        for index, page in enumerate(pages):
            if part[index] == current:
                rows[index] = word_rows(page, table)
    return rows


def unseen(pages, rows):
    """What is thought of every page by trees that have not seen its site."""
    part, thoughts = parts_of(pages), [None] * len(pages)
    for current in range(PARTS):
        inside = [index for index in range(len(pages)) if part[index] != current]
        trees = learn([pages[index] for index in inside], [rows[index] for index in inside])
        for index in range(len(pages)):
            if part[index] == current:
                thoughts[index] = judge(trees, rows[index])
    return thoughts


def write_words(table, path):
    hashes, values = table
    with open(path, "wb") as file:
        file.write(struct.pack("<I", len(hashes)) + hashes.astype("<u4").tobytes() + values.astype("i1").tobytes())
    print(f"{path}: {len(hashes)} words")


def write(models, width, path):
    """The trees as `tree_model.rs` reads them; each says its share of the mean."""
    infos = [info for trees in models for info in trees.dump_model()["tree_info"]]
    out = struct.pack("<II", width, len(infos))
    for info in infos:
        questions, leaves = [], []

        def walk(node):
            if "split_feature" not in node:
                leaves.append(node["leaf_value"] / len(models))
                return -len(leaves)
            assert node["decision_type"] == "<="
            place = len(questions)
            questions.append(None)
            low, high = walk(node["left_child"]), walk(node["right_child"])
            questions[place] = (node["split_feature"], node["threshold"], low, high)
            return place

        walk(info["tree_structure"])
        out += struct.pack("<H", len(questions))
        for question in questions:
            out += struct.pack("<Hfhh", *question)
        out += struct.pack(f"<{len(leaves)}f", *leaves)
    with open(path, "wb") as file:
        file.write(out)
    print(f"{path}: {len(infos)} trees, {len(out)} bytes")


def main():
    folder, program, models = sys.argv[1:]
    with open(f"{folder}/truth.jsonl", encoding="utf-8") as file:
        truths = [json.loads(line) for line in file]
    asked = "".join(
        json.dumps({"id": one["id"], "url": one["url"], "path": f"{folder}/pages/{one['id']}.html"}) + "\n" for one in truths)
    printed = subprocess.run([program, "rows"], input=asked.encode(), stdout=subprocess.PIPE, check=True).stdout
    pages = [Page(truth, json.loads(line)) for truth, line in zip(truths, printed.splitlines())]
    pages = [page for page in pages if page.texts]
    write_words(word_table(pages), f"{models}/words.bin")
    rows = [np.hstack([page.rows, words]) for page, words in zip(pages, unseen_words(pages))]
    write(learn(pages, rows), rows[0].shape[1], f"{models}/blocks.bin")


if __name__ == "__main__":
    main()
