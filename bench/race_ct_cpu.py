#!/usr/bin/env python3
"""Races filtered back-projection of one scan on the CPU: motet against ASTRA and scikit-image.

usage: race_ct_cpu.py MOTET [columns [views [rows]]]

Needs astra-toolbox, scikit-image, h5py and numpy from PyPI, in an environment of their own. Every
program reconstructs the same line integrals, from memory, in float32; times are the least of
several runs after one that does not count. motet's is what its report says of the filter and the
back-projection. ASTRA's CPU filtered back-projection and scikit-image's work slice by slice on one
thread, so motet runs on one thread first. Pictures are compared after the flip that fits best, since
conventions differ; an odd number of columns puts everybody's rotation axis in one place.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import astra
import h5py
import numpy as np
import skimage
from skimage.transform import iradon

motet = sys.argv[1]
columns, views, rows = (int(a) for a in (sys.argv[2:] + ["511", "360", "32"][len(sys.argv) - 2 :])[:3])
folder = Path(tempfile.mkdtemp())
REPEATS = 5


def run(*words):
    subprocess.run([motet, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def least(work, repeats):
    work()
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begun)
    return min(times), result


run("ct", "simulate", "-o", folder / "scan.h5", "--columns", columns, "--views", views, "--rows", rows)
with h5py.File(folder / "scan.h5") as file:
    raw = file["exchange/data"][:].astype(np.float64)
    flat = file["exchange/data_white"][:].astype(np.float64).mean(0)
    dark = file["exchange/data_dark"][:].astype(np.float64).mean(0)
    theta = file["exchange/theta"][:].astype(np.float64)
lines = -np.log(np.clip((raw - dark) / (flat - dark), 2.0**-20, None)).astype(np.float32)  # (view, v, u)
np.save(folder / "lines.npy", np.ascontiguousarray(lines.transpose(0, 2, 1)))
np.savetxt(folder / "angles.txt", theta)
updates = float(columns) * columns * views * rows


def of_motet(threads):
    volume = folder / "motet.npy"
    seconds = []
    for _ in range(REPEATS + 1):
        run("ct", "recon", folder / "lines.npy", "-o", volume, "--line-integrals", "--angles", folder / "angles.txt",
            "--center", (columns - 1) / 2, "--threads", threads, "--overwrite", "--json", folder / "report.json")
        report = json.loads((folder / "report.json").read_text())
        seconds.append(sum(o["seconds"] for o in report["operations"] if o["name"] in ("ct.filter", "ct.backproject")))
    return min(seconds[1:]), np.load(volume)


def of_astra():
    geometry = astra.create_vol_geom(columns, columns)
    rays = astra.create_proj_geom("parallel", 1.0, columns, np.deg2rad(theta))
    projector = astra.create_projector("linear", rays, geometry)
    picture, sinogram = astra.data2d.create("-vol", geometry), astra.data2d.create("-sino", rays)
    config = astra.astra_dict("FBP")
    config.update(ProjectorId=projector, ProjectionDataId=sinogram, ReconstructionDataId=picture)
    algorithm = astra.algorithm.create(config)
    slices = [np.ascontiguousarray(lines[:, v]) for v in range(rows)]

    def work():
        volume = np.empty((rows, columns, columns), np.float32)
        for v in range(rows):
            astra.data2d.store(sinogram, slices[v])
            astra.algorithm.run(algorithm)
            volume[v] = astra.data2d.get(picture)
        return volume

    return least(work, 2)


def of_skimage():
    def work():
        return np.stack([iradon(lines[:, v].T, theta, output_size=columns, circle=True, filter_name="ramp")
                         for v in range(min(rows, 2))])  # two slices, scaled up: it is slow
    seconds, volume = least(work, 1)
    return seconds * rows / min(rows, 2), volume


print(f"{rows} slices of {columns} x {columns} from {views} views; numpy {np.__version__}")
results = {"motet, 1 thread": of_motet(1), "motet, 2 threads": of_motet(2),
           f"ASTRA {astra.__version__}, FBP on the CPU": of_astra(),
           f"scikit-image {skimage.__version__}, iradon": of_skimage()}
base = results["motet, 1 thread"]
middle = np.hypot(*np.meshgrid(*[np.arange(columns) - (columns - 1) / 2] * 2)) < 0.45 * columns
for name, (seconds, volume) in results.items():
    flips = [base[1][: len(volume), ::y, ::x][:, middle].ravel() for y in (1, -1) for x in (1, -1)]
    same = max(np.corrcoef(mine, volume[:, middle].ravel())[0, 1] for mine in flips)
    print(f"{name:36s} {seconds:8.3f} s  {updates / seconds * 1e-9:7.3f} G updates/s  {seconds / base[0]:6.1f} x"
          f"  correlation {same:.5f}")
