"""Twenty processes at once write one file whole, and hold one lock in turn; `tests/proofs` has fifty on each store."""

from pathlib import Path

from tests.store import acts, crowd


def test_a_file_written_by_twenty_at_once_is_one_of_theirs(home: Path) -> None:
    home.mkdir()
    assert crowd.together(acts.write, 20, home) == [None] * 20
    data = (home / "shared").read_bytes()
    assert data in [bytes([number]) * 200_000 for number in range(20)]
    assert [path.name for path in home.iterdir()] == ["shared"]


def test_a_lock_is_held_by_one_at_a_time(home: Path) -> None:
    home.mkdir()
    assert crowd.together(acts.count, 20, home) == [None] * 20
    assert (home / "count").read_text() == "20"
