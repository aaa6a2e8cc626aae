"""Every message an actor's inbox takes; all are imported from here.

Owns: which module holds which message.
Must not: hold a message itself. Messages are frozen values without behaviour. Who may send what to whom is in
`hub.message_map`.
"""

from hub.messages.agent import *  # noqa: F403  # every message of the module
from hub.messages.approvals import *  # noqa: F403  # every message of the module
from hub.messages.audit import *  # noqa: F403  # every message of the module
from hub.messages.breakers import *  # noqa: F403  # every message of the module
from hub.messages.detector import *  # noqa: F403  # every message of the module
from hub.messages.events import *  # noqa: F403  # every message of the module
from hub.messages.knowledge import *  # noqa: F403  # every message of the module
from hub.messages.models import *  # noqa: F403  # every message of the module
from hub.messages.outcomes import *  # noqa: F403  # every message of the module
from hub.messages.pipelines import *  # noqa: F403  # every message of the module
from hub.messages.quota import *  # noqa: F403  # every message of the module
from hub.messages.session import *  # noqa: F403  # every message of the module
from hub.messages.settings import *  # noqa: F403  # every message of the module
