"""Runs workflows of GitHub and jobs of GitLab as their runners do, as far as integrations/ uses
them: steps, conditions, expressions, caches and artifacts. What vendors refuse is refused here."""

import pathlib
import re
import shutil
import subprocess
import urllib.parse

SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
BUILT = "/tmp/pgokit-build"  # of install-pgokit, in a folder of the test here
HASH = re.compile(r"[\w./-]+@[0-9a-f]{40}")
STEP_KEYS = {"name", "id", "if", "shell", "run", "uses", "with", "env"}
ACTION_INPUTS = {
    "actions/checkout": set(),
    "actions/cache": {"path", "key", "restore-keys"},
    "actions/cache/restore": {"path", "key", "restore-keys"},
    "actions/cache/save": {"path", "key"},
    "actions/upload-artifact": {"name", "path", "if-no-files-found", "archive"},
}
TOKEN = re.compile(r"'(?:[^']|'')*'|\w+\(\)|format(?=\()|[\w-]+(?:\.[\w-]+)+|"
                   r"&&|\|\||!=|==|[!()]|\s+|\S")


class Refused(Exception):
    """A vendor would not take this."""


class Job:
    """A folder in which steps run, with what they wrote."""

    def __init__(self, folder, path):
        self.folder = pathlib.Path(folder)
        self.summary = self.folder / "summary.md"
        self.env = {"PATH": path, "HOME": str(self.folder)}
        self.said = ""

    def run(self, script, **variables):
        done = subprocess.run([*SHELL, "-c", script], cwd=self.folder, capture_output=True,
                              text=True, check=False, env={**self.env, **variables})
        self.said = done.stdout + done.stderr
        return done.returncode

    def read(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


class Cache:
    """Contents by key. Those of GitHub are never changed, and the newest one that fits counts."""

    def __init__(self, folder):
        self.folder, self.keys = pathlib.Path(folder), []

    def place(self, key):
        return self.folder / urllib.parse.quote(key, safe="")

    def save(self, key, paths, base):
        kept = [path for path in paths if (base / path).exists()]
        if not kept:
            return
        shutil.rmtree(self.place(key), ignore_errors=True)
        self.keys = [other for other in self.keys if other != key] + [key]
        for path in kept:
            copy(base / path, self.place(key) / str(path).lstrip("/"))

    def restore(self, keys, paths, base, exact=False):
        """The key that fits."""
        for wanted in keys:
            for key in [wanted] + ([] if exact else reversed_keys(self.keys, wanted)):
                if key not in self.keys:
                    continue
                for path in paths:
                    if (self.place(key) / str(path).lstrip("/")).exists():
                        copy(self.place(key) / str(path).lstrip("/"), base / path)
                return key
        return None


def reversed_keys(keys, start):
    return [key for key in reversed(keys) if key.startswith(start)]


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)


# ---- GitHub ----

