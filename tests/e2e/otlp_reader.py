# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""otlp_reader.py facts | weights total|self [EVENT] - a request of OTLP profiles, as `protoc --decode` prints it.

The text is read from stdin.  What the specification of version 1.11.0 demands is checked in each
case; what it breaks is said, and the exit status is 1.

    facts    a line for each thing: of resources, the profiles, mappings and attributes; profiles of an
             event in several resources are added up
    weights  NAME<tab>PERCENT of each function; of the first event with samples, or this one
"""

import collections
import functools
import re
import sys

ESCAPE = re.compile(r"\\([0-7]{3}|.)")
NAMED = {"n": "\n", "r": "\r", "t": "\t"}
TABLES = ["mapping", "location", "function", "link", "string", "attribute", "stack"]
NO_LINK = [("span_id", (bytes(8),)), ("trace_id", (bytes(16),))]


def unescape(text):
    plain = ESCAPE.sub(lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else NAMED.get(m[1], m[1]), text)
    return plain.encode("latin-1")


def parse(lines):
    """A message is a dictionary of lists, by the names of fields."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            message[line[:-2]].append(parse(lines))
            continue
        name, value = line.split(": ", 1)
        message[name].append(unescape(value[1:-1]) if value[0] == '"' else int(value))
    return message


def first(message, field, default=0):
    return message[field][0] if message[field] else default


def frozen(value):
    if not isinstance(value, dict):
        return value
    return tuple(sorted((name, tuple(map(frozen, values))) for name, values in value.items() if values))


def value_of(any_value):
    for kind in "string_value", "int_value":
        if any_value[kind]:
            value = any_value[kind][0]
            return value.decode() if isinstance(value, bytes) else value
    sys.exit(f"an attribute has no value: {dict(any_value)}")


class Request:
    def __init__(self, text):
        self.message = parse(iter(text.splitlines()))
        unknown = [name for name in self.message if name not in ("resource_profiles", "dictionary")]
        assert not unknown, f"unknown fields: {unknown}"
        assert self.message["resource_profiles"], "no resource"
        assert len(self.message["dictionary"]) == 1, "not one dictionary"
        dictionary = self.message["dictionary"][0]
        self.tables = {name: dictionary[f"{name}_table"] for name in TABLES}
        self.used = {name: {0} for name in TABLES}
        self.strings = [text.decode() for text in self.tables["string"]]
        self.check_zeros()

    def check_zeros(self):
        for name, table in self.tables.items():
            assert table, f"no table of {name}s"
            zero = {"string": b"", "link": tuple(NO_LINK)}.get(name, ())
            assert frozen(table[0]) == zero, f"{name} 0 is {table[0]}"

    def get(self, table, index):
        assert 0 <= index < len(self.tables[table]), f"no {table} {index}"
        self.used[table].add(index)
        return self.tables[table][index]

    def string(self, index):
        self.get("string", index)
        return self.strings[index]

    def attributes(self, message):
        found = {}
        for index in message["attribute_indices"]:
            pair = self.get("attribute", index)
            key = self.string(first(pair, "key_strindex"))
            assert index and key and key not in found, f"attribute {index}: {key}"
            found[key] = value_of(pair["value"][0])
        return found

    def resources(self):
        """The attributes of each, and its profiles."""
        for resource_profiles in self.message["resource_profiles"]:
            pairs = resource_profiles["resource"][0]["attributes"]
            attributes = {pair["key"][0].decode(): value_of(pair["value"][0]) for pair in pairs}
            assert len(attributes) == len(pairs), f"an attribute is there twice: {pairs}"
            scopes = resource_profiles["scope_profiles"]
            assert len(scopes) == 1 and scopes[0]["scope"][0]["name"] == [b"bobbin"], "not one scope"
            yield attributes, scopes[0]["profiles"]

    def profiles(self):
        return [profile for _, profiles in self.resources() for profile in profiles]

    def events(self):
        """The profiles of each event."""
        events = collections.defaultdict(list)
        for profile in self.profiles():
            events[self.attributes(profile)["bobbin.event"]].append(profile)
        return events

    def type(self, profile, field):
        kind = first(profile, field, None)
        if kind is None:
            return "none none"
        return f"{self.string(first(kind, 'type_strindex'))} {self.string(first(kind, 'unit_strindex'))}"

    def function(self, index):
        function = self.get("function", index)
        for field in "system_name_strindex", "filename_strindex":
            self.string(first(function, field))
        name = self.string(first(function, "name_strindex"))
        assert index and name, f"function {index} has no name"
        return name

    @functools.cache
    def location(self, index):
        """The names of its functions, the innermost one first."""
        location = self.get("location", index)
        assert index, "a stack has location 0"
        mapping = self.get("mapping", first(location, "mapping_index"))
        start, limit = (first(mapping, f"memory_{end}") for end in ("start", "limit"))
        if frozen(mapping):
            assert start <= first(location, "address") <= limit, f"location {index} is not in its mapping"
        self.string(first(mapping, "filename_strindex"))
        self.attributes(mapping)
        return [self.function(first(line, "function_index")) for line in location["lines"]]

    def stack(self, sample):
        """What its frames are called, leaf first."""
        return [self.location(index)
                for index in self.get("stack", first(sample, "stack_index"))["location_indices"]]

    def check(self):
        ids = set()
        identities = [frozenset(attributes.items()) for attributes, _ in self.resources()]
        assert len(set(identities)) == len(identities), "resources should be one"
        for profile in self.profiles():
            self.check_profile(profile)
            ids.add(first(profile, "profile_id"))
        assert len(ids) == len(self.profiles()), "profiles have the same ID"
        for name, table in self.tables.items():
            orphans = set(range(len(table))) - self.used[name]
            assert not orphans, f"nobody refers to {name}s {sorted(orphans)[:10]} of {len(table)}"
            twice = [item for item, n in collections.Counter(map(frozen, table)).items() if n > 1]
            assert not twice, f"{name}s are there twice: {twice[:3]}"

    def check_profile(self, profile):
        identities = set()
        profile_id = first(profile, "profile_id", b"")
        assert len(profile_id) == 16 and any(profile_id), f"ID {profile_id}"
        assert len(profile["sample_type"]) == 1, "not one type of sample"
        self.type(profile, "sample_type"), self.type(profile, "period_type"), self.attributes(profile)
        for sample in profile["samples"]:
            assert len(sample["values"]) == 1, f"a sample has values {sample['values']}"
            self.stack(sample), self.attributes(sample)
            identities.add((first(sample, "stack_index"), frozenset(sample["attribute_indices"])))
        assert len(identities) == len(profile["samples"]), "samples should be one"
        for location in self.tables["location"]:
            self.attributes(location)


