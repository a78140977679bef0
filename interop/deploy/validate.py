"""Holds Kubernetes objects on stdin (YAML) against the API schemas of the versions named; writes what does not fit."""

import sys

import kubernetes_validate
import yaml


def main(versions: list[str]) -> int:
    problems = []
    for item in yaml.safe_load_all(sys.stdin):
        name = f"{item['kind']} {item['metadata']['name']}"
        for version in versions:
            try:
                kubernetes_validate.validate(item, version, strict=True)
            except kubernetes_validate.ValidationError as problem:
                place = "/".join(map(str, problem.path))
                problems.append(f"{version}: {name}: {place}: {problem.message[:200]}")
            except kubernetes_validate.SchemaNotFoundError:
                problems.append(f"{version}: {name}: no such kind in this version")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
