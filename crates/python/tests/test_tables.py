"""Tables are Arrow's, and lie where they lie."""

import fullpipe
import pytest

np = pytest.importorskip("numpy")


@pytest.fixture
def record(scenario):
    return fullpipe.run(scenario)


def address(column):
    return column.__array_interface__["data"][0]


def test_numpy_shares_their_memory(record):
    column = record.samples["cwnd_bytes"]
    array = np.asarray(column)
    assert array.dtype == np.int64 and len(array) == len(record.samples) == len(column)
    assert array.__array_interface__["data"][0] == address(column) == address(record.samples["cwnd_bytes"])
    assert not array.flags.writeable
    first = column[0]
    del column, record
    assert array[0] == first


def test_missing_numbers_are_nan(record):
    # BBR has no slow-start threshold.
    column = record.samples["ssthresh_bytes"]
    array = np.asarray(column)
    values = list(column)
    assert None in values and min(filter(None, values)) >= 2 * 1448
    assert [value is None for value in values] == list(np.isnan(array))
    assert array.dtype == np.float64


def test_texts_are_read_item_by_item(record):
    column = record.samples["controller"]
    assert {column[0], column[-1]} == {"bbr1", "cubic"}
    assert set(np.asarray(column)) == {"bbr1", "cubic"}


def test_wrong_names_and_places_are_answered(record):
    with pytest.raises(KeyError, match="cwnd_bytes"):
        record.samples["cwnd"]
    with pytest.raises(KeyError, match="did you mean cwnd_bytes[?] there are "):
        record.samples["cwnd_byte"]
    with pytest.raises(TypeError, match="^column: .*give its name"):
        record.samples[0]
    for place in (len(record.samples), -1 - len(record.samples)):
        with pytest.raises(IndexError, match="rows"):
            record.samples["at_s"][place]


def test_pyarrow_takes_them_without_a_copy(record):
    pa = pytest.importorskip("pyarrow")
    for name in ("samples", "throughput", "queue", "transfers"):
        table = getattr(record, name)
        taken = pa.table(table)
        assert taken.column_names == table.column_names
        assert taken.num_rows == len(table)
        taken.validate(full=True)
    taken = pa.table(record.samples)
    for name in ("cwnd_bytes", "at_s"):
        chunk, = taken[name].chunks
        assert chunk.buffers()[1].address == address(record.samples[name])
    assert pa.types.is_dictionary(taken.schema.field("state").type)
    assert pa.schema(record.samples) == taken.schema


def test_they_are_what_the_files_have(record, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    record.write(tmp_path / "out")
    for name in ("samples", "throughput", "queue", "transfers"):
        written = parquet.read_table(tmp_path / "out" / f"{name}.parquet")
        assert pa.table(getattr(record, name)).cast(written.schema).equals(written), name


def test_polars_takes_them(record):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(record.samples)
    assert frame.shape == (len(record.samples), len(record.samples.column_names))
    assert frame["cwnd_bytes"].to_list() == list(record.samples["cwnd_bytes"])
    shared = frame["cwnd_bytes"].to_numpy(allow_copy=False)
    assert shared.__array_interface__["data"][0] == address(record.samples["cwnd_bytes"])
    shares = frame.group_by("controller").agg(pl.col("delivered_bytes").max())
    assert set(shares["controller"]) == {"bbr1", "cubic"}


def test_pandas_takes_them(record):
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    if hasattr(pd.DataFrame, "from_arrow"):
        frame = pd.DataFrame.from_arrow(record.samples)
    else:
        frame = pa.table(record.samples).to_pandas()
    assert frame["rtt_ms"].median() == pytest.approx(np.nanmedian(np.asarray(record.samples["rtt_ms"])))


def test_duckdb_takes_them(record):
    duckdb = pytest.importorskip("duckdb")
    samples = record.samples
    found = duckdb.sql("select count(*), max(cwnd_bytes) from samples").fetchall()
    assert found[0] == (len(samples), max(samples["cwnd_bytes"]))


def test_slices_are_columns(record):
    for name in ("cwnd_bytes", "rtt_ms", "ssthresh_bytes", "controller"):
        column = record.samples[name]
        values = list(column)
        for of in (slice(5, 20), slice(None, None, -1), slice(0, None, 7), slice(-3, None), slice(9, 3)):
            assert list(column[of]) == values[of], (name, of)
    column = record.samples["cwnd_bytes"]
    assert address(column[3:]) == address(column) + 3 * 8
    assert np.asarray(column[3:9]).tolist() == list(column[3:9])
    with pytest.raises(TypeError, match="a slice"):
        column["x"]
    with pytest.raises(ValueError):
        column[::0]


def test_a_column_alone_is_arrows_too(record):
    pa = pytest.importorskip("pyarrow")
    for name in ("cwnd_bytes", "ssthresh_bytes", "state"):
        taken = pa.array(record.samples[name])
        assert taken.to_pylist() == list(record.samples[name])
    assert pa.array(record.samples["cwnd_bytes"]).buffers()[1].address == address(record.samples["cwnd_bytes"])
    assert pa.array(record.samples["state"][4:8]).to_pylist() == list(record.samples["state"])[4:8]


def test_pandas_takes_them_without_a_copy(record):
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    frame = pa.table(record.samples).to_pandas(types_mapper=pd.ArrowDtype)
    chunk, = pa.chunked_array(frame["cwnd_bytes"].array.__arrow_array__()).chunks
    assert chunk.buffers()[1].address == address(record.samples["cwnd_bytes"])
