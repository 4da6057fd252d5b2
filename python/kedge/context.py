"""Where kedge computes: a context of the library, and the rules of threads and processes that it brings."""
import atexit
import ctypes
import os
import threading
import weakref
from contextlib import contextmanager
from functools import cached_property
from typing import Any, List, NamedTuple, Optional

try:
    import _signal as signal  # that of C: the module around it makes enumerators of all numbers, 10 us a call
except ImportError:
    import signal

from . import _library as c
from .arguments import named, whole
from .errors import Error, InputError, ReadOnly, WrongType, of_status


class Progress(NamedTuple):
    """A moment of a solve, as a progress function gets it.

    stage -- its name as in reports; finished -- the stage has ended; seconds -- since it began;
    iteration, relative_residual, tolerance -- of the trace solve, 0 elsewhere
    """

    stage: str
    finished: bool
    seconds: float
    iteration: int
    relative_residual: float
    tolerance: float


_process, _main_thread = os.getpid(), threading.main_thread().ident
BACKENDS = ", ".join(repr(name) for name in c.BACKENDS if name != "shadow")  # which is for tests of the library
INTERVAL = 0.05  # seconds between looks for Ctrl-C in a call without a progress function
_threads = threading.local()
_contexts: Any = weakref.WeakSet()
_owned: Any = {}  # objects of the library by a reference to the life of their owner, as they were made

# What functions make through their last argument, by what it is destroyed with.
_DESTROY = {"kedge_mesh_create": "mesh", "kedge_mesh_create_space": "mesh", "kedge_mesh_read": "mesh",
            "kedge_mesh_refine": "mesh", "kedge_mesh_join": "mesh",
            "kedge_problem_create": "problem", "kedge_problem_read": "problem", "kedge_problem_mesh": "mesh",
            "kedge_solve": "solution", "kedge_solver_create": "solver", "kedge_solver_solve": "solution",
            "kedge_solver_solve_many": "solution", "kedge_solver_recover": "solution",
            "kedge_solver_recover_device": "solution", "kedge_march_create": "march", "kedge_march_restore": "march",
            "kedge_solver_matrix": "matrix",
            "kedge_locator_create": "locator", "kedge_probe_create": "probe", "kedge_probe_create_space": "probe",
            "kedge_problem_probe_create": "probe", "kedge_integral_create": "integral"}


_edges: Any = []  # (a, b): a call in context a waits until a function that it evaluates has called b
_edges_lock = threading.Lock()


def _waits_for(context, callers):
    """Whether a call in a context may wait for one of the callers."""
    reached = [context]
    for one in reached:
        reached += [b for a, b in _edges if a is one and b not in reached]
    return any(one in callers for one in reached)


def _callers():
    """The contexts in which the library is calling a function on this thread."""
    return _threads.__dict__.setdefault("callers", [])


def _refuse_fork():
    if os.getpid() != _process:
        raise Error("kedge was loaded before this process was forked, and its threads are not here; start processes "
                    "with multiprocessing.get_context('spawn')")


def refuse_pickle(self, protocol=None):
    """The __reduce_ex__ of what holds memory of the library."""
    raise WrongType(f"a kedge.{type(self).__name__} cannot be pickled or copied: it holds memory of the library; "
                    "make it anew in the other process, from files or arrays")


def refuse_assignment(self, name, value):
    """The __setattr__ of what makes attributes as they are asked for, of which others are made."""
    if isinstance(getattr(type(self), name, None), (property, cached_property)):
        raise ReadOnly(f"{name} of a kedge.{type(self).__name__} is not assigned to; change a copy of it")
    object.__setattr__(self, name, value)


def check(status, sentence):
    """Raise the exception of a status of the library."""
    if status:
        raise of_status(status, sentence)


