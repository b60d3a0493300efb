import sys
from base64 import b64decode

from verify import verify

for line in sys.stdin:
    case, secrets, body, header, now = line.rstrip("\n").split("\t")
    known = [b64decode(secret).decode() for secret in secrets.split(",")]
    given = None if header == "-" else b64decode(header).decode()
    verdict = verify(known, b64decode(body), given, int(now))
    print(case, "true" if verdict else "false", sep="\t")
