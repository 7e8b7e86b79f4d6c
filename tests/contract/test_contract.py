"""The contract: what is checked in is what the program says, and it only ever grows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from studio_tui.application import errors
from studio_tui.application.contract.additive import breaks
from studio_tui.application.contract.documents import contract
from studio_tui.application.contract.operations import operations
from studio_tui.cli.contract import as_text, read_contract
from studio_tui.cli.main import run
from studio_tui.cli.printed import printed
from studio_tui.cli.trouble import report

V1 = Path(__file__).parent / "v1"
Contract = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def said() -> Contract:
    """What the program says now."""
    return contract(printed())


@pytest.fixture(scope="module")
def checked_in() -> Contract:
    """What is checked in."""
    return read_contract(V1) or {}


def validator(said: Contract, kind: str, name: str) -> Draft202012Validator:
    """What judges a document of this name."""
    document = said[f"{kind}.json"]
    return Draft202012Validator({**document["schemas"][name], "$defs": document["$defs"]})


def test_what_is_checked_in_is_what_the_program_says(said: Contract, checked_in: Contract) -> None:
    assert breaks(checked_in, said) == (), "within major version 1 a contract only grows"
    stale = [name for name in said if said[name] != checked_in.get(name)]
    assert not stale, f"write it anew: studio-tui contract {V1.relative_to(Path.cwd())}"
    assert set(said) == set(checked_in)


def test_every_operation_has_schemas_and_examples(said: Contract) -> None:
    named = {operation["name"] for operation in said["operations.json"]["operations"]}
    assert named == {operation.name for operation in operations()}
    for operation in operations():
        for parameter in operation.parameters:
            assert (f"{operation.name}:{parameter.name}" in said["inputs.json"]["schemas"]) == parameter.is_data
        assert (operation.name in said["results.json"]["schemas"]) == (operation.result is not type(None))


@pytest.mark.parametrize("kind", ["inputs", "results", "errors", "cli"])
def test_every_schema_is_one_and_its_example_is_an_example_of_it(said: Contract, kind: str) -> None:
    document = said[f"{kind}.json"]
    Draft202012Validator.check_schema({"$defs": {**document["schemas"], **document["$defs"]}})
    for name in document["schemas"]:
        faults = [fault.message for fault in validator(said, kind, name).iter_errors(said["examples.json"][kind][name])]
        assert not faults, (name, faults)


def test_every_example_of_what_goes_in_is_taken(said: Contract) -> None:
    for operation in operations():
        for parameter in operation.parameters:
            if parameter.is_data:
                found = said["examples.json"]["inputs"][f"{operation.name}:{parameter.name}"]
                TypeAdapter(parameter.type).validate_python(found)


def test_unknown_fields_and_wrong_types_are_refused_by_schema_and_model_alike(said: Contract) -> None:
    for operation in operations():
        for parameter in operation.parameters:
            example = said["examples.json"]["inputs"].get(f"{operation.name}:{parameter.name}")
            if not isinstance(example, dict):
                continue
            for wrong in ({**example, "surprise": 1}, dict.fromkeys(example, object)):
                with pytest.raises(ValueError, match="validation error"):
                    TypeAdapter(parameter.type).validate_python(wrong)
            schema = validator(said, "inputs", f"{operation.name}:{parameter.name}")
            assert not schema.is_valid({**example, "surprise": 1})


# --- what breaks a contract, shown on doctored ones ----------------------------------------------------------------------


def _definition(found: Contract, file: str, name: str) -> dict[str, Any]:
    return found[file]["$defs"][name]


def _drop_result_field(found: Contract) -> None:
    del _definition(found, "results.json", "RunSummary")["properties"]["state"]


def _rename_result_field(found: Contract) -> None:
    fields = _definition(found, "results.json", "Project")["properties"]
    fields["colour"] = fields.pop("github")


def _drop_printed_field(found: Contract) -> None:
    del _definition(found, "cli.json", "ShowSummary")["properties"]["topic"]


def _make_result_nullable(found: Contract) -> None:
    fields = _definition(found, "results.json", "SaveResult")["properties"]
    fields["version"] = {"anyOf": [fields["version"], {"type": "null"}]}


def _change_result_type(found: Contract) -> None:
    _definition(found, "results.json", "SaveResult")["properties"]["version"]["type"] = "string"


def _drop_enum_value(found: Contract) -> None:
    _definition(found, "results.json", "StateWord")["enum"].remove("FAIL")


def _let_a_result_field_be_left_out(found: Contract) -> None:
    _definition(found, "results.json", "Page_RunSummary_")["required"].remove("has_next")


def _need_a_new_field(found: Contract) -> None:
    command = _definition(found, "inputs.json", "SaveDefinition")
    command["properties"]["reviewer"] = {"type": "string"}
    command["required"].append("reviewer")


def _need_an_old_field(found: Contract) -> None:
    _definition(found, "inputs.json", "SaveDefinition")["required"].append("message")


def _take_no_null_any_more(found: Contract) -> None:
    fields = _definition(found, "inputs.json", "SaveDefinition")["properties"]
    fields["message"] = {"type": "string"}


def _narrow_a_limit(found: Contract) -> None:
    _definition(found, "inputs.json", "ArtifactQuery")["properties"]["preview_limit_bytes"]["maximum"] = 1024


def _change_a_default(found: Contract) -> None:
    _definition(found, "inputs.json", "ArtifactQuery")["properties"]["preview_limit_bytes"]["default"] = 1024


def _take_a_kind_less(found: Contract) -> None:
    _definition(found, "inputs.json", "SaveDefinition")["properties"]["kind"]["enum"].remove("skill")


def _take_only_some_values(found: Contract) -> None:
    _definition(found, "inputs.json", "SaveDefinition")["properties"]["name"]["enum"] = ["helper"]


def _let_any_word_come(found: Contract) -> None:
    del _definition(found, "results.json", "StateWord")["enum"]


def _drop_an_operation(found: Contract) -> None:
    found["operations.json"]["operations"].pop()


def _drop_an_error(found: Contract) -> None:
    del found["errors.json"]["schemas"]["conflict"]


def _drop_a_verb(found: Contract) -> None:
    del found["cli.json"]["schemas"]["runs list"]


def _answer_nothing(found: Contract) -> None:
    found["operations.json"]["operations"][0]["returns_something"] = False


BREAKS = {
    _drop_result_field: "RunSummary.state is gone",
    _rename_result_field: "Project.github is gone",
    _drop_printed_field: "ShowSummary.topic is gone",
    _make_result_nullable: "SaveResult.version",
    _change_result_type: "SaveResult.version: type was integer, is string",
    _drop_enum_value: "StateWord: 'FAIL' is not allowed any more",
    _let_a_result_field_be_left_out: "Page_RunSummary_.has_next may be left out now",
    _need_a_new_field: "SaveDefinition.reviewer has become required",
    _need_an_old_field: "SaveDefinition.message has become required",
    _take_no_null_any_more: "SaveDefinition.message",
    _narrow_a_limit: "ArtifactQuery.preview_limit_bytes: maximum is 1024 now",
    _change_a_default: "ArtifactQuery.preview_limit_bytes: what is assumed when it is left out changed",
    _take_a_kind_less: "SaveDefinition.kind: 'skill' is not allowed any more",
    _take_only_some_values: "SaveDefinition.name: only some values are taken now",
    _let_any_word_come: "StateWord: any value may come now",
    _drop_an_operation: "is gone",
    _drop_an_error: "conflict is gone",
    _drop_a_verb: "runs list is gone",
    _answer_nothing: "is called or answers in another way",
}


@pytest.mark.parametrize("doctor", BREAKS, ids=lambda doctor: doctor.__name__.strip("_"))
def test_a_change_that_takes_something_away_is_found_and_named(said: Contract, doctor: Callable[[Contract], None]) -> None:
    doctored = copy.deepcopy(said)
    doctor(doctored)
    found = breaks(said, doctored)
    assert any(BREAKS[doctor] in sentence for sentence in found), found


def _add_result_field(found: Contract) -> None:
    _definition(found, "results.json", "RunSummary")["properties"]["colour"] = {"type": "string"}
    _definition(found, "results.json", "RunSummary")["required"].append("colour")


def _add_optional_field(found: Contract) -> None:
    _definition(found, "inputs.json", "SaveDefinition")["properties"]["colour"] = {"type": "string", "default": "red"}


def _add_operation(found: Contract) -> None:
    operation = {"name": "runs.paint", "summary": "", "parameters": [], "returns_something": True, "waits": True}
    found["operations.json"]["operations"].append(operation)


def _widen_a_limit(found: Contract) -> None:
    _definition(found, "inputs.json", "ArtifactQuery")["properties"]["preview_limit_bytes"]["maximum"] = 2**30


def _take_another_alternative(found: Contract) -> None:
    _definition(found, "inputs.json", "SaveDefinition")["properties"]["message"]["anyOf"].append({"type": "integer"})


def _take_null_too(found: Contract) -> None:
    fields = _definition(found, "inputs.json", "SaveDefinition")["properties"]
    fields["content"] = {"anyOf": [fields["content"], {"type": "null"}]}


def _add_enum_value(found: Contract) -> None:
    _definition(found, "results.json", "StateWord")["enum"].append("HUM")


def _say_it_better(found: Contract) -> None:
    _definition(found, "results.json", "RunSummary")["description"] = "One run, better said."


@pytest.mark.parametrize(
    "doctor",
    [
        _add_result_field,
        _add_optional_field,
        _add_operation,
        _widen_a_limit,
        _take_another_alternative,
        _take_null_too,
        _add_enum_value,
        _say_it_better,
    ],
    ids=lambda doctor: doctor.__name__.strip("_"),
)
def test_a_change_that_only_adds_breaks_nothing(said: Contract, doctor: Callable[[Contract], None]) -> None:
    doctored = copy.deepcopy(said)
    doctor(doctored)
    assert doctored != said
    assert breaks(said, doctored) == ()


def test_the_command_writes_no_contract_over_one_that_it_would_break(
    tmp_path: Path, said: Contract, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, document in said.items():
        (tmp_path / name).write_text(as_text(document))
    older = (tmp_path / "errors.json").read_text().replace('"identifier"', '"ident"')
    (tmp_path / "errors.json").write_text(older)
    capsys.readouterr()
    assert run(["contract", str(tmp_path)]) == 4
    assert "NotFoundDocument.ident is gone" in capsys.readouterr().err
    assert (tmp_path / "errors.json").read_text() == older
    assert run(["contract", str(tmp_path), "--replace"]) == 0
    assert read_contract(tmp_path) == said


# --- errors --------------------------------------------------------------------------------------------------------------

ERRORS = (
    errors.ValidationFailure(errors.FieldFailure(("spec", 0), "invalid", "must be 1")),
    errors.NotFound("run", "x"),
    errors.Conflict("definition", expected="1", actual="2"),
    errors.Conflict("store", expected=None, actual=None, message="there is one"),
    errors.StateUnavailable("locked", retryable=True),
    errors.ReconciliationRequired("abc", "half done"),
    errors.PermissionDenied("read-only"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_every_error_is_printed_as_its_document_and_ends_with_its_code(
    said: Contract, error: errors.StudioApplicationError, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error, as_json=True) == error.exit_code
    document = json.loads(capsys.readouterr().err)["error"]
    validator(said, "errors", error.code).validate(document)


def test_the_taxonomy_is_closed(said: Contract) -> None:
    kinds = errors.StudioApplicationError.__subclasses__()
    assert {kind.code for kind in kinds} | {"error"} == set(said["errors.json"]["schemas"])
    assert {type(error) for error in ERRORS} == set(kinds)
