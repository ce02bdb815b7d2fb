"""Answer a request for erasure: show the plan, erase the person, keep the certificate.

python erasure_request.py Ben certificate.txt
"""

import sys
from pathlib import Path

from graphmem import GraphMem, NotFoundError

person, file = sys.argv[1:]
with GraphMem.open() as client:
    memory = client.tenant("examples")
    try:
        plan = memory.admin.erase_person(person, include_mentions=True)
    except NotFoundError:
        sys.exit(f"Nothing was ever stored about {person}.")
    if not plan.counts:
        sys.exit(f"Everything about {person} was erased before.")
    print("To erase:", ", ".join(f"{n} {label}" for label, n in plan.counts.items()))
    for text in plan.texts:
        print(f"- {text.text}")
    for node in plan.possible:
        print(f"May name the person, and stays: {node.label} {node.id} of {node.scope}")
    if input("Erase this for good? [y/N] ") != "y":
        sys.exit("Nothing was erased.")

    done = memory.admin.erase_person(
        person,
        include_mentions=True,
        dry_run=False,
        actor="privacy@example.com",
        reason="request of 12 May",
    )
    assert done.clean
    assert done.certificate
    Path(file).write_text(done.certificate.to_text(), "utf-8")
    print(f"Erased. The certificate is in {file}.")
