//! `hardpan completions`: what completes commands, options and files in a shell.

use std::{collections::BTreeSet, io::Write};

use clap::ValueHint;
use clap_complete::{Shell, generate};

use super::{
    Done,
    help::{pages, whole},
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan completions bash > ~/.local/share/bash-completion/completions/hardpan
  hardpan completions zsh > ~/.zfunc/_hardpan          # a folder in fpath
  hardpan completions fish > ~/.config/fish/completions/hardpan.fish")]
pub struct Args {
    /// Shell
    shell: Shell,
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let mut text = Vec::new(); // what writes it panics where a pipe is closed
    generate(args.shell, &mut whole(), "hardpan", &mut text);
    if args.shell == Shell::Bash {
        text.extend(bash_files().bytes());
    }
    Ok(out.write_all(&text)?)
}

/// Additions for bash. It offers options only where a word begins with one. Files follow by the shell's own completion,
/// which knows folders and blanks in names.
const BASH: &str = r#"
_hardpan_or_files() {
    local list= word words
    case "$3" in
        --settings)
            COMPREPLY=()
            word="${2//\\/}"
            while IFS= read -r word; do
                COMPREPLY+=("$word")
            done < <(compgen -d -- "$word"; for list in toml json vstu; do compgen -f -X "!*.$list" -- "$word"; done)
            compopt -o filenames +o default +o bashdefault 2> /dev/null
            return 0
            ;;
        @files@)
            COMPREPLY=()
            return 0
            ;;
        @others@)
            COMPREPLY=()
            compopt +o default +o bashdefault 2> /dev/null
            return 0
            ;;
        -*)
            [[ "$2" == *,* ]] && list="${2%,*},"
            ;;
    esac
    _hardpan "$1" "${2#"$list"}" "$3"
    [[ "$2" == -* ]] && return 0
    words=("${COMPREPLY[@]}")
    COMPREPLY=()
    for word in "${words[@]}"; do
        [[ "$word" == -* ]] || COMPREPLY+=("$list$word")
    done
}
complete -F _hardpan_or_files -o bashdefault -o default hardpan
"#;

/// [`BASH`] with the options that take files, and those that take something else which nobody can list.
fn bash_files() -> String {
    let mut cli = whole();
    cli.build();
    let commands = pages(&cli);
    let args = commands.iter().flat_map(|c| c.get_arguments()).filter(|a| a.get_action().takes_values());
    let (mut files, mut others) = (BTreeSet::new(), BTreeSet::new());
    for arg in args.filter(|a| a.get_possible_values().is_empty()) {
        let of = if arg.get_value_hint() == ValueHint::AnyPath { &mut files } else { &mut others };
        of.extend(
            arg.get_long().map(|long| format!("--{long}")).into_iter().chain(arg.get_short().map(|c| format!("-{c}"))),
        );
    }
    files.remove("--settings");
    let others = &others - &files;
    let or = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join("|");
    BASH.replace("@files@", &or(files)).replace("@others@", &or(others))
}
