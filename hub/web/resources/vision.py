"""Vision: the model that looks at screenshots.

Owns: the routes, and what is done besides one call.
Must not: take a screenshot, or call a model.
"""

from hub.api.convert import unstructure
from hub.api.vision import LookOrder, Seen, VisionConfig, VisionDone, VisionPatch
from hub.errors import Code
from hub.messages.models import LookAtImage
from hub.messages.settings import GetVision, PatchVision
from hub.web.context import WRITE, call
from hub.web.route import get, post

_LOOK_TIMEOUT = 240.0
"""Longer than a picture and a model may take together, so that it is them who say what went wrong."""
_LOOK = frozenset({Code.VISION_OFF, Code.PROGRAM_MISSING, Code.UPSTREAM_FAILED})
_FILES = frozenset({Code.NO_PERMISSION, Code.CONFIG_INVALID})
ROUTES = (
    get(
        "/api/vision/config",
        "The model that looks at screenshots.",
        call(GetVision),
        answer=VisionConfig,
        codes=_FILES,
    ),
    post(
        "/api/vision/config",
        "Change `[vision]` in `hub.toml`; comments, order and what an editor saves meanwhile stay.",
        call(lambda body: PatchVision(unstructure(body)), WRITE),
        given=VisionPatch,
        answer=VisionDone,
        codes=_FILES | {Code.CONFIG_CHANGED},
    ),
    post(
        "/api/vision/probe",
        "Let the vision model look at an image, or at a page on this machine.",
        call(lambda body: LookAtImage(body.prompt, body.image, body.url), _LOOK_TIMEOUT),
        given=LookOrder,
        answer=Seen,
        codes=_FILES | _LOOK,
        foreign=True,
    ),
)
