"""Real LiteLLM gateways, as tests/integration/gateway/install puts them there."""
import json
import os
import pathlib

from processes import fetch, free_port
from servers import SOURCE, program

GATEWAYS = pathlib.Path(os.environ.get("OUTCOMED_GATEWAYS", SOURCE / "build" / "gateways")).resolve()
KEY = "sk-of-the-test"
NOBODY = "http://127.0.0.1:9"


class Gateway:
    """One gateway with one configuration, a dict."""

    def __init__(self, world, version, configuration, name="litellm", proxy=NOBODY):
        """`proxy`: answers for all that isn't at 127.0.0.1; by default it asks nobody else."""
        self.port = free_port()
        self.file = world / f"{name}.yaml"
        self.file.write_text(json.dumps(configuration, indent=1))  # JSON is YAML.
        self.child = world.start(f"{name}-{version}", [
            program(GATEWAYS / version / "bin" / "litellm",
                    "run tests/integration/gateway/install (or set OUTCOMED_GATEWAYS)"),
            "--config", self.file, "--host", "127.0.0.1", "--port", self.port, "--num_workers", "1"],
            f"http://127.0.0.1:{self.port}/health/readiness", 240, cwd=world.folder, env={
                "PATH": os.environ["PATH"], "HOME": str(world.folder), "LANG": "C.UTF-8",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "HTTPS_PROXY": NOBODY, "HTTP_PROXY": proxy, "NO_PROXY": "127.0.0.1,localhost"})

    @property
    def metrics(self):
        return f"http://127.0.0.1:{self.port}/metrics/"

    def page(self):
        status, text = fetch(self.metrics, 30, {"Authorization": f"Bearer {KEY}"})
        if status != 200:
            raise AssertionError(f"{self.metrics} answers {status}: {text[:500]}")
        return text
