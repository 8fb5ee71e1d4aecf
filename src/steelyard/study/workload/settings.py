"""Settings of workloads that code reads: those of the engine's loads, and those of any workload."""

from __future__ import annotations

from steelyard.study.settings import SettingsModel

AS_SERVICE = "as the service"
"""The ``tls`` of a workload that speaks with each service as it wants."""


class SharedSettings(SettingsModel):
    """What a workload may have whatever it drives; ``None`` where it has no such setting."""

    tls: str | None = None
    certificate: str | None = None
    timeout: float | None = None
    """Deadline of one operation in seconds, instead of that of the trials."""
    clients: int | None = None
    """Another word for the users of the load."""
    messages: int | None = None
    """Operations of each user after which a trial ends."""
    requests: int | None = None
    """Operations of all users together after which a trial ends."""
    total: int | None = None
    """Bytes after which a trial ends, in files of ``file`` bytes."""
    file: int | None = None
    logins: int | None = None
    pace: float | int | None = None
    user_rate: float | None = None
    recipients_per_message: int | None = None
    messages_per_connection: int | None = None
    commands_per_connection: int | None = None
    transfers_per_connection: int | None = None
    one_connection: bool | None = None
    body: int | str | None = None
    attachment: int | None = None
    peer: str | int | None = None
    """The instance at the other end of a stream, by its number, or ``host``."""
    on: str | None = None
    """The disk that a tool works on."""


class TlsSettings(SettingsModel):
    """How connections are secured."""

    tls: str
    certificate: str


class LoginSettings(TlsSettings):
    """Who logs in."""

    user: str | None
    password: str
    logins: int | None


class MailLoginSettings(LoginSettings):
    """Who logs in to a mail server, and how."""

    auth: str


class HttpSettings(TlsSettings):
    """Requests of HTTP."""

    path: str
    paths: tuple[str, ...]
    method: str
    headers: tuple[str, ...]
    body: str
    keep_alive: bool
    version: str
    requests_at_once: int
    verify: bool


class MessageSettings(TlsSettings):
    """Messages that are handed over."""

    body: int
    sizes: tuple[str, ...]
    attachment: int
    recipients: int
    recipients_per_message: int
    domain: str
    sender: str
    messages_per_connection: int
    pipelining: str
    chunking: bool


class SmtpSettings(MessageSettings, MailLoginSettings):
    """Submission, with or without a login."""

    tls_share: float


class OneMessageSettings(TlsSettings):
    """One message on a connection of its own."""

    body: int
    sender: str
    domain: str


class DeliverySettings(OneMessageSettings, MailLoginSettings):
    """A message, and the mailbox in which it must arrive."""

    seen_by: str
    poll: float


class Pop3Settings(MailLoginSettings):
    """Sessions of POP3."""

    listing: str
    retrieve: float
    delete: float
    most_messages: int
    pipelining: bool
    verify: bool


class ImapSettings(MailLoginSettings):
    """Commands of IMAP."""

    commands: tuple[str, ...]
    mailbox: str
    commands_per_connection: int
    append: int
    idle: float
    verify: bool


class FtpSettings(LoginSettings):
    """Transfers of FTP."""

    do: str
    actions: tuple[str, ...]
    file: int
    paths: tuple[str, ...]
    folder: str
    delete_uploads: bool
    passive: str
    transfers_per_connection: int
    user_rate: float
    least_share: float
    verify: bool


class ExchangeSettings(SettingsModel):
    """Requests and responses of a fixed size."""

    protocol: str
    request: int
    response: int
    connect_each: bool


class StreamSettings(SettingsModel):
    """A bulk stream."""

    direction: str
    pace: float
    socket_buffer: int
    latency_probes: float


class TcpStreamSettings(StreamSettings):
    """A bulk stream over TCP."""

    block: int
    congestion: str | None
    zero_copy: bool


class UdpStreamSettings(StreamSettings):
    """A bulk stream over UDP."""

    datagram: int
    offload: bool


ENGINE_SETTINGS: dict[str, type[SettingsModel]] = {
    "delivery": DeliverySettings,
    "ftp": FtpSettings,
    "http": HttpSettings,
    "imap": ImapSettings,
    "lmtp": MessageSettings,
    "pop3": Pop3Settings,
    "request-response": ExchangeSettings,
    "smtp": SmtpSettings,
    "smtp-probe": OneMessageSettings,
    "tcp-stream": TcpStreamSettings,
    "udp-stream": UdpStreamSettings,
}
"""The settings of each load that the engine drives, by the name of the workload."""
