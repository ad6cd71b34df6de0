//! The files and folders whose code a program runs, as far as its words and its environment name them.
//!
//! A folder among the words is code or data. It counts as code where the program takes a folder as its program: the first
//! word of an interpreter or of a runner of packages, and the values of options that name a project.

use std::path::{Path, PathBuf};

/// What makes a folder a program.
const MARKS: [&str; 6] =
    ["__main__.py", "package.json", "pyproject.toml", "index.js", "index.mjs", "index.ts"];
/// Programs that run the file or folder that is their first word.
const INTERPRETERS: [&str; 8] = ["python", "pypy", "node", "bun", "deno", "ruby", "perl", "php"];
/// Programs that run a package, which may be a folder.
const RUNNERS: [&str; 11] =
    ["npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "uv", "uvx", "pipx", "poetry", "hatch"];
/// Their words before it.
const SUBCOMMANDS: [&str; 6] = ["run", "exec", "x", "tool", "dlx", "start"];
/// Their options that name a folder with code, or a file.
const OPTIONS: [&str; 16] = [
    "--directory",
    "--project",
    "--from",
    "--with",
    "--with-editable",
    "--prefix",
    "--package",
    "-p",
    "-C",
    "--cwd",
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "-I",
];
/// Words behind which a program is text, and what follows is data.
const INLINE: [&str; 4] = ["-c", "-e", "--eval", "-"];
/// Variables with the folders and files in which programs look for code.
const VARIABLES: [&str; 14] = [
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "NODE_PATH",
    "NODE_OPTIONS",
    "RUBYLIB",
    "RUBYOPT",
    "PERL5LIB",
    "CLASSPATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "BASH_ENV",
    "ENV",
];
/// The endings of scripts.
const SCRIPTS: [&str; 14] =
    ["py", "pyz", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "php", "sh", "lua", "jar", "exe"];

/// The paths of the variables that have code. What is not there may be made.
pub fn of_variables(variables: &[(String, String)], folder: &Path) -> Vec<PathBuf> {
    let code = variables.iter().filter(|(name, _)| VARIABLES.contains(&name.as_str()));
    let words = code.flat_map(|(_, value)| value.split([':', ' ']));
    let paths = words.map(|word| word.split_once('=').map_or(word, |(_, path)| path));
    paths
        .filter(|path| !path.is_empty() && !path.starts_with('-'))
        .map(|path| folder.join(path))
        .collect()
}

/// The folders among the words behind a program that have its code, and modules that it names. `paths` are where modules
/// are looked for beside the folder that it starts in.
pub fn of_words(program: &str, words: &[String], folder: &Path, paths: &[PathBuf]) -> Vec<PathBuf> {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let interprets = INTERPRETERS.iter().any(|known| name.starts_with(known));
    let is_python = name.starts_with("python") || name.starts_with("pypy");
    let runs = RUNNERS.contains(&name);
    let mut found = Vec::new();
    if !interprets && !runs {
        return found;
    }
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let (option, value) = word.split_once('=').map_or((word, None), |(a, b)| (a, Some(b)));
        if is_python
            && let Some(letters) = word.strip_prefix('-').filter(|one| !one.starts_with('-'))
            && let Some((flags, module)) = letters.split_once('m')
            && flags.chars().all(|flag| "bBdEiIOPqsSuv".contains(flag))
        {
            let module = if module.is_empty() { words.next() } else { Some(module) };
            found.extend(module.into_iter().flat_map(|module| modules(module, folder, paths)));
            break;
        }
        if INLINE.contains(&word) && interprets {
            break;
        }
        if OPTIONS.contains(&option) {
            let value = value.or_else(|| words.next()).map(|value| folder.join(value));
            found.extend(value.filter(|value| value.is_dir()));
        } else if !(word.starts_with('-') || runs && SUBCOMMANDS.contains(&word)) {
            let path = folder.join(word);
            let is_program = path.is_dir() && MARKS.iter().any(|mark| path.join(mark).exists());
            let is_first = runs || path.exists();
            found.extend(is_program.then_some(path));
            // An interpreter may have had an option with a value before it.
            if is_first {
                break;
            }
        }
    }
    found
}

/// The places of a module of Python.
fn modules(module: &str, folder: &Path, paths: &[PathBuf]) -> Vec<PathBuf> {
    let name = module.split('.').next().unwrap_or_default();
    let folders = std::iter::once(folder).chain(paths.iter().map(PathBuf::as_path));
    let places = folders.flat_map(|folder| [folder.join(name), folder.join(format!("{name}.py"))]);
    places.filter(|place| !name.is_empty() && place.exists()).collect()
}

/// True if a file is code, so that what lies beside it is probably code, too.
pub fn is_script(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let can_run = || file.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
    let ending = file.extension().and_then(|ending| ending.to_str());
    ending.is_none_or(|ending| SCRIPTS.contains(&ending)) || can_run()
}

/// The folder in which a runner keeps what it runs.
pub fn cache_of(program: &str, home: &Path) -> Option<PathBuf> {
    let name = Path::new(program).file_name()?.to_str()?;
    match name {
        "npx" | "npm" => Some(home.join(".npm")),
        "uv" | "uvx" => Some(home.join(".cache/uv")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_code_are_told_from_data() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for file in ["app/__main__.py", "site/package.json", "lib/tool/x.py", "data/x", "run.js"] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), "").unwrap();
        }
        for (words, expected) in [
            ("python3 ./app ./site", &["app"][..]),
            ("python3 -X dev app", &["app"]),
            ("python3.12 -um app.sub ./site", &["app"]),
            ("python3 -m tool", &["lib/tool"]),
            ("python3 -mtool", &["lib/tool"]),
            ("python3 -m http.server --directory ./site", &[]),
            ("python3 -c pass ./app", &[]),
            ("node run.js ./site", &[]),
            ("node ./site", &["site"]),
            ("node --import=./data run.js", &["data"]),
            ("npx -y ./site ./app", &["site"]),
            ("npx -y @scope/server-filesystem ./site", &[]),
            ("uv run --directory ./data server.py", &["data"]),
            ("uv --directory=./data run server.py ./app", &["data"]),
            ("./bin/server ./site", &[]),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let found = of_words(&words[0], &words[1..], folder.path(), &[at("lib")]);
            let expected: Vec<_> = expected.iter().map(|path| at(path)).collect();
            let plain: Vec<PathBuf> =
                found.iter().map(|path| path.components().collect()).collect();
            assert_eq!(plain, expected, "{words:?}");
        }
    }
}
