#!/usr/bin/env python3
"""Makes inputs for Rodinia's programs where a checkout has none: of the form they read and of about the
size of those they are published with, from a random number generator that always begins the same.
  make_inputs.py FOLDER      (the checkout's data folder, or a copy of it)"""

import pathlib
import random
import struct
import sys

data = pathlib.Path(sys.argv[1])
chance = random.Random(2016)


def makes(name):
    """Where the file is not there: opens it for the function to write."""
    def around(of):
        path = data / name
        if not path.exists() or path.stat().st_size == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb") as file:
                of(file)
        return of
    return around


def lines(file, numbers):
    file.write("\n".join(numbers).encode() + b"\n")


@makes("bfs/graph.txt")
def graph(file):
    """Nodes with the index of their edges and how many; the source; edges with their cost."""
    nodes, out, first, edges = 262144, [], 0, []
    for _ in range(nodes):
        degree = chance.randint(2, 10)
        out.append(f"{first} {degree}")
        first += degree
    for _ in range(first):
        edges.append(f"{int(chance.random() * nodes)} {1 + int(chance.random() * 10)}")
    lines(file, [str(nodes), *out, "", "0", "", str(first), *edges])


@makes("b+tree/mil.txt")
def keys(file):
    lines(file, ["500000", *map(str, range(1, 500001))])


@makes("b+tree/command.txt")
def commands(file):
    file.write(b"j 6000 3000\nk 10000\n")


@makes("cfd/grid.domn")
def mesh(file):
    """Squares side by side that are closed in both directions: area, and for each side the neighbour and its normal."""
    width, height = 312, 311
    out = [str(width * height)]
    for y in range(height):
        for x in range(width):
            sides = [((x - 1) % width, y, -1, 0), ((x + 1) % width, y, 1, 0),
                     (x, (y - 1) % height, 0, -1), (x, (y + 1) % height, 0, 1)]
            out.append("0.01 " + " ".join(f"{b * width + a + 1} {0.1 * p} {0.1 * q} 0" for a, b, p, q in sides))
    lines(file, out)


@makes("dwt2d/rgb.raw")
def picture(file):
    file.write(bytes((x * 7 + y * 3 + c * 50 + (x * y >> 6)) & 255
                     for y in range(1024) for x in range(1024) for c in range(3)))


def avi(file, width, height, frames, pixel):
    """An AVI of uncompressed grey frames, upside down as AVI has them."""
    def chunk(name, content):
        return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)
    bodies = [chunk(b"00db", bytes(pixel(x, height - 1 - y, f) for y in range(height) for x in range(width)))
              for f in range(frames)]
    size = width * height
    header = struct.pack("<14I", 40000, size * 25, 0, 0x10, frames, 0, 1, size, width, height, 0, 0, 0, 0)
    stream = b"vids" + b"Y800" + struct.pack("<IHHIIIIIIII4H", 0, 0, 0, 0, 1, 25, 0, frames, size, 0, 0, 0, 0, width, height)
    bitmap = struct.pack("<IiiHH4sIiiII", 40, width, height, 1, 8, b"Y800", size, 0, 0, 0, 0)
    heads = chunk(b"LIST", b"hdrl" + chunk(b"avih", header) +
                  chunk(b"LIST", b"strl" + chunk(b"strh", stream) + chunk(b"strf", bitmap)))
    movie, index, at = b"movi", b"", 4
    for body in bodies:
        movie += body
        index += b"00db" + struct.pack("<III", 0x10, at, size)
        at += len(body)
    content = b"AVI " + heads + chunk(b"LIST", movie) + chunk(b"idx1", index)
    file.write(b"RIFF" + struct.pack("<I", len(content)) + content)


@makes("heartwall/test.avi")
def heart(file):
    """A bright ring that beats, where the program searches for the walls."""
    noise = [chance.randint(0, 40) for _ in range(4099)]

    def pixel(x, y, frame):
        distance = ((x - 320) ** 2 + (y - 375) ** 2) ** 0.5
        return min(255, noise[(x * 31 + y * 17 + frame) % 4099] + (160 if abs(distance - 100 - 3 * frame) < 12 else 0))
    avi(file, 744, 656, 6, pixel)


@makes("leukocyte/testfile.avi")
def cells(file):
    """Dark discs with a bright rim, that drift."""
    points = [(40 + 61 * i % 560, 125 + 37 * i % 190) for i in range(30)]
    noise = [chance.randint(0, 12) for _ in range(4099)]
    shapes = {}
    for a in range(-14, 15):
        for b in range(-14, 15):
            distance = (a * a + b * b) ** 0.5
            shapes[a, b] = 90 if 9 <= distance <= 11 else -40 if distance < 9 else 0

    def frame_of(frame):
        picture = {}
        for px, py in points:
            for (a, b), more in shapes.items():
                picture[px + a + frame, py + b] = more
        return picture
    pictures = [frame_of(f) for f in range(3)]
    avi(file, 640, 480, 3, lambda x, y, f: 110 + noise[(x * 13 + y * 29) % 4099] + pictures[f].get((x, y), 0))


def field(count, low, high, name):
    @makes(name)
    def write(file):
        lines(file, [f"{chance.uniform(low, high):.6f}" for _ in range(count)])


field(512 * 512, 323, 341, "hotspot/temp_512")
field(512 * 512, 0, 0.0001, "hotspot/power_512")
field(512 * 512 * 8, 323, 341, "hotspot3D/temp_512x8")
field(512 * 512 * 8, 0, 0.0001, "hotspot3D/power_512x8")


@makes("huffman/test.in")
def symbols(file):
    file.write(bytes(min(255, int(chance.expovariate(0.4))) for _ in range(1 << 20)))


@makes("kmeans/kdd_cup")
def features(file):
    lines(file, [f"{i} " + " ".join(map(str, chance.choices(range(256), k=34))) for i in range(65536)])


@makes("mummergpu/reference.fna")
def reference(file):
    file.write(b">made up\n" + "".join(chance.choices("ACGT", k=1000000)).encode() + b"\n")


@makes("mummergpu/queries.fna")
def queries(file):
    """Pieces of the reference, a letter in 30 another one."""
    text = (data / "mummergpu/reference.fna").read_text().split("\n", 1)[1].replace("\n", "").strip()
    out = []
    for i in range(50000):
        at = chance.randrange(max(1, len(text) - 100))
        piece = list(text[at:at + 100])
        for _ in range(3):
            piece[chance.randrange(len(piece))] = chance.choice("ACGT")
        out += [f">{i}", "".join(piece)]
    lines(file, out)


field(91, 0.01, 1, "myocyte/y.txt")
field(18, 0.1, 1, "myocyte/params.txt")


for part in range(4):
    @makes(f"nn/cane4_{part}.db")
    def storms(file):
        """Records of 48 letters: date, name, latitude, longitude, speed, pressure."""
        lines(file, [f"{chance.randint(1950, 2004):4} {chance.randint(1, 12):2} {chance.randint(1, 28):2} {6 * chance.randint(0, 3):2} "
                     f"{chance.randint(1, 28):2} {'NOBODY':<9} {chance.uniform(7, 70):5.1f} {chance.uniform(0, 358):5.1f} "
                     f"{chance.randint(10, 164):4} {chance.randint(0, 899):4}" for _ in range(10691)])


@makes("srad/image.pgm")
def image(file):
    file.write(b"P2\n458 502\n255\n")
    lines(file, [" ".join(str(60 + (x // 40 + y // 40) % 2 * 80 + chance.randint(0, 30)) for x in range(458))
                 for y in range(502)])
