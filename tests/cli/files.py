"""Small files for the scripts, without numpy.

files.py npy OUT DTYPE SHAPE EXPRESSION   an array; EXPRESSION is Python in i (flat index)
files.py values IN                        its shape and values, one line
files.py cut IN OUT BYTES                 the first BYTES bytes
files.py report FILE EXPRESSION           checks that the JSON report r satisfies a Python expression
"""
import ast
import json
import math
import struct
import sys

CODES = {"<f4": "f", "<f8": "d", "|u1": "B", "<u2": "H", "<i4": "i", "<i8": "q", "<u1": "B"}


def write_npy(path, dtype, shape, values):
    header = repr({"descr": dtype, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack("<%d%s" % (len(values), CODES[dtype]), *values))


def read_npy(path):
    data = open(path, "rb").read()
    assert data[:6] == b"\x93NUMPY"
    if data[6] == 1:
        size, at = struct.unpack("<H", data[8:10])[0], 10
    else:
        size, at = struct.unpack("<I", data[8:12])[0], 12
    header = ast.literal_eval(data[at : at + size].decode())
    assert not header["fortran_order"]
    count = math.prod(header["shape"])
    code = CODES[header["descr"]]
    return header["shape"], list(struct.unpack_from("<%d%s" % (count, code), data, at + size))


def strict(name):
    raise ValueError("%s is not JSON" % name)


def main(words):
    if words[0] == "npy":
        shape = [int(n) for n in words[3].split(",")]
        rule = compile(words[4], "rule", "eval")
        values = [eval(rule, {"i": i, "math": math}) for i in range(math.prod(shape))]
        write_npy(words[1], words[2], shape, values)
    elif words[0] == "values":
        print(*read_npy(words[1]))
    elif words[0] == "cut":
        open(words[2], "wb").write(open(words[1], "rb").read()[: int(words[3])])
    elif words[0] == "report":
        r = json.load(open(words[1]), parse_constant=strict)
        scope = {"r": r, "read_npy": read_npy, "math": math}
        if not eval(words[2], scope):
            sys.exit("not so in %s: %s\n%s" % (words[1], words[2], json.dumps(r["result"])))


main(sys.argv[1:])