class Context:
    """A GPU, or threads of the host.

    backend -- "auto" (the GPU when one is usable, else the host), "host" or "cuda"
    device  -- number of the GPU, None: the first visible one
    threads -- of the host; 0: one a core that this process may use

    Calls in one context take turns, from whatever thread they come; threads that are to solve at the same
    time take a context each, as they do when they name a backend.
    """

    @named
    def __init__(self, backend: str = "auto", device: Optional[int] = None, threads: int = 0) -> None:
        _refuse_fork()
        if backend not in c.BACKENDS:
            raise InputError(f"backend is {backend!r}; it is one of {BACKENDS}")
        number = -1 if device is None else whole("device", device, 0)
        options = c.ContextOptions(c.BACKENDS.index(backend), number, whole("threads", threads, 0), True)
        handle = ctypes.c_void_p()
        status = c.library.kedge_context_create(options, handle)
        check(status, c.library.kedge_context_error(None) if status else b"")
        self.handle = handle
        self._lock = threading.RLock()
        self._busy = False
        self._garbage: List[Any] = []
        self.failure: Optional[BaseException] = None  # what a function of the caller raised while the library called it
        self._progress = None
        this = weakref.ref(self)  # so that what the library holds does not keep the context alive
        callback = c.PROGRESS_FUNCTION(lambda _, at: this()._on_progress(at))
        c.library.kedge_context_set_progress(handle, callback, None)
        c.library.kedge_context_set_progress_interval(handle, INTERVAL)
        self._end = weakref.finalize(self, _destroy_context, handle, callback)
        self._left, self._callback = False, callback
        if not _contexts:
            atexit.unregister(_leave)
            atexit.register(_leave)  # later than weakref's own function, so that it runs before that
        _contexts.add(self)

    @property
    def backend(self) -> str:
        """"host" or "cuda"."""
        return c.BACKENDS[c.library.kedge_context_backend(self.handle)]

    @property
    def device(self) -> str:
        """The device as words."""
        return os.fsdecode(c.library.kedge_context_device(self.handle))

    @property
    def reason(self) -> str:
        """Why "auto" took this backend."""
        return os.fsdecode(c.library.kedge_context_reason(self.handle))

    __reduce_ex__ = refuse_pickle

    def __repr__(self):
        return f"kedge.Context({self.backend!r}: {self.device})"

    def call(self, name, *arguments, progress=None):
        """Call a function that returns a status; raise its failure, or that of a function of the caller."""
        with self.turn():
            if self._busy:
                raise Error("kedge was called in the midst of a call in the same context, on the same thread, as a "
                            "signal handler does; let the handler set a flag, or use a context of its own")
            # Ctrl-C is kept until the library asks whether to go on, or returns: an exception cannot pass through it.
            kept = (threading.get_ident() == _main_thread
                    and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
            self._busy, self._progress, self.failure = True, progress, None
            status = None
            try:
                if kept:
                    signal.signal(signal.SIGINT, self._keep)
                if progress is not None:
                    c.library.kedge_context_set_progress_interval(self.handle, 0)
                try:
                    status = getattr(c.library, name)(*arguments)
                    sentence = c.library.kedge_context_error(self.handle) if status else b""
                finally:
                    if progress is not None:
                        c.library.kedge_context_set_progress_interval(self.handle, INTERVAL)
                    if kept:
                        signal.signal(signal.SIGINT, signal.default_int_handler)
                if self.failure is not None:
                    raise self.failure
            except BaseException:
                if status == 0 and name in _DESTROY:
                    _destroy_made(_DESTROY[name], arguments[-1])
                raise
            finally:
                self._busy, self._progress, self.failure = False, None, None
                if self._garbage:
                    self._sweep()
            check(status, sentence)

    def ask(self, name, *arguments):
        """Call a function that threads may call at once, and functions that a solve calls; it takes no turn."""
        _refuse_fork()
        check(getattr(c.library, name)(*arguments), b"not enough memory")

    def turn(self):
        """What a call, or several of them, are made within: until its end no other thread calls anything here."""
        _refuse_fork()
        callers = _threads.__dict__.get("callers")
        if callers and self in callers:
            raise Error("kedge was called in the midst of a call in the same context, from a function that this call "
                        "evaluates; before the solve make the arrays that it needs, and call prepare() of solutions "
                        "that it calls")
        return self._turn(callers) if callers else self._lock

    @contextmanager
    def _turn(self, callers):
        """A turn for a call from a function that other contexts evaluate. It keeps these waiting; where one of them keeps
        this context waiting, none would ever go on."""
        edges = [(caller, self) for caller in callers]
        with _edges_lock:
            if _waits_for(self, set(callers)):
                raise Error("two contexts call functions that wait for each other, in two threads; before the solves "
                            "make the arrays that these functions need, and call prepare() of solutions that they "
                            "call")
            _edges.extend(edges)
        try:
            with self._lock:
                yield
        finally:
            with _edges_lock:
                for edge in edges:
                    _edges.remove(edge)

    def _keep(self, _number, _frame):
        self.failure = KeyboardInterrupt()

    @contextmanager
    def calling(self):
        """While the library, in this context and on this thread, calls a function of the caller."""
        _callers().append(self)
        try:
            yield
        finally:
            _callers().pop()

    def discard(self, destroy, handle):
        """Destroy an object of this context: now, or as soon as no call is going on in it."""
        self._garbage.append((destroy, handle))
        if self._lock.acquire(blocking=False):
            try:
                if not self._busy:
                    self._sweep()
            finally:
                self._lock.release()

    def _sweep(self):
        while self._garbage and not self._left:
            destroy, handle = self._garbage.pop()
            destroy(handle)

    def _on_progress(self, at):
        """Whether to go on."""
        try:
            if self.failure is not None:
                return False
            if self._progress is None:
                return True
            p = at.contents
            with self.calling():
                return self._progress(Progress(p.stage.decode(), p.finished, p.seconds, p.iteration,
                                               p.relative_residual, p.tolerance)) is not False
        except BaseException as failure:  # raised again by call()
            self.failure = failure
            return False


def _destroy_context(handle, _callback):
    """The callback lives as long as the context that may call it."""
    if os.getpid() == _process:
        c.library.kedge_context_destroy(handle)


def _leave():
    """At the end of the process: no thread begins a call any more, and what is left goes before its context. Where one is
    in a call, as a daemon may be, nothing is destroyed: the call may use a mesh of any context."""
    contexts = list(_contexts)
    idle = [context._lock.acquire(blocking=False) and not context._busy for context in contexts]
    if all(idle):
        for life in reversed(list(_owned)):
            _discard(life)
        return
    for context in contexts:
        context._left = True
        context._end.detach()


def _destroy_made(kind, made):
    """Let go what a call has made that its caller will not see; made: one handle or an array of them."""
    destroy = getattr(c.library, f"kedge_{kind}_destroy")
    if isinstance(made, ctypes.c_void_p):
        destroy(made)
        made.value = None
        return
    for i, handle in enumerate(made):
        destroy(handle)
        made[i] = None


class _Life:
    """As long as it lives there is an object of the library."""

    __slots__ = ("__weakref__",)


def own(owner, context, destroy, handle, *kept):
    """Let an object of the library go with its Python object, and before those of the owners `kept`.

    What is kept until then are lives alone: an owner may hold functions of the caller, and these the owner.
    """
    owner.life = _Life()
    _owned[weakref.ref(owner.life, _discard)] = context, destroy, handle, [one.life for one in kept]


def _discard(life):
    owned = _owned.pop(life, None)
    if owned is not None and os.getpid() == _process:
        context, destroy, handle, _kept = owned
        context.discard(destroy, handle)


def context_of(backend):
    """The context that is meant: itself, or that of this thread with a backend of this name."""
    if isinstance(backend, Context):
        return backend
    if not isinstance(backend, str):
        raise WrongType(f"backend is {backend!r}; it takes {BACKENDS} or a kedge.Context")
    contexts = _threads.__dict__.setdefault("contexts", {})
    if backend not in contexts:
        contexts[backend] = Context(backend)
    return contexts[backend]
