"""What the benchmarks share: CPU and memory of processes, medians, tables, results on disk."""
import json
import os
import pathlib
import platform
import statistics
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build" / "bench-results"
DATA = ROOT / "build" / "bench-data"


def cpu_seconds(pid):
    """CPU of all threads of a process so far, ended ones included, in nanosecond steps."""
    return time.clock_gettime((~pid << 3) | 2)  # What clock_getcpuclockid(3) makes.


def memory(pid, field):
    """VmRSS or VmHWM (the peak) in MB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    return 0


class Finished:
    """A command that ran to its end: wall seconds, CPU seconds, peak RSS in MB, output."""

    def __init__(self, words, limit=900):
        words = [str(word) for word in words]
        began = time.perf_counter()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.peak = 0
        # rusage would tell the peak of the Python that forked: VmHWM begins anew at exec.
        watcher = threading.Thread(target=self._watch, args=(process,))
        watcher.start()
        outputs = [b"", b""]
        readers = [threading.Thread(target=self._read, args=(pipe, outputs, i))
                   for i, pipe in enumerate((process.stdout, process.stderr))]
        for reader in readers:
            reader.start()
        killer = threading.Timer(limit, process.kill)
        killer.start()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        killer.cancel()
        for thread in (*readers, watcher):
            thread.join()
        self.cpu = usage.ru_utime + usage.ru_stime
        self.out, self.err = (output.decode(errors="replace") for output in outputs)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(words)} ended with {process.returncode}:\n{self.err[-3000:]}")

    def _watch(self, process):
        while process.returncode is None:
            try:
                self.peak = max(self.peak, memory(process.pid, "VmHWM"))
            except OSError:
                return
            time.sleep(0.005)

    @staticmethod
    def _read(pipe, outputs, index):
        outputs[index] = pipe.read()


def ms(seconds):
    """Milliseconds with three digits that count."""
    value = seconds * 1000
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} ms"


def ratio(ours, theirs):
    return f"1/{theirs / ours:.3g}" if ours > 0 else "–"


median = statistics.median


def load():
    return os.getloadavg()[0]


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "?")
    return f"{os.cpu_count()} CPUs, {model}, {platform.system()} {platform.release()}"


def markdown(headings, rows):
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def publish(name, tables, details):
    """Prints the tables and keeps everything below build/bench-results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    details = {"benchmark": name, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
               "machine": machine(), **details}
    (RESULTS / f"{name}.json").write_text(json.dumps(details, indent=1) + "\n")
    text = "\n\n".join(tables)
    (RESULTS / f"{name}.md").write_text(text + "\n")
    print(f"\n{text}\n\n{machine()}; all of it in build/bench-results/{name}.json", flush=True)


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)