class GitHub:
    """Caches and artifacts of a repository; github: the context of the same name."""

    def __init__(self, tree, yaml, folder):
        self.tree, self.yaml = tree, yaml
        self.folder = pathlib.Path(folder)
        self.cache = Cache(self.folder / "caches")
        self.github, self.artifacts, self.files = {}, {}, None

    def workflow(self, job, workflow, github, files):
        """Runs the steps of its only job; `files` is the folder that checkout copies."""
        self.github, self.artifacts, self.files = github, {}, files
        (steps,) = [row["steps"] for row in workflow["jobs"].values()]
        return self.steps(job, steps, {})

    def action(self, job, name, given):
        """Runs an action of integrations/: the status of its first step that failed, outputs."""
        folder = self.tree / "integrations" / name
        action = self.yaml(folder / "action.yml")
        unknown = given.keys() - action["inputs"].keys()
        if unknown:
            raise Refused(f"{name} has no inputs {unknown}")
        for key, row in action["inputs"].items():
            if row.get("required") and not given.get(key):
                given[key] = ""
        inputs = {key: given.get(key, row.get("default", ""))
                  for key, row in action["inputs"].items()}
        for step in action["runs"]["steps"]:
            if ("run" in step) != ("shell" in step):
                raise Refused(f"{name}: a step that runs something names its shell: {step}")
        return self.steps(job, action["runs"]["steps"], inputs, folder)

    def steps(self, job, steps, inputs, action=None):
        context = {"github": self.github, "inputs": inputs, "steps": {}}
        status, said, at_end = 0, "", []
        for step in steps:
            if step.keys() - STEP_KEYS:
                raise Refused(f"a step has no {step.keys() - STEP_KEYS}")
            if not applies(step.get("if", "success()"), context, status):
                continue
            outputs = {}
            if "run" in step:
                result = self.script(job, step, context, outputs, action)
            else:
                given = {key: fill(value, context) for key, value in step.get("with", {}).items()}
                result = self.uses(job, step["uses"], given, outputs, at_end)
            if "id" in step:
                context["steps"][step["id"]] = {"outputs": outputs}
            said += job.said
            status = status or result
        for save in at_end if not status else []:
            save()
        job.said = said
        return status

    def script(self, job, step, context, outputs, action):
        env = {name: fill(text, context) for name, text in step.get("env", {}).items()}
        written = self.folder / "output"
        written.write_text("", encoding="utf-8")
        status = job.run(self.local(step["run"]), **env, GITHUB_OUTPUT=str(written),
                         GITHUB_STEP_SUMMARY=str(job.summary), GITHUB_ACTION_PATH=str(action))
        for line in written.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            outputs[name] = value
        return status

    def local(self, text):
        return text.replace(BUILT, str(self.folder / "built"))

    def uses(self, job, name, given, outputs, at_end):
        action = name.partition("@")[0]
        job.said = ""
        if action.startswith("GROUP/pgokit/integrations/"):
            return self.action(job, action.rpartition("/")[2], given)
        if action not in ACTION_INPUTS or not HASH.fullmatch(name):
            raise Refused(f"{name} is not known, or not pinned by a hash")
        if given.keys() - ACTION_INPUTS[action]:
            raise Refused(f"{action} has no inputs {given.keys() - ACTION_INPUTS[action]}")
        if action == "actions/checkout":
            shutil.copytree(self.files, job.folder, dirs_exist_ok=True)
        elif action == "actions/upload-artifact":
            self.upload(job, given, outputs)
        else:
            self.use_cache(job, action, given, outputs, at_end)
        return 0

    def use_cache(self, job, action, given, outputs, at_end):
        paths = [self.local(line) for line in given["path"].split("\n") if line]
        key = given["key"]
        if action != "actions/cache/save":
            keys = [key, *given.get("restore-keys", "").split()]
            found = self.cache.restore(keys, paths, job.folder)
            outputs["cache-hit"] = str(found == key).lower()
            if action == "actions/cache" and found != key:
                at_end.append(lambda: self.cache.save(key, paths, job.folder))
        elif key in self.cache.keys:
            raise Refused(f"there is a cache {key} already")
        else:
            self.cache.save(key, paths, job.folder)

    def upload(self, job, given, outputs):
        paths = [job.folder / line for line in given["path"].split("\n") if line]
        found = [path for path in paths if path.exists()]
        if not found:
            return
        name = given.get("name", "artifact")
        if str(given.get("archive", "true")).lower() == "false":
            if len(found) != 1:
                raise Refused("only one file can be uploaded as it is")
            name = found[0].name
        if name in self.artifacts:
            raise Refused(f"there is an artifact {name} already")
        self.artifacts[name] = {path.name: path.read_bytes() for path in found}
        outputs["artifact-url"] = f"https://github.example/artifacts/{name}"


def fill(text, context):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(evaluate(m[1], context)), str(text))


def applies(condition, context, status):
    text = re.fullmatch(r"\s*(?:\$\{\{(.*)\}\}|(.*))\s*", condition, re.DOTALL)
    text = text[1] or text[2]
    if not re.search(r"\b(?:success|failure|cancelled|always)\(\)", text):
        text = f"success() && ({text})"
    return bool(evaluate(text, context, status))


