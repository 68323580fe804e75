"""The queries of docs/study-queries.md give the numbers of `fullpipe study report`."""

import json
import math
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FULLPIPE = os.environ.get("FULLPIPE", "fullpipe")
# The proof's program is built beside it.
PROOF = Path(FULLPIPE).with_name("fullpipe-proof")
BEGIN = 1_767_225_600
ARMS = ("cubic", "bbr")
SLOT, WASHOUT = 600, 60

CONNECTION = (
    "sitting connection unit arm assigned evaluated ended set_up_unix_s unix_s port client as_number region "
    "acknowledged_bytes sent_packets retransmitted_packets handshake_rtt_ms srtt_ms median_rtt_ms objects busy_s"
).split()
OBJECT = (
    "sitting connection object unit arm assigned evaluated port client as_number region begun_unix_s busy_s bytes "
    "sent_packets retransmitted_packets whole"
).split()
TEXT = {"unit", "assigned", "client", "region"}
REAL = {"set_up_unix_s", "unix_s", "handshake_rtt_ms", "srtt_ms", "median_rtt_ms", "busy_s", "begun_unix_s"}


def write(path, columns, rows):
    """Rows as the program writes them: text, 64-bit whole numbers and reals."""
    types = {name: pa.string() if name in TEXT else pa.float64() if name in REAL else pa.int64() for name in columns}
    arrays = {name: pa.array([row.get(name) for row in rows], types[name]) for name in columns}
    pq.write_table(pa.table(arrays), path, compression="none")


def size(draw):
    """Small objects, pages, and downloads."""
    kind = draw.random()
    if kind < 0.4:
        return int(draw.lognormvariate(math.log(8e3), 0.8)) + 1
    if kind < 0.7:
        return int(draw.lognormvariate(math.log(3e5), 1.5)) + 1
    return int(3e6 * draw.paretovariate(1.5))


