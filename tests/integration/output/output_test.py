"""The program's standard output where it can't be written to."""
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from servers import OUTCOMED  # noqa: E402

LONG = ["check", "--print-schema"]  # More than a pipe holds.


class Output(unittest.TestCase):
    def test_a_full_disk_is_said_and_ends_with_74(self):
        with open("/dev/full", "wb") as full:
            ended = subprocess.run([OUTCOMED, *LONG], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(ended.returncode, 74)
        self.assertEqual(ended.stderr,
                         "outcomed: can't write to standard output; what was printed isn't whole\n")

    def test_a_reader_that_has_enough_hears_nothing(self):
        reading, writing = os.pipe()
        child = subprocess.Popen([OUTCOMED, *LONG], stdout=writing, stderr=subprocess.PIPE, text=True)
        os.close(writing)
        os.read(reading, 1)
        os.close(reading)
        self.assertEqual(child.communicate()[1], "")
        self.assertEqual(child.returncode, 74)


if __name__ == "__main__":
    unittest.main(verbosity=2)
