"""The class `Campaign`: every operation that a script can ask of a campaign, as a method.

The body of the class is the table of operations. Each line names the function, who may call it, and whether it changes
the campaign. The dictionary `OPERATIONS` has the same entries by name, for example to serve them over a network.

To add an operation, write a function in a module of this package, a line here, and a row in docs/campaign-scripts.md.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar, get_args, overload

from backend.api import accounts, corpus, release, work
from backend.api.model import Caller, Needs, Operation, Records
from backend.api.over_http import OverHttp
from backend.campaign.nouns import OPERATOR
from backend.core import extras

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project

P = ParamSpec("P")
R = TypeVar("R")
Row = TypeVar("Row")

OPERATIONS: dict[str, Operation] = {}
"""All operations by name, in the order of the methods of `Campaign`."""


class Transport(Protocol):
    """A way to reach a campaign: in this process, or over a network."""

    def call(self, name: str, /, **arguments: object) -> Any:
        """Call the operation of this name with the script's arguments, and return its result.

        `OPERATIONS[name].signature` has the types of the arguments and of the result.
        """

    def close(self) -> None:
        """Close the project or the connection. Afterwards, no operation can be called."""


@overload
def _method(
    function: Callable[Concatenate["Project", Caller, P], list[Row]], needs: Needs, *, acts: bool = False
) -> Callable[Concatenate["Campaign", P], Records[Row]]: ...
@overload
def _method(
    function: Callable[Concatenate["Project", Caller, P], R], needs: Needs, *, acts: bool = False
) -> Callable[Concatenate["Campaign", P], R]: ...
def _method(function: Callable[..., Any], needs: Needs, *, acts: bool = False) -> Callable[..., Any]:
    """Return a method of `Campaign` that calls `function`, and add the function to `OPERATIONS`.

    `needs` says who may call it, and `acts` whether it changes the campaign.
    """
    operation = OPERATIONS[function.__name__] = Operation(function.__name__, function, needs, acts)
    _, _, *arguments = inspect.signature(function).parameters.values()
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.signature(function).replace(parameters=[own, *arguments])

    @wraps(function)
    def method(*given: Any, **named: Any) -> Any:
        bound = dict(signature.bind(*given, **named).arguments)
        campaign: Campaign = bound.pop("self")
        result = campaign.transport.call(operation.name, **bound)
        if isinstance(result, list):
            (kind,) = get_args(operation.signature.return_annotation)
            return Records(result, kind)
        return result

    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


class Campaign:
    """A campaign, from its corpus to its leaderboard, for scripts.

    Each method does what a page or a command does, with the same checks. Methods that return several values return a
    list with a method `to_frame`, which makes a pandas data frame.

        with Campaign("my-project", person="Lea") as campaign: campaign.judgements().to_frame()

    Attributes:
        transport: calls the operations, in this process or over a network.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        person: str | None = None,
        token: str | None = None,
        timeout_s: float = 3600.0,
        allow_http: bool = False,
    ) -> None:
        """Open the project in a folder, or reach the one that a server runs.

        Args:
            place: the folder of the project, or the address of the server, which begins with `https://`.
            person: for a folder, the name of the person in the project under whom all changes are recorded. If None,
                you act as the operator, who may do what commands on the server do.
            token: for a server, a personal token. You act as its owner.
            timeout_s: for a server, the longest time without any answer, in seconds. An import may take minutes.
            allow_http: whether the address of another machine may begin with `http://`, so that the token is sent
                unencrypted.

        Raises:
            ProjectError: there is no project in the folder, or no such person in the project.
            SchemaOutOfDate: an older or newer version of ReelRank wrote the database.
            ValueError: the address or the token cannot be one, or these arguments do not go together.
            ImportError: for a folder, the extra `app` is not installed.
        """
        self.transport: Transport
        if isinstance(place, str) and place.lower().startswith(("http://", "https://")):
            if token is None or person is not None:
                raise ValueError("a server is reached with a token, whose owner acts: pass token, and no person")
            self.transport = OverHttp(place, token, OPERATIONS, timeout_s=timeout_s, allow_http=allow_http)
            return
        if token is not None:
            raise ValueError("a token is for a server, whose address begins with https://")
        self.transport = InThisProcess(Path(place), person)

    @classmethod
    def create(
        cls, folder: str | Path, *, encoder: str | None = None, kind: str | None = None, scale: str | None = None
    ) -> Self:
        """Create an empty project in a folder, and open it as the operator.

        Args:
            folder: the folder, which is created.
            encoder: the sentence encoder that chooses candidates: a name on the model hub, a folder, or `minilm`. With
                None, it is SimCSE from the model hub.
            kind: how the encoder makes a vector of a sentence: as supervised SimCSE (`sup`), unsupervised SimCSE
                (`unsup`) or MiniLM (`minilm`) does. If None, this is recognised from the encoder's name.
            scale: a scale of grades, `matches` or the path of a scale file; TVR-Ranking's five grades if None.

        Raises:
            ProjectError: there is a project already, or the folder cannot be written.
            EncoderUnavailable: the encoder cannot be found.
            ImportError: the extra `app` is not installed.
        """
        with _explained():
            from backend.campaign.setup.project.sentence_encoder import init_project
        init_project(Path(folder), encoder=encoder, kind=kind, scale=scale).store.close()
        return cls(folder)

    @classmethod
    def over(cls, transport: Transport) -> Self:
        """Return a `Campaign` whose methods call their operations through `transport`."""
        campaign = cls.__new__(cls)
        campaign.transport = transport
        return campaign

    def close(self) -> None:
        """Close the project, or the connection to the server that runs it."""
        self.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    import_corpus = _method(corpus.import_corpus, Needs.IN_CHARGE, acts=True)
    import_videos = _method(corpus.import_videos, Needs.IN_CHARGE, acts=True)
    rewrite_captions = _method(corpus.rewrite_captions, Needs.IN_CHARGE, acts=True)
    captions = _method(corpus.captions, Needs.IN_CHARGE)
    draw_queries = _method(corpus.draw_queries, Needs.IN_CHARGE, acts=True)
    choose_candidates = _method(corpus.choose_candidates, Needs.IN_CHARGE, acts=True)
    next_batches = _method(corpus.next_batches, Needs.IN_CHARGE)
    open_batch = _method(corpus.open_batch, Needs.LEAD, acts=True)
    open_recommended_batches = _method(corpus.open_recommended_batches, Needs.IN_CHARGE, acts=True)

    people = _method(accounts.people, Needs.IN_CHARGE)
    add_person = _method(accounts.add_person, Needs.IN_CHARGE, acts=True)
    add_person_with_password = _method(accounts.add_person_with_password, Needs.IN_CHARGE, acts=True)
    invite_again = _method(accounts.invite_again, Needs.LEAD, acts=True)
    pause_person = _method(accounts.pause_person, Needs.LEAD, acts=True)
    unpause_person = _method(accounts.unpause_person, Needs.LEAD, acts=True)
    suspend_person = _method(accounts.suspend_person, Needs.LEAD, acts=True)
    reinstate_person = _method(accounts.reinstate_person, Needs.LEAD, acts=True)
    remove_person = _method(accounts.remove_person, Needs.IN_CHARGE, acts=True)

    status = _method(work.status, Needs.IN_CHARGE)
    progress = _method(work.progress, Needs.IN_CHARGE)
    inbox = _method(work.inbox, Needs.IN_CHARGE)
    queries = _method(work.queries, Needs.IN_CHARGE)
    pairs = _method(work.pairs, Needs.IN_CHARGE)
    judgements = _method(work.judgements, Needs.IN_CHARGE)
    agreement = _method(work.agreement, Needs.IN_CHARGE)
    flags = _method(work.flags, Needs.IN_CHARGE)
    dismiss_flags = _method(work.dismiss_flags, Needs.LEAD, acts=True)
    my_work = _method(work.my_work, Needs.ANNOTATOR)

    preview_release = _method(release.preview_release, Needs.IN_CHARGE)
    make_release = _method(release.make_release, Needs.IN_CHARGE, acts=True)
    releases = _method(release.releases, Needs.IN_CHARGE)
    release_file = _method(release.release_file, Needs.IN_CHARGE)
    add_truth = _method(release.add_truth, Needs.IN_CHARGE, acts=True)
    truths = _method(release.truths, Needs.IN_CHARGE)
    truth_names = _method(release.truth_names, Needs.IN_CHARGE)
    remove_truth = _method(release.remove_truth, Needs.IN_CHARGE, acts=True)
    add_run = _method(release.add_run, Needs.IN_CHARGE, acts=True)
    runs = _method(release.runs, Needs.IN_CHARGE)
    remove_run = _method(release.remove_run, Needs.IN_CHARGE, acts=True)
    leaderboard = _method(release.leaderboard, Needs.IN_CHARGE)


class InThisProcess:
    """A way for scripts to reach a campaign: open its folder in this process. It satisfies `Transport`."""

    def __init__(self, folder: Path, person: str | None) -> None:
        """Open the project in a folder, to act in it as the person with the name `person`.

        If `person` is None, act as the operator, who runs commands on the server and has no account.
        """
        with _explained():
            from backend.campaign.setup.people.accounts import person_named
            from backend.campaign.setup.project.folder import open_project
        self._project = open_project(folder)
        try:
            self._by: Caller = OPERATOR if person is None else person_named(self._project, OPERATOR, person)
        except BaseException:
            self.close()
            raise

    def call(self, name: str, /, **arguments: object) -> Any:
        """Call the operation of this name on the opened project, and return its result."""
        return OPERATIONS[name].function(self._project, self._by, **arguments)

    def close(self) -> None:
        """Close the database."""
        self._project.store.close()


@contextmanager
def _explained() -> Iterator[None]:
    """Turn an import error in the `with` block into one that says how to install ReelRank's extra `app`.

    This applies only to modules of the extra, which is a group of optional dependencies.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in extras.MODULES["app"]:
            raise
        raise ImportError(extras.advice("`Campaign`", "app"), name=error.name) from error
