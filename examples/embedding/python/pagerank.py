#!/usr/bin/env python3
"""PageRank of a sparse matrix, by DP: python3 pagerank.py [MATRIX.mtx] [-o PICTURE.png]

Entry (i, j) of the matrix is a link from page i to page j. Without a file one is made, a web of 20,000 pages. Needs numpy, SciPy,
matplotlib, and the package dpc: `pip install ./python`, or PYTHONPATH=python in the source tree (docs/python.md)."""
import argparse
import pathlib
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.io
import scipy.sparse as sp

import dpc


def make_web(path, pages=20_000, links=8):
    """A web that has grown: each page links to older ones, most often to those at the beginning."""
    random = np.random.default_rng(1)
    source = np.repeat(np.arange(1, pages), links)
    target = (source * random.random(source.size) ** 3).astype(np.int64)
    keep = random.random(source.size) < 0.9
    web = sp.coo_matrix((np.ones(keep.sum()), (source[keep], target[keep])), (pages, pages))
    scipy.io.mmwrite(path, web, field="pattern")


def read_links(path):
    """For each page those that link to it, and how many links leave it: every pair of pages once, and none to itself."""
    matrix = sp.coo_matrix(scipy.io.mmread(path))
    if matrix.shape[0] != matrix.shape[1]:
        raise SystemExit(f"{path}: {matrix.shape[0]} rows and {matrix.shape[1]} columns, a square matrix is wanted")
    other = matrix.row != matrix.col
    links = sp.csr_matrix((np.ones(other.sum(), np.int8), (matrix.row[other], matrix.col[other])), matrix.shape)
    incoming = links.T.tocsr()
    return dpc.Ragged(incoming.indices, incoming.indptr), np.diff(links.indptr).astype(np.int32)


def check(inlinks, outdegree, ranks, damping):
    """Another round, by SciPy, changes nothing."""
    n = len(ranks)
    a = sp.csr_matrix((np.ones(len(inlinks.data)), inlinks.data, inlinks.offsets), (n, n))
    lost = ranks[outdegree == 0].sum()
    again = (1 - damping) / n + damping * (a @ (ranks / np.maximum(outdegree, 1)) + lost / n)
    assert abs(again - ranks).max() < 1e-8 and abs(ranks.sum() - 1) < 1e-9


def draw(inlinks, ranks, title, path):
    n, (left, right) = len(ranks), plt.subplots(1, 2, figsize=(11, 5))[1]
    pages = np.repeat(np.arange(n), inlinks.lengths)
    shown = np.random.default_rng(1).permutation(pages.size)[:30_000]
    left.plot(inlinks.data[shown], pages[shown], ",", color="tab:blue")
    left.set(title="links", xlabel="from page", ylabel="to page", xlim=(0, n), ylim=(n, 0), aspect="equal")
    left.locator_params(nbins=5)
    right.loglog(np.arange(1, n + 1), np.sort(ranks)[::-1], color="tab:red")
    right.set(title="ranks, from the highest", xlabel="place", ylabel="rank")
    plt.suptitle(title)
    plt.tight_layout()
    plt.savefig(path, dpi=120)


def main():
    here = pathlib.Path(__file__).parent
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("matrix", nargs="?", type=pathlib.Path)
    words.add_argument("-o", "--output", default="pagerank.png", type=pathlib.Path)
    words = words.parse_args()
    if not words.matrix:
        words.matrix = words.output.with_suffix(".mtx")
        make_web(words.matrix)
    inlinks, outdegree = read_links(words.matrix)
    module = dpc.load(here / "pagerank.dp")
    damping = 0.85
    module.pagerank(inlinks, outdegree, damping, 1e-9)  # builds the kernels
    began = time.perf_counter()
    ranks, rounds = module.pagerank(inlinks, outdegree, damping, 1e-9)
    took = time.perf_counter() - began
    check(inlinks, outdegree, ranks, damping)
    print(f"{words.matrix}: {len(ranks)} pages, {len(inlinks.data)} links, {rounds} rounds in {1000 * took:.1f} ms")
    for page in np.argsort(-ranks, kind="stable")[:5]:
        print(f"  page {page}: rank {ranks[page]:.6f}, {inlinks.lengths[page]} links to it")
    draw(inlinks, ranks, f"PageRank of {words.matrix.name}", words.output)
    print(f"{words.output} shows them")


if __name__ == "__main__":
    main()
