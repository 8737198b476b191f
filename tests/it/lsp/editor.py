"""The language server as pytest-lsp meets it; `oracle_editor.rs` starts this in the folder of a project."""

import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

PATH = pathlib.Path("specs/a.yaml").resolve()
URI = PATH.as_uri()
TEXT = PATH.read_text(encoding="utf-8")


@pytest_lsp.fixture(
    params=["visual_studio_code", "neovim", "emacs"],
    config=ClientServerConfig(server_command=[os.environ["KUBEBENCH"], "lsp", "--stdio"]),
)
async def client(request, lsp_client: LanguageClient):
    params = lsp.InitializeParams(
        capabilities=client_capabilities(request.param),
        workspace_folders=[lsp.WorkspaceFolder(uri=pathlib.Path.cwd().as_uri(), name="p")],
    )
    # Editors can this; what plays them here says so, and needs an answer.
    lsp_client.feature(lsp.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
    lsp_client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)(lambda params: None)
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


def opened(client: LanguageClient, text: str) -> None:
    document = lsp.TextDocumentItem(uri=URI, language_id="yaml", version=1, text=text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=document))


def place(text: str, word: str) -> dict:
    before = text[: text.index(word)]
    last = before.rsplit("\n", 1)[-1]
    position = lsp.Position(line=before.count("\n"), character=len(last.encode("utf-16-le")) // 2)
    return {"text_document": lsp.TextDocumentIdentifier(uri=URI), "position": position}


@pytest.mark.asyncio
async def test_findings(client: LanguageClient):
    opened(client, TEXT.replace("timeout", "timeot"))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    assert [finding.code for finding in client.diagnostics[URI]] == ["KB0201"]
    assert client.diagnostics[URI][0].range.start == lsp.Position(line=5, character=2)
    change = lsp.TextDocumentContentChangeWholeDocument(text=TEXT)
    document = lsp.VersionedTextDocumentIdentifier(uri=URI, version=2)
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
    )
    await client.wait_for_notification("textDocument/publishDiagnostics")
    assert list(client.diagnostics[URI]) == []


@pytest.mark.asyncio
async def test_answers(client: LanguageClient):
    opened(client, TEXT)
    at = place(TEXT, "size }}")
    completed = await client.text_document_completion_async(lsp.CompletionParams(**at))
    assert "matrix.size" in [item.label for item in completed]
    found = await client.text_document_definition_async(lsp.DefinitionParams(**at))
    assert TEXT.split("\n")[found.range.start.line].startswith("  matrix:")
    shown = await client.text_document_hover_async(lsp.HoverParams(**place(TEXT, "timeout")))
    assert "`timeout`" in shown.contents.value and "fields-of-a-spec.md" in shown.contents.value
    document = lsp.TextDocumentIdentifier(uri=URI)
    symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=document))
    assert [symbol.name for symbol in symbols] == ["apiVersion", "kind", "metadata", "spec"]
    whole = lsp.Range(start=lsp.Position(line=0, character=0), end=lsp.Position(line=99, character=0))
    hints = await client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=document, range=whole))
    assert "run" in hints[0].label, hints
    options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = await client.text_document_formatting_async(
        lsp.DocumentFormattingParams(text_document=document, options=options)
    )
    assert edits is not None
    actions = await client.text_document_code_action_async(
        lsp.CodeActionParams(text_document=document, range=whole, context=lsp.CodeActionContext(diagnostics=[]))
    )
    assert list(actions) == []
