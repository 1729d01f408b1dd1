"""Decodes profile.proto of pprof as far as tests need it: no protocol compiler is."""

import gzip


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(field, value): a number, or bytes. Anything else, or a cut message, is an error."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            if at + value > len(data):
                raise ValueError(f"field {key >> 3} at {at} has {value} bytes of {len(data)}")
            value, at = data[at:at + value], at + value
        elif key & 7:
            raise ValueError(f"wire type {key & 7} at {at}")
        yield key >> 3, value


def numbers(data):
    at, found = 0, []
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


class Pprof:
    """types: [(type, unit)]; samples: [(addresses, values)]; mappings: id -> fields."""

    def __init__(self, data):
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        parts = list(fields(data))
        self.strings = [value.decode() for field, value in parts if field == 6]
        self.types = [self.type_of(value) for field, value in parts if field == 1]
        self.default = self.strings[dict(parts).get(14, 0)]
        self.mappings, self.locations, self.samples = {}, {}, []
        for field, value in parts:
            if field == 3:
                mapping = dict(fields(value))
                self.mappings[mapping[1]] = {
                    "start": mapping.get(2, 0), "limit": mapping.get(3, 0),
                    "offset": mapping.get(4, 0), "file": self.strings[mapping.get(5, 0)],
                    "build_id": self.strings[mapping.get(6, 0)]}
            elif field == 4:
                location = dict(fields(value))
                if location[1] in self.locations:
                    raise ValueError(f"two locations with the number {location[1]}")
                self.locations[location[1]] = location.get(2, 0), location.get(3, 0)
        for field, value in parts:
            if field == 2:
                sample = dict(fields(value))
                where = [self.locations[place] for place in numbers(sample[1])]
                self.samples.append((where, numbers(sample[2])))
        self.check()

    def type_of(self, value):
        pair = dict(fields(value))
        return self.strings[pair[1]], self.strings[pair[2]]

    def check(self):
        if self.strings[0]:
            raise ValueError("the first string is not empty")
        for where, values in self.samples:
            if len(values) != len(self.types):
                raise ValueError(f"{len(values)} values of {len(self.types)} types")
            for mapping, address in where:
                inside = self.mappings.get(mapping)
                if mapping and not inside["start"] <= address < inside["limit"]:
                    raise ValueError(f"{address:#x} is not in its mapping {inside}")