def study(directory, unit, seed):
    """A study of which everything occurs: open connections with several rows, connections as a whole, objects that were
    cut short, packets that were never sent again, units that differ, systems and regions."""
    draw = random.Random(seed)
    connections, objects = [], []
    units, number = {}, 0
    for _ in range(7000):
        at = BEGIN + draw.random() ** 2 * 180 * SLOT
        slot = int(at // SLOT)
        key = slot if unit == "slot" else int(240 * draw.paretovariate(1.2)) % 600
        if key not in units:
            units[key] = (f"{draw.getrandbits(64):016x}", draw.randrange(2), draw.gauss(0, 0.5))
        word, arm, level = units[key]
        since = at - slot * SLOT
        before = units.get(slot - 1)
        is_carried = unit == "slot" and before is not None and before[1] != arm and since < 30
        rate = 2e7 * math.exp(level + draw.gauss(0, 0.6)) * (1.1 if arm else 1) * (0.7 if is_carried else 1)
        network = key if unit == "prefix" else draw.randrange(600)
        number += 1
        common = {
            "sitting": 1 + number % 2,
            "connection": number // 2,
            "unit": word,
            "arm": arm,
            "assigned": ARMS[arm],
            "evaluated": int(unit != "slot" or since >= WASHOUT),
            "port": 443,
            "client": f"10.{network // 256}.{network % 256}.0/24" if draw.random() < 0.95 else None,
            "as_number": 64500 + network % 3 if network % 5 else None,
            "region": ["north", "south west", None][network % 3],
        }
        count = draw.choice([0, 1, 1, 2, 3])
        sizes = [size(draw) for _ in range(max(count, 1))]
        took = [0.02 + of * 8 / rate for of in sizes]
        packets = sum(of // 1448 + 1 for of in sizes)
        connection = common | {
            "ended": int(draw.random() < 0.9),
            "set_up_unix_s": at,
            "unix_s": at + sum(took),
            "acknowledged_bytes": sum(sizes) if draw.random() < 0.98 else 0,
            "sent_packets": packets,
            "retransmitted_packets": int(packets * draw.choice([0, 0, 0.005, 0.02, 0.1])),
            "handshake_rtt_ms": 28 * math.exp(level + draw.gauss(0, 0.1)) if draw.random() < 0.9 else None,
            "srtt_ms": 30 * math.exp(level / 3 + draw.gauss(0, 0.3)),
            "median_rtt_ms": 28 * math.exp(level / 3 + draw.gauss(0, 0.3)) if draw.random() < 0.8 else None,
            "objects": count,
            "busy_s": sum(took),
        }
        if not connection["ended"]:
            connection |= {"objects": None, "median_rtt_ms": None}
        if draw.random() < 0.2:
            connections.append(connection | {"ended": 0, "acknowledged_bytes": 1, "unix_s": at, "objects": None})
        connections.append(connection)
        for place in range(count):
            objects.append(
                common
                | {
                    "object": place + 1,
                    "begun_unix_s": at + sum(took[:place]),
                    "busy_s": took[place],
                    "bytes": sizes[place],
                    "sent_packets": sizes[place] // 1448 + 1,
                    "retransmitted_packets": 0,
                    # Only the first arm has objects that were cut short.
                    "whole": int(place + 1 < count or arm or draw.random() < 0.97),
                }
            )
    half = len(connections) // 2
    directory.mkdir()
    write(directory / f"study-{BEGIN}000.parquet", CONNECTION, connections[:half])
    write(directory / f"study-{BEGIN}001.parquet", CONNECTION, connections[half:])
    write(directory / f"objects-{BEGIN}000.parquet", OBJECT, objects)
    slots = f'slot = "{SLOT}s"\nwashout = "{WASHOUT}s"\n' if unit == "slot" else ""
    arms = "".join(f'[[arm]]\ncontroller = "{arm}"\nshare = "50%"\n' for arm in ARMS)
    plan = f'name = "a"\ncgroup = "a"\nunit = "{unit}"\nduration = "30h"\n{slots}[connections]\nlisten = [443]\n{arms}'
    (directory / "plan.toml").write_text(plan)
    about = {"version": "0", "seed": "", "began_unix_s": BEGIN, "sittings": 2, "ran_s": 108000, "ended": "over"}
    (directory / "study.json").write_text(json.dumps(about))


LABORATORY = """
name = "small"
duration = "6s"
[[arm]]
controller = "cubic"
[[arm]]
controller = "bbr1"
[[traffic]]
interval = "2s"
sizes = "8kb"
[[traffic]]
interval = "5s"
sizes = "3mb"
[[network]]
name = "lossy"
kind = "clients"
as = 64501
lines = 100
path = { rate = { median = "20mbit", sigma = 0.3 }, rtt = "60ms", buffer = "2bdp", loss = "1%" }
"""


def laboratory(directory, unit, seed):
    """A study of the small CDN with known truth."""
    if not shutil.which(PROOF):
        pytest.skip("the command fullpipe-proof is not built; cargo build -p fullpipe-proof")
    text = directory.parent / "cdn.toml"
    text.write_text(LABORATORY)
    out = directory.parent / "cdn"
    subprocess.run([PROOF, "cdn", text, "--out", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    (out / "study").rename(directory)


def queries():
    """The queries of the page by the name in their first line."""
    page = (ROOT / "docs/study-queries.md").read_text()
    found = re.findall(r"```sql\n-- (\w+)\n(.*?)```", page, re.DOTALL)
    assert len(found) == page.count("```sql") == len(dict(found))
    return dict(found)


@pytest.fixture(params=["prefix", "slot", "laboratory"])
def asked(request, tmp_path, monkeypatch):
    """The report, and the results of all queries."""
    monkeypatch.chdir(tmp_path)
    make = laboratory if request.param == "laboratory" else study
    make(tmp_path / "clients", request.param, 7)
    said = subprocess.run([FULLPIPE, "study", "report", "clients", "--json"], check=True, capture_output=True)
    report = json.loads(said.stdout)
    connection = duckdb.connect()
    results = {}
    for name, query in queries().items():
        if name == "timeline":
            query = query.replace("width_s = 14400", f"width_s = {report['timeline']['width_s']}")
        if name == "plan" and request.param != "laboratory":
            query = query.replace("'prefix'", f"'{request.param}'")
        result = connection.execute(query)
        names = [column[0] for column in result.description or []]
        results[name] = [dict(zip(names, row)) for row in result.fetchall()]
    return report, results


def near(found, told, relative=1e-6):
    """Whether two numbers, or lists of them, are the same; None is a number that is not known."""
    if isinstance(told, list):
        return len(found) == len(told) and all(near(*pair, relative) for pair in zip(found, told))
    if found is None or told is None:
        return found is told
    return math.isclose(found, told, rel_tol=relative, abs_tol=1e-12)


# The program rounds times to nanoseconds.
EXACT = 1e-7
# Of Student's and the normal distribution in SQL.
APPROXIMATE = 1e-4


def is_effect(row, effect):
    """Whether a row of the queries is an effect of the report. With few degrees of freedom, SQL's quantiles are not."""
    change = math.log1p(row["change"])
    for kind in ("once", "always") if row["freedom"] > 3 else ():
        ends = [math.log1p(effect[kind][end]) for end in ("low", "high")]
        found = [math.log1p(row[f"{kind}_{end}"]) for end in ("low", "high")]
        width = ends[1] - ends[0]
        assert all(abs(one - other) < APPROXIMATE * width for one, other in zip(found, ends)), (row, effect)
    return math.isclose(change, math.log1p(effect["change"]), abs_tol=EXACT)


def test_each_query_gives_the_numbers_of_the_report(asked):
    report, results = asked
    findings = report["findings"]
    comparison = findings["comparisons"][0]
    is_slots = report["since_switch"] is not None

    for row, arm in zip(results["arms"], findings["arms"], strict=True):
        for name in ("throughput_bps", "throughput_p5_bps", "resent", "unfinished"):
            assert near(row[name], arm[name], EXACT), name
    for row, arm in zip(results["classes"], findings["arms"], strict=True):
        assert near([row[name] for name in ("none", "to_1", "to_5", "more")], arm["resent_classes"])
    assert results["observed"] == [findings["observed"]]

    balance = findings["balance"]
    (units,) = results["units"]
    assert units["units"] == balance["units"] and units["connections"] == balance["connections"]
    # With one degree of freedom.
    assert near(math.erfc(math.sqrt(units["chi_square"] / 2)), balance["p"])
    (connections,) = results["connections"]
    assert near(connections["p"], balance["p_connections"], APPROXIMATE)

    told = [row for row in comparison["measures"] if row["unadjusted"]]
    assert len(told) >= 5
    ranks = sorted(range(len(told)), key=lambda place: told[place]["unadjusted"]["p"])
    most, corrected = 0, {}
    for rank, place in enumerate(ranks):
        most = max(most, told[place]["unadjusted"]["p"] * (len(told) - rank))
        corrected[place] = min(most, 1)
    for place, (row, of) in enumerate(zip(results["corrected"], told, strict=True)):
        assert row["measure"] == of["measure"] and is_effect(row, of["unadjusted"])
        assert near(row["p_corrected"], corrected[place], 1e-3), of

    groups = comparison["groups"] + comparison["small"] + comparison["resent"]
    groups = {(row["group"], row["measure"]): row for row in groups}
    assert len(groups) == len(results["groups"]) and groups
    for row in results["groups"]:
        of = groups[row["grp"], row["measure"]]
        assert is_effect(row, of["effect"]) and near(row["p_corrected"], of["p_corrected"], 1e-3)

    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    cells = {(row["measure"], float(row["share"])): row["change"] for row in results["map"]}
    for of in comparison["heat"]:
        assert near([cells.pop((of["measure"], share), None) for share in shares], of["changes"], EXACT)
    assert not cells

    assert report["study"] == "small" or any(row["throughput_p5_bps"] for row in results["timeline"])
    bins = {(of["from_unix_s"], arm): values for of in report["timeline"]["bins"] for arm, values in enumerate(of["arms"])}
    for row in results["timeline"]:
        values = bins[row["from_unix_s"], row["arm"]]
        assert near([row[name] for name in values], list(values.values()), EXACT)
    assert sum(row["large"] for row in results["timeline"]) == sum(values["large"] for values in bins.values()) > 0

    if is_slots:
        since_the_switch(report["since_switch"], results)


def since_the_switch(since, results):
    carryover = {(row["grp"], row["measure"]): row for row in results["carryover"]}
    values = {(row["from_s"], row["arm"], row["measure"]): row for row in results["since"]}
    sending = {row["from_s"]: row["of_others"] for row in results["sending"]}
    intervals = 0
    for of in since["bins"]:
        assert near(sending.get(of["from_s"]), of["of_others"], 1e-5)
        for arm, told in enumerate(of["arms"]):
            for value in told["measures"]:
                row = values.get((of["from_s"], arm, value["measure"]), {"value": None, "observations": 0})
                assert near(row["value"], value["value"], EXACT) and row["observations"] == value["observations"]
                row = carryover.pop((f"{of['from_s']} s, arm {arm}", value["measure"]), None)
                assert (row is None) == (value["carryover"] is None)
                if row:
                    intervals += of["is_evaluated"]
                    assert is_effect(row, value["carryover"])
    for arm, told in enumerate(since["behind"]["arms"]):
        for value in told["measures"]:
            assert is_effect(carryover.pop((f"behind, arm {arm}", value["measure"])), value["carryover"])
    assert not carryover and intervals == since["intervals"] > 0
    # What the arm before has left: a third of the throughput, in the first half minute.
    before = [told["measures"][0]["carryover"] for told in since["bins"][0]["arms"]]
    assert all(effect["change"] < -0.1 for effect in before if effect)


def test_the_distributions_are_those_of_tables():
    connection = duckdb.connect()
    connection.execute(queries()["distributions"])
    ask = lambda text: connection.execute(f"select {text}").fetchone()[0]
    for z, p in [(0, 0.5), (1.644854, 0.05), (1.959964, 0.025), (4, 3.167124e-5), (-1.959964, 0.975)]:
        assert near(ask(f"tail({z})"), p)
    # Of the table of Student's distribution: 2.5 % and 0.05 %.
    for z, freedom, t in [(1.959964, 5, 2.570582), (1.959964, 20, 2.085963), (1.959964, 100, 1.983972), (3.290527, 20, 3.849516)]:
        assert near(ask(f"student({z}, {freedom}::double)"), t, 1e-5)
        assert near(ask(f"normal({t}, {freedom}::double)"), z, 1e-5)
    assert near(ask("student(1.959964, 1e6)"), 1.959964, 1e-5)


def test_each_number_of_arms_has_its_z():
    connection = duckdb.connect()
    macros, _ = queries()["effects"].split("create or replace view effects")
    for query in (queries()["distributions"], queries()["plan"], macros):
        connection.execute(query)
    for arms in range(2, 9):
        connection.execute(f"create or replace table plan as select range as arm, 1 / {arms} as share from range({arms})")
        (doubt,) = connection.execute("select 2 * tail(z()) * others()").fetchone()
        assert near(doubt, 0.05, 1e-5)