def facts(request):
    for attributes, profiles in request.resources():
        for key, value in attributes.items():
            print("resource", key, value)
        print("service", attributes["service.name"], attributes.get("container.id", "none"),
              attributes.get("k8s.pod.uid", "none"),
              sum(sample["values"][0] for profile in profiles for sample in profile["samples"]))
    for event, profiles in request.events().items():
        told = collections.Counter()
        weight = 0
        profile = profiles[0]
        samples = [sample for each in profiles for sample in each["samples"]]
        for sample in samples:
            weight += sample["values"][0]
            for key, value in request.attributes(sample).items():
                told[key, value] += sample["values"][0]
            told["depth", len(request.stack(sample))] += sample["values"][0]
        print("profile", event, request.type(profile, "sample_type"),
              request.type(profile, "period_type"), first(profile, "period"),
              first(profile, "time_unix_nano"), first(profile, "duration_nano"), len(samples), weight)
        for (key, value), count in told.items():
            print("sample", key, value, count)
    for mapping in request.tables["mapping"][1:]:
        print("mapping", request.string(first(mapping, "filename_strindex")),
              request.attributes(mapping).get("process.executable.build_id.gnu", "none"))
    for location in request.tables["location"][1:]:
        names = " < ".join(f"{request.function(first(line, 'function_index'))}:{first(line, 'line')}"
                           for line in location["lines"])
        print("location", request.attributes(location).get("profile.frame.type", "none"), names)
    for function in request.tables["function"][1:]:
        print("function", request.string(first(function, "name_strindex")),
              request.string(first(function, "filename_strindex")) or "none")


def weights(request, column, event=None):
    found = [samples for name, profiles in request.events().items()
             if (samples := [sample for profile in profiles for sample in profile["samples"]])
             and event in (None, name)]
    all_weights, total = collections.Counter(), 0
    for sample in found[0] if found else []:
        value, stack = sample["values"][0], request.stack(sample)
        total += value
        names = {name for frame in stack for name in frame} if column == "total" else stack[0][:1] if stack else []
        for name in names:
            all_weights[name] += value
    for name, weight in all_weights.items():
        # rounded as the report does it, halves up
        hundredths = (20000 * weight + total) // (2 * total)
        print(f"{name}\t{hundredths // 100}.{hundredths % 100:02}")


def main():
    # names may be anything
    sys.stdout.reconfigure(encoding="utf-8")
    request = Request(sys.stdin.buffer.read().decode("ascii"))
    try:
        request.check()
    except AssertionError as error:
        sys.exit(f"otlp_reader: {error}")
    {"facts": facts, "weights": weights}[sys.argv[1]](request, *sys.argv[2:])


if __name__ == "__main__":
    main()
