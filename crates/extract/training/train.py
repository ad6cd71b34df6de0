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
ROUNDS = {"first": 300, "second": 250}
SETTINGS = dict(
    objective="cross_entropy", learning_rate=0.07, num_leaves=15, min_data_in_leaf=60, feature_fraction=0.4, extra_trees=True,
    bagging_fraction=0.7, bagging_freq=1, lambda_l2=10, max_bin=63, seed=1, verbose=-1, num_threads=2,
)


def words(text):
    return WORD.findall(text.lower())


def flat(text):
    return " ".join(text.split())


class Page:
    """The blocks of a page, and how much of each is content: from 0 to 1, or unknown."""

    def __init__(self, truth, sheet):
        self.texts, self.above = sheet["texts"], sheet["above"]
        self.rows = np.array(sheet["rows"], dtype=np.float32)
        self.patterns = np.array(sheet["patterns"]).reshape(-1, 2)
        self.sizes = np.array([max(1, len(WORD.findall(text))) for text in self.texts], dtype=np.float32)
        self.site = ".".join(urlsplit(truth["url"]).netloc.split(".")[-2:])
        self.kind = truth.get("page_type") or truth.get("source") or ""
        self.whole = "text" in truth
        self.marks = self.of_text(truth["text"]) if self.whole else self.of_pieces(truth["with"], truth["without"])

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


def learn(pages, rows, rounds):
    marks = np.concatenate([np.nan_to_num(page.marks) for page in pages])
    weights = np.concatenate([page.weights() for page in pages])
    used = weights > 0
    data = lightgbm.Dataset(np.vstack(rows)[used], label=np.clip(marks[used], 0, 1),
                            weight=weights[used] * used.sum() / weights[used].sum())
    return lightgbm.train(SETTINGS, data, rounds)


def unseen(pages, rows, rounds):
    """What is thought of every page by trees that have not seen its site."""
    sites = sorted({page.site for page in pages})
    np.random.RandomState(3).shuffle(sites)
    part = {site: index % PARTS for index, site in enumerate(sites)}
    thoughts = [None] * len(pages)
    for current in range(PARTS):
        inside = [index for index, page in enumerate(pages) if part[page.site] != current]
        trees = learn([pages[index] for index in inside], [rows[index] for index in inside], rounds)
        for index, page in enumerate(pages):
            if part[page.site] == current:
                thoughts[index] = trees.predict(rows[index])
    return thoughts


def context(page, alone):
    """What was thought of all around each block; the same as in `judge.rs`."""
    count, sizes, places = len(alone), page.sizes, np.arange(len(alone))
    columns = [alone]
    sums = np.concatenate([[0], np.cumsum(alone * sizes)])
    totals = np.concatenate([[0], np.cumsum(sizes)])
    for reach in (1, 3, 8, 20):
        low, high = np.maximum(places - reach, 0), np.minimum(places + reach + 1, count)
        after = np.minimum(places + 1, count)
        columns.append((sums[places] - sums[low]) / np.maximum(totals[places] - totals[low], 1))
        columns.append((sums[high] - sums[after]) / np.maximum(totals[high] - totals[after], 1))
    held, thought = {}, {}
    for index, above in enumerate(page.above):
        for element in above:
            held[element] = held.get(element, 0) + sizes[index]
            thought[element] = thought.get(element, 0) + alone[index] * sizes[index]
    levels = 7
    around = np.full((count, 2 * levels), -1.0)
    for index, above in enumerate(page.above):
        level, last = 0, sizes[index]
        for element in above:
            if held[element] > last + 1e-3 and level < levels:
                rest = max(held[element] - sizes[index], 1)
                around[index, 2 * level] = (thought[element] - alone[index] * sizes[index]) / rest
                around[index, 2 * level + 1] = np.log1p(held[element])
                level, last = level + 1, held[element]
    columns += list(around.T)
    for kind in (0, 1):
        group = page.patterns[:, kind]
        total, members = np.bincount(group, sizes), np.bincount(group)
        likely = np.bincount(group, alone * sizes)
        columns.append((likely[group] - alone * sizes) / np.maximum(total[group] - sizes, 1))
        columns.append(members[group].astype(float))
    large = np.where((alone > 0.5) & (sizes >= 8))[0]
    begin, end = (large[0], large[-1]) if len(large) else (0, count)
    whole = totals[-1]
    for value in (sums[-1] / whole, alone.max()):
        columns.append(np.full(count, value))
    columns += [np.clip(places - begin, -100, 100), np.clip(places - end, -100, 100), sums[:-1] / max(sums[-1], 1e-9)]
    for value in (np.sum(sizes * (alone > 0.5)) / whole, np.sum(sizes * np.minimum(alone, 1 - alone)) / whole):
        columns.append(np.full(count, value))
    return np.stack(columns, 1).astype(np.float32)


def write(trees, width, path):
    """The trees as `model.rs` reads them."""
    infos = trees.dump_model()["tree_info"]
    out = struct.pack("<II", width, len(infos))
    for info in infos:
        questions, leaves = [], []

        def walk(node):
            if "split_feature" not in node:
                leaves.append(node["leaf_value"])
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
    rows = [page.rows for page in pages]
    alone = unseen(pages, rows, ROUNDS["first"])
    write(learn(pages, rows, ROUNDS["first"]), rows[0].shape[1], f"{models}/first.bin")
    more = [np.hstack([page.rows, context(page, thought)]) for page, thought in zip(pages, alone)]
    write(learn(pages, more, ROUNDS["second"]), more[0].shape[1], f"{models}/second.bin")


if __name__ == "__main__":
    main()
