"""Servers of others, each from a private folder, on a port of its own, in the foreground."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.engine.process import free_port, served

MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory, so that no disk is measured


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that servers of any user may enter; in memory where that is possible."""
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-", dir=place) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
  uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
  server {{ listen 127.0.0.1:{port} http2; location / {{ return 200 "{body}"; }} }}
}}
"""


@contextmanager
def nginx() -> Iterator[str]:
    """HTTP/2 by prior knowledge, 128 bytes."""
    port = free_port()
    with private_folder() as folder:
        text = NGINX.format(folder=folder, port=port, body="x" * 128)
        config = written(folder / "nginx.conf", text)
        with served(["nginx", "-e", f"{folder}/error.log", "-c", config], port):
            yield f"127.0.0.1:{port}"


@contextmanager
def smtp_sink() -> Iterator[str]:
    """Postfix's sink, which drops what it is sent."""
    port = free_port()
    with served(["smtp-sink", "-u", "nobody", f"127.0.0.1:{port}", "1000"], port):
        yield f"127.0.0.1:{port}"


DOVECOT = """
base_dir = {folder}/run
log_path = {folder}/dovecot.log
protocols = imap pop3
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:{folder}/mail/%n
mail_uid = mail
mail_gid = mail
first_valid_uid = 1
default_login_user = dovenull
default_internal_user = dovecot
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid=mail gid=mail home={folder}/mail/%n allow_all_users=yes
}}
service imap-login {{
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service pop3-login {{
  inet_listener pop3 {{
    port = {pop3}
  }}
  inet_listener pop3s {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
auth_mechanisms = plain login
mail_max_userip_connections = 0
"""


@contextmanager
def dovecot() -> Iterator[str]:
    """Empty Maildirs; gives FOLDER POP3-PORT IMAP-PORT."""
    pop3, imap = free_port(), free_port()
    with private_folder() as folder:
        (folder / "run").mkdir()
        (folder / "mail").mkdir()
        shutil.chown(folder / "mail", "mail", "mail")
        text = DOVECOT.format(folder=folder, pop3=pop3, imap=imap)
        config = written(folder / "dovecot.conf", text)
        with served(["dovecot", "-F", "-c", config], pop3):
            yield f"{folder} {pop3} {imap}"


VSFTPD = """
listen=YES
listen_address=127.0.0.1
listen_port={port}
background=NO
anonymous_enable=YES
anon_root={folder}/root
no_anon_password=YES
anon_upload_enable=YES
anon_other_write_enable=YES
write_enable=YES
anon_umask=022
ftp_username=mail
nopriv_user=nobody
secure_chroot_dir={folder}/empty
local_enable=NO
pasv_address=127.0.0.1
xferlog_enable=NO
seccomp_sandbox=NO
"""


@contextmanager
def vsftpd() -> Iterator[str]:
    """Files `small` and `large` to take, and a folder `incoming`; gives FOLDER PORT."""
    port = free_port()
    with private_folder() as folder:
        for name in ("root", "empty", "root/incoming"):
            (folder / name).mkdir()
        shutil.chown(folder / "root/incoming", "mail", "mail")
        (folder / "root/small").write_bytes(b"x" * 4096)
        config = written(folder / "vsftpd.conf", VSFTPD.format(folder=folder, port=port).lstrip())
        with served(["vsftpd", config], port):
            yield f"{folder} {port}"


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)
