"""Settings files: where they are found, which one wins, and what is refused or never shown."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import platformdirs
import pytest
from pydantic import SecretStr

from graphmem import setting_files
from graphmem.errors import ConfigurationError
from graphmem.model import RecallPolicy
from graphmem.model.policies import ConsolidationPolicy, PrunePolicy, UpkeepPolicy
from graphmem.setting_files import Source
from graphmem.settings import FIELDS, SOURCE_WEIGHTS, Settings

SECRET = "correct horse battery"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, in a configuration folder of this test's own; nothing else is set."""
    monkeypatch.delenv(setting_files.CONFIG)
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setattr(platformdirs, "user_config_path", lambda *_, **__: folder)
    return folder / "graphmem.toml"


@pytest.fixture
def project(tmp_path: Path, user: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, two folders below which the process works."""
    root = tmp_path / "project"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    monkeypatch.chdir(root / "src" / "deep")
    return root


def refusal() -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        Settings.load()
    return caught.value


def test_each_place_comes_before_the_next(
    project: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Explicit argument > environment > .env > the project's file > the user's > default."""
    own = dict.fromkeys(("tenant", "scope", "language", "user", "database"), "user")
    of_project = dict.fromkeys(("tenant", "scope", "language", "user"), "project")
    user.write_text("".join(f'{name} = "{value}"\n' for name, value in own.items()))
    (project / "graphmem.toml").write_text(
        "".join(f'{name} = "{value}"\n' for name, value in of_project.items())
    )
    dotenv = [f"GRAPHMEM_{name}=dotenv" for name in ("TENANT", "SCOPE", "LANGUAGE")]
    (project / ".env").write_text("\n".join([*dotenv, "OPENAI_API_KEY=other", "broken line"]))
    monkeypatch.setenv("GRAPHMEM_TENANT", "environment")
    monkeypatch.setenv("GRAPHMEM_SCOPE", "environment")

    known, origins = Settings.load_with_origins(tenant="argument")

    assert (known.tenant, known.scope, known.language) == ("argument", "environment", "dotenv")
    assert (known.user, known.database, known.browser) == ("project", "user", None)
    assert origins["tenant"] == "argument"
    assert origins["scope"] == "environment"
    assert origins["language"] == str(project / ".env")
    assert origins["user"] == str(project / "graphmem.toml")
    assert origins["database"] == str(user)
    assert origins["browser"] == "default"
    assert origins.keys() == FIELDS.keys() == known.shown().keys()


def test_each_key_of_a_policy_is_a_setting(
    project: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.write_text(
        "[consolidation]\nmin_episodes = 1\nnew_episodes = 2\ninterval_hours = 3\n"
        '[recall]\nscore = "fused"\nmin_similarity = 0.5\nlate_interaction = false'
    )
    (project / "graphmem.toml").write_text(
        "pruning.archive_days = 7.5\n[consolidation]\nmin_episodes = 4\nnew_episodes = 5"
    )
    (project / ".env").write_text("GRAPHMEM_UPKEEP__COMPRESS_DAYS=9")
    monkeypatch.setenv("GRAPHMEM_CONSOLIDATION__MIN_EPISODES", "6")
    monkeypatch.setenv("GRAPHMEM_RECALL__MARK_OUTDATED", "false")

    known, origins = Settings.load_with_origins()

    assert known.consolidation == ConsolidationPolicy(
        min_episodes=6, new_episodes=5, interval_hours=3
    )
    assert known.upkeep == UpkeepPolicy(compress_days=9)
    assert known.pruning == PrunePolicy(archive_days=7.5)
    assert known.recall == RecallPolicy(
        score="fused", min_similarity=0.5, late_interaction=False, mark_outdated=False
    )
    assert origins["consolidation.min_episodes"] == "environment"
    assert origins["consolidation.new_episodes"] == str(project / "graphmem.toml")
    assert origins["consolidation.interval_hours"] == str(user)
    assert origins["consolidation.max_attempts"] == "default"
    assert origins["upkeep.compress_days"] == str(project / ".env")
    assert known.shown()["consolidation.min_episodes"] == 6


def test_a_policy_in_an_argument_replaces_all_of_its_keys(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_UPKEEP__ACCESSES", "9")
    own = UpkeepPolicy(importance=0.5)
    known, origins = Settings.load_with_origins(upkeep=own)
    assert known.upkeep == own
    assert {origins[f"upkeep.{key}"] for key in UpkeepPolicy.model_fields} == {"argument"}
    assert Settings.load(upkeep={"importance": 0.5}).upkeep.accesses == 9


@pytest.mark.parametrize(
    ("text", "key", "constraint"),
    [
        ("[consolidation]\nmin_episodes = 0", "consolidation.min_episodes", "or equal to 1"),
        ("[upkeep]\nimportance = 1.5", "upkeep.importance", "less than or equal to 1"),
        ("[pruning]\narchive_days = -1", "pruning.archive_days", "or equal to 0"),
        ('[recall]\nscore = "best"', "recall.score", "'blended', 'fused'"),
        ("[recall]\npool = []", "recall.pool", "valid integer"),
        ("recall = 3", "recall", "must be a table"),
    ],
)
def test_a_wrong_value_of_a_policy_is_refused_with_its_place(
    project: Path, user: Path, text: str, key: str, constraint: str
) -> None:
    user.write_text(text)
    message = refusal().message
    assert f"{key} in {user}: " in message
    assert constraint in message


def test_a_wrong_variable_of_a_policy_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_CONSOLIDATION__MIN_EPISODES", "few")
    assert "GRAPHMEM_CONSOLIDATION__MIN_EPISODES: " in refusal().message
    monkeypatch.setenv("GRAPHMEM_CONSOLIDATION__MIN_EPISODES", "1")
    monkeypatch.setenv("GRAPHMEM_CONSOLIDATION", "{}")
    assert "GRAPHMEM_CONSOLIDATION: " in refusal().message


def test_weights_in_a_variable_are_merged_into_the_defaults(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_SOURCE_WEIGHTS", '{"RULE": 0.7}')
    assert Settings.load().source_weights == {**SOURCE_WEIGHTS, "RULE": 0.7}


def test_every_setting_is_described() -> None:
    assert [name for name, field in FIELDS.items() if not field.description] == []


def test_given_variables_are_read_without_files(project: Path) -> None:
    (project / "graphmem.toml").write_text('tenant = "project"')
    assert Settings.load().tenant == "project"
    assert Settings.load({}).tenant == "default"


def test_the_nearest_file_above_is_read(project: Path, tmp_path: Path) -> None:
    (tmp_path / "graphmem.toml").write_text('tenant = "above"')
    assert Settings.load().tenant == "above"
    (project / "src" / "graphmem.toml").write_text('tenant = "near"')
    assert Settings.load().tenant == "near"


def test_dotenv_is_of_the_project_only(project: Path, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GRAPHMEM_TENANT=above")
    assert Settings.load().tenant == "default"
    (project / ".env").write_text("GRAPHMEM_TENANT=project")
    assert Settings.load().tenant == "project"


def test_dotenv_without_a_project_is_that_of_the_working_directory(
    tmp_path: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(setting_files, "PROJECT_MARKS", ())
    (tmp_path / ".env").write_text("GRAPHMEM_TENANT=above")
    assert Settings.load().tenant == "default"
    (here / ".env").write_text('export GRAPHMEM_TENANT="here" # ours')
    assert Settings.load().tenant == "here"


def test_a_variable_names_the_only_file(
    project: Path, user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.write_text('tenant = "user"')
    (project / "graphmem.toml").write_text('scope = "project"')
    named = tmp_path / "named.toml"
    named.write_text('database = "named"\nhome = "data"')
    monkeypatch.setenv("GRAPHMEM_CONFIG", str(named))
    known = Settings.load()
    assert (known.tenant, known.scope, known.database) == ("default", "global", "named")
    assert known.home == tmp_path / "data"
    monkeypatch.setenv("GRAPHMEM_CONFIG", os.devnull)
    assert Settings.load() == Settings()
    monkeypatch.setenv("GRAPHMEM_CONFIG", str(tmp_path / "absent.toml"))
    assert "absent.toml" in refusal().message


def test_values_have_the_types_of_toml_and_are_literal_in_dotenv(project: Path, user: Path) -> None:
    user.write_text("bolt_port = 1234\naccess_log = false\n[source_weights]\nRULE = 0.7\n")
    (project / ".env").write_text("GRAPHMEM_PASSWORD='a${HOME}b'\nGRAPHMEM_METRICS=yes")
    (project / ".env").chmod(0o600)
    known = Settings.load()
    assert (known.bolt_port, known.access_log, known.metrics) == (1234, False, True)
    assert (known.source_weights["RULE"], known.source_weights["TOOL"]) == (0.7, 1.0)
    assert known.password is not None
    assert known.password.get_secret_value() == "a${HOME}b"


@pytest.mark.parametrize(
    ("name", "text", "key", "near"),
    [
        ("graphmem.toml", 'modle = "x"', "modle", "did you mean model?"),
        ("graphmem.toml", '[settings]\nmodel = "x"', "settings", "no such setting"),
        (".env", "GRAPHMEM_MODLE=x", "GRAPHMEM_MODLE", "did you mean GRAPHMEM_MODEL?"),
        ("graphmem.toml", "[pruning]\narchive = 3", "pruning.archive", "pruning.archive_days?"),
        ("graphmem.toml", "[consolidaton]\nx = 3", "consolidaton", "did you mean consolidation?"),
        ("graphmem.toml", "[recall.trace]\nweight = 0", "recall.trace", "no such setting"),
        (
            ".env",
            "GRAPHMEM_UPKEEP__IMPORTENCE=1",
            "GRAPHMEM_UPKEEP__IMPORTENCE",
            "did you mean GRAPHMEM_UPKEEP__IMPORTANCE?",
        ),
    ],
)
def test_an_unknown_key_is_refused_with_its_file(
    project: Path, name: str, text: str, key: str, near: str
) -> None:
    path = project / name
    path.write_text(text)
    message = refusal().message
    assert f"{key} in {path}: " in message
    assert near in message


def test_an_unknown_variable_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_MODLE", "x")
    message = refusal().message
    assert "GRAPHMEM_MODLE: no such setting; did you mean GRAPHMEM_MODEL?" in message


def test_a_wrong_value_is_refused_with_its_file(project: Path, user: Path) -> None:
    user.write_text('bolt_port = "many"')
    assert f"bolt_port in {user}: " in refusal().message


@pytest.mark.parametrize(
    "text",
    [
        f'password = "{SECRET}',
        f"password = {SECRET}",
        f'password = ["{SECRET}"]',
        f'"{SECRET}"',
        f'uri = "bolt://neo4j:{SECRET}@host"\nmax_pool_size = "{SECRET}"',
    ],
)
def test_an_unusable_file_is_refused_without_showing_it(
    user: Path, project: Path, text: str
) -> None:
    user.write_text(text)
    error = refusal()
    assert str(user) in error.message
    for word in SECRET.split():
        assert word not in f"{error} {error!r}"


def test_a_file_that_is_no_text_is_refused(user: Path, project: Path) -> None:
    user.write_bytes(b"\xff\xfe")
    assert "UTF-8" in refusal().message
    user.write_text("#" * (setting_files.MAX_BYTES + 1))
    assert "1,000,000" in refusal().message
    user.write_text("tenant = " + "[" * 5_000)
    assert "nested too deeply" in refusal().message


@pytest.mark.skipif(os.name != "posix", reason="modes are not available")
def test_a_password_that_others_can_read_gives_a_warning(
    user: Path, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    user.write_text(f'password = "{SECRET}"')
    user.chmod(0o644)
    known = Settings.load()
    [warned] = [record.getMessage() for record in caplog.records]
    assert str(user) in warned
    assert "chmod 600" in warned
    assert SECRET not in f"{warned} {known!r} {known.model_dump_json()}"
    caplog.clear()
    user.chmod(0o600)
    Settings.load()
    user.write_text('tenant = "no secret"')
    user.chmod(0o644)
    with caplog.at_level(logging.DEBUG):
        Settings.load()
    assert caplog.records == []


@pytest.mark.parametrize("name", ["java", "home", "cache", "maven_mirror", "serve_keys"])
def test_a_project_cannot_choose_what_is_executed_or_who_has_access(
    project: Path, user: Path, tmp_path: Path, name: str
) -> None:
    user.write_text(f'{name} = "own"')
    user.chmod(0o600)
    assert name in Settings.load().model_fields_set
    (project / "graphmem.toml").write_text(f'{name} = "evil"')
    error = refusal()
    assert f"{name} in {project / 'graphmem.toml'}" in error.message
    assert f"GRAPHMEM_{name.upper()}" in error.hint
    (project / "graphmem.toml").unlink()
    (project / ".env").write_text(f"GRAPHMEM_{name.upper()}=evil")
    assert str(project / ".env") in refusal().message


@pytest.mark.parametrize("name", ["password", "model_key", "embedder_key", "reranker_key"])
def test_a_project_has_its_secrets_in_dotenv(project: Path, user: Path, name: str) -> None:
    """A graphmem.toml is usually part of the repository, .env is not."""
    file, dotenv = project / "graphmem.toml", project / ".env"
    file.write_text(f'{name} = "{SECRET}"')
    error = refusal()
    assert f"{name} in {file}: a project's file cannot set it" in error.message
    assert ".env" in error.hint
    assert SECRET not in f"{error} {error!r}"
    file.rename(user)
    user.chmod(0o600)
    assert shown(getattr(Settings.load(), name)) == SECRET
    dotenv.write_text(f"GRAPHMEM_{name.upper()}=theirs")
    dotenv.chmod(0o600)
    assert shown(getattr(Settings.load(), name)) == "theirs"


SERVICES = {
    "reranker": "http://theirs/rerank",
    "model_url": "http://theirs/v1",
    "model": "huggingface/https://theirs/v1",
    "embedder_url": "http://theirs/v1",
    "embedder": "huggingface/https://theirs/v1",
    "browser": "http://theirs/browser",
    "explorer": "http://theirs/explorer",
}


@pytest.mark.parametrize(("setting", "value"), SERVICES.items())
def test_no_content_of_the_users_graph_is_sent_to_an_address_of_a_project(
    project: Path, user: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: str
) -> None:
    file = project / "graphmem.toml"
    for own in ("", 'uri = "bolt://own"'):
        user.write_text(own)
        file.write_text(f'{setting} = "{value}"')
        error = refusal()
        assert f"{setting} in {file}: " in error.message
        assert f"GRAPHMEM_{setting.upper()}" in error.hint
    for here in ("http://localhost:11434/v1", "http://127.0.0.1:4000", "http://[::1]:4000/"):
        file.write_text(f'{setting} = "{here}"')
        assert getattr(Settings.load(), setting) == here
    for trick in ("http://localhost@theirs/", "http://localhost.theirs/", "http://theirs#@[::1]/"):
        file.write_text(f'{setting} = "{trick}"')
        refusal()
    # A project may have a graph and services of its own.
    file.write_text(f'uri = "bolt://theirs"\n{setting} = "{value}"')
    assert getattr(Settings.load(), setting) == value
    # A setting of the environment comes first.
    file.write_text(f'{setting} = "{value}"')
    monkeypatch.setenv(f"GRAPHMEM_{setting.upper()}", "http://own")
    assert getattr(Settings.load(), setting) == "http://own"


@pytest.mark.parametrize(
    ("address", "credential", "own"),
    [("uri", "PASSWORD", "uri"), ("model_url", "MODEL_KEY", "model")],
)
def test_a_credential_of_the_environment_is_not_sent_to_another_address(
    project: Path,
    user: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    credential: str,
    own: str,
) -> None:
    file = project / "graphmem.toml"
    file.write_text('uri = "bolt://theirs"\nmodel_url = "http://theirs"')
    monkeypatch.setenv(f"GRAPHMEM_{credential}", SECRET)
    assert shown(getattr(Settings.load(), credential.lower())) == SECRET
    user.write_text(f'{own} = "own"')
    error = refusal()
    assert f"{address} in {file}: GRAPHMEM_{credential} is not sent" in error.message
    assert f"GRAPHMEM_{address.upper()}" in error.hint
    monkeypatch.setenv(f"GRAPHMEM_{address.upper()}", "bolt://own")
    monkeypatch.setenv("GRAPHMEM_MODEL_URL", "http://own")
    assert shown(getattr(Settings.load(), credential.lower())) == SECRET


def test_the_users_password_is_not_sent_to_an_address_of_a_project(
    project: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.write_text(
        f'uri = "bolt://own"\npassword = "{SECRET}"\nuser = "me"\nmodel_key = "{SECRET}"\n'
        'tenant = "mine"'
    )
    user.chmod(0o600)
    assert Settings.load().password is not None
    (project / "graphmem.toml").write_text('uri = "bolt://theirs"\nmodel_url = "http://theirs"')
    known = Settings.load()
    assert (known.uri, known.password, known.user) == ("bolt://theirs", None, "neo4j")
    assert (known.model_url, known.tenant) == ("http://theirs", "mine")
    assert SECRET not in shown(known.model_key)
    (project / "graphmem.toml").write_text('uri = "bolt://theirs"')
    assert Settings.load(uri="bolt://given").user == "me"


def shown(key: SecretStr | None) -> str:
    return key.get_secret_value() if key else ""


@pytest.mark.parametrize(
    ("setting", "value"),
    [(name, at) for name, at in SERVICES.items() if name not in {"browser", "explorer"}],
)
def test_no_key_of_the_user_is_sent_to_a_service_of_a_project(
    project: Path, user: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: str
) -> None:
    key = setting.removesuffix("_url") + "_key"
    user.write_text(f'{key} = "{SECRET}"\n{setting.removesuffix("_url")} = "openai/own"')
    user.chmod(0o600)
    assert shown(getattr(Settings.load(), key)) == SECRET
    (project / "graphmem.toml").write_text(f'uri = "bolt://theirs"\n{setting} = "{value}"')
    # With no key at all, litellm would send that of the provider's variable.
    assert shown(getattr(Settings.load(), key)) == setting_files.NO_KEY
    # A name alone leads to the provider of that name, whose own variable has a key for it.
    if setting.endswith(("model", "embedder", "reranker")):
        (project / "graphmem.toml").write_text(
            f'uri = "bolt://theirs"\n{setting} = "cohere/theirs"'
        )
        assert getattr(Settings.load(), key) is None
    (project / "graphmem.toml").write_text(f'uri = "bolt://theirs"\n{setting} = "{value}"')
    (project / ".env").write_text(f"GRAPHMEM_{key.upper()}=theirs")
    assert shown(getattr(Settings.load(), key)) == "theirs"
    user.unlink()
    monkeypatch.setenv(f"GRAPHMEM_{key.upper()}", "given here")
    assert shown(getattr(Settings.load(), key)) == "given here"


def chosen(name: str, value: str, *, by: str, **own: str) -> ConfigurationError | None:
    """Return why a project's file may not have a value for the user's own graph; None if it may."""
    file = Source(by, {name: value}, Path("/project") / by, variables=by == ".env", of_project=True)
    sources = [file, Source("own", own, Path("/own.toml"), variables=False)]
    try:
        setting_files.check_addresses(setting_files.merged(sources), sources)
    except ConfigurationError as error:
        return error
    return None


def spellings(provider: str) -> Iterator[str]:
    """Yield names of models that litellm leads to a provider, or to an address behind one."""
    for name in ("model", "mallory/exfil-model", "org/user.app/model", "openai/model"):
        yield f"{provider}/{name}"
        yield f"{provider.upper()}/{name}"
    for address in ("https://theirs/v1", "http://localhost:1/v1", "localhost:1", "127.0.0.1"):
        yield f"{provider}/{address}"
        yield f"{provider}/mallory/{address}"


@pytest.mark.parametrize("by", ["graphmem.toml", ".env"])
@pytest.mark.parametrize("name", ["model", "embedder", "reranker"])
def test_no_spelling_of_a_model_in_a_project_gets_content_of_the_users_graph(
    name: str, by: str
) -> None:
    from graphmem.models.service import import_litellm

    litellm = import_litellm()
    providers = [str(getattr(one, "value", one)) for one in litellm.provider_list]
    assert len(providers) > 100
    found = {one for provider in providers for one in spellings(provider)} | set(litellm.model_list)
    found |= {"mallory", "Local", " local", "local/x", "hash/http://theirs", "http://localhost@x/"}
    assert [value for value in sorted(found) if chosen(name, value, by=by) is None] == []
    allowed = ["http://localhost:1/v1", "https://127.0.0.1", "http://[::1]:1"]
    allowed += setting_files.LOCAL_EMBEDDERS if name == "embedder" else []
    assert [value for value in allowed if chosen(name, value, by=by)] == []


def test_a_project_names_the_model_behind_an_address_of_the_user() -> None:
    for kind in ("model", "embedder"):
        own = {f"{kind}_url": "https://own/v1", f"{kind}_key": SECRET}
        assert chosen(kind, "openai/theirs", by=".env", **own) is None
        assert chosen(kind, "replicate/theirs", by=".env", **own) is not None
        assert chosen(kind, "openai/theirs", by=".env", **(own | {f"{kind}_url": ""})) is not None
    assert chosen("reranker", "openai/theirs", by=".env") is not None


def test_the_key_of_the_users_model_stays_with_the_address_of_the_user() -> None:
    file = Source("p", {"model": "openai/theirs"}, Path("/p"), variables=False, of_project=True)
    for url, kept in (("https://own/v1", True), ("", False)):
        own = Source("own", {"model_url": url, "model_key": SECRET}, Path("/own"), variables=False)
        assert ("model_key" in setting_files.merged([file, own])) is kept


def test_the_local_embedders_are_those_that_need_no_service() -> None:
    from graphmem.models.local import MODELS

    assert {model.name for model in MODELS} | {"local", "hash"} == set(
        setting_files.LOCAL_EMBEDDERS
    )


@pytest.mark.skipif(os.name != "posix", reason="owners are not available")
def test_a_link_of_another_user_is_refused(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.toml").write_text('tenant = "other"')
    link = project / "graphmem.toml"
    link.symlink_to(tmp_path / "other.toml")
    assert Settings.load().tenant == "other"
    found = os.lstat

    def lstat(path: Path) -> object:
        return SimpleNamespace(st_uid=4242) if path == link else found(path)

    monkeypatch.setattr(Path, "lstat", lstat)
    assert f"{link} belongs to another user" in refusal().message


def test_a_file_of_another_user_is_refused(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graphmem.toml"
    path.write_text('uri = "bolt://theirs"')
    assert Settings.load().uri == "bolt://theirs"
    owner = setting_files.owner
    monkeypatch.setattr(setting_files, "owner", lambda of: 4242 if of == path else owner(of))
    assert f"{path} belongs to another user" in refusal().message
    # A container runs as root in a folder that it was given.
    monkeypatch.setattr(setting_files, "owner", lambda _: 4242)
    assert Settings.load().uri == "bolt://theirs"