def evaluate(text, context, status=0):
    """An expression of GitHub as one of Python."""
    known = {"success()": status == 0, "failure()": status != 0, "cancelled()": False,
             "always()": True}
    words = {"&&": " and ", "||": " or ", "!": " not ", "==": "==", "!=": "!=", "(": "(", ")": ")"}
    python = ""
    for token in TOKEN.findall(text):
        if token.isspace() or token in words:
            python += words.get(token, " ")
        elif token.startswith("'"):
            python += repr(token[1:-1].replace("''", "'"))
        elif token in known:
            python += repr(known[token])
        elif token in ("format", ","):
            python += token
        elif "." in token:
            python += repr(look_up(token, context))
        else:
            raise Refused(f"{token} in {text}")
    names = {"__builtins__": {}, "format": lambda text, *values: text.format(*values)}
    return eval(python.strip(), names)  # pylint: disable=eval-used; of our own files


def look_up(name, context):
    value = context
    for part in name.split("."):
        if value is context and part not in context:
            raise Refused(f"no context is called {part}")
        value = value.get(part, "") if isinstance(value, dict) else ""
    return value


# ---- GitLab ----

class Reference(list):
    """!reference [JOB, KEY]"""


def gitlab_loader(yaml):
    class Loader(yaml.SafeLoader):
        pass
    Loader.add_constructor("!reference", lambda loader, node: Reference(
        loader.construct_sequence(node)))
    return Loader


class GitLab:
    """A project with its caches; predefined variables come with each run."""

    def __init__(self, folder):
        self.cache = Cache(pathlib.Path(folder) / "gitlab-caches")
        self.artifacts = {}

    def run(self, job, jobs, name, variables):
        """The status of the job, or None if its rules leave it out."""
        spec = resolved(jobs, name)
        given = {**spec.get("variables", {}), **variables}
        if not self.kept_by_rules(spec, given):
            return None
        given = {key: expand(str(value), given) for key, value in given.items()}
        for row in spec.get("cache", []):
            self.cache.restore([cache_key(row, given)], row["paths"], job.folder, exact=True)
        script = "\n".join(spec.get("before_script", []) + spec["script"])
        status = job.run(script, **given)
        said = job.said
        after = job.run("\n".join(spec.get("after_script", [])), **given)
        if after:
            raise Refused(f"after_script: {job.said}")
        job.said = said
        for row in spec.get("cache", []):
            if "push" in expand(row.get("policy", "pull-push"), given) and (
                    not status or row.get("when") == "always"):
                self.cache.save(cache_key(row, given), row["paths"], job.folder)
        self.upload(job, spec, status)
        return status

    def upload(self, job, spec, status):
        artifacts = spec["artifacts"]
        self.artifacts = {}
        for path in artifacts["paths"]:
            if "expose_as" in artifacts and re.search(r"\$|\*|^\./", path):
                raise Refused(f"a path that is exposed is a plain name: {path}")
            if (job.folder / path).exists() and (not status or artifacts.get("when") == "always"):
                self.artifacts[path] = (job.folder / path).read_bytes()

    @staticmethod
    def kept_by_rules(spec, given):
        """Whether a rule takes the job in; its variables are added."""
        if "rules" not in spec:
            return True
        for rule in spec["rules"]:
            left, right = re.fullmatch(r'(\$\w+) == (\$\w+|"\w+")', rule["if"]).groups()
            if expand(left, given) == expand(right.strip('"'), given) != "":
                given.update(rule.get("variables", {}))
                return True
        return False


def cache_key(row, given):
    key = expand(row["key"], given)
    if "/" in key or key.strip(".") == "":
        raise Refused(f"{key} cannot be a key of a cache")
    return key


def expand(text, given):
    for _ in range(3):  # variables may be in variables
        text = re.sub(r"\$\{?(\w+)\}?", lambda m: str(given.get(m[1], "")), text)
    return text


def resolved(jobs, name):
    """The job with what it extends: mappings are merged, lists replaced, references filled in."""
    spec = dict(jobs[name])
    parent = spec.pop("extends", None)
    merged = merge(resolved(jobs, parent), spec) if parent else spec
    return {key: filled(value, jobs) for key, value in merged.items()}


def merge(parent, child):
    both = {key: merge(parent[key], value) if isinstance(value, dict) and isinstance(
        parent.get(key), dict) else value for key, value in child.items()}
    return {**parent, **both}


def filled(value, jobs):
    if isinstance(value, Reference):
        found = jobs
        for part in value:
            found = found[part]
        return found
    if isinstance(value, list):
        result = []
        for row in value:
            if isinstance(row, Reference):
                result.extend(filled(row, jobs))
            else:
                result.append(row)
        return result
    return value
