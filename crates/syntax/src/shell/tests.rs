use std::fmt::Write as _;

use super::*;
use kubebench_testing::snapshot::{assert_text, str};

/// Writes a script back, with parentheses around what belongs together.
fn outline(script: &Script) -> String {
    script.items.iter().map(item).collect::<Vec<_>>().join(" ; ")
}

fn item(item: &Item) -> String {
    let mut text = pipeline(&item.first);
    for (joint, next) in &item.rest {
        let joint = if *joint == Joint::And { "&&" } else { "||" };
        write!(text, " {joint} {}", pipeline(next)).unwrap();
    }
    text.push_str(match item.asks {
        Asks::Nothing => "",
        Asks::Status => " [$?]",
        Asks::EachStatus => " [each]",
    });
    text + if item.end == End::Background { " &" } else { "" }
}

fn pipeline(pipeline: &Pipeline) -> String {
    let commands: Vec<String> = pipeline.commands.iter().map(command).collect();
    let sense = if pipeline.sense == Sense::Negated { "! " } else { "" };
    format!("{sense}{}", commands.join(" | "))
}

fn command(command: &Command) -> String {
    let many = |scripts: &[Script]| scripts.iter().map(outline).collect::<Vec<_>>().join(" / ");
    match &command.kind {
        Kind::Simple(Simple { words, assigned, substitutions }) => {
            let assigned = assigned.iter().map(|name| format!("{name}="));
            let words = assigned.chain(words.iter().map(|word| format!("<{word}>")));
            let inner = substitutions.iter().map(|script| format!("$({})", outline(script)));
            words.chain(inner).collect::<Vec<_>>().join(" ")
        }
        Kind::Group(script) => format!("{{{}}}", outline(script)),
        Kind::Subshell(script) => format!("({})", outline(script)),
        Kind::If { conditions, bodies } => format!("if({} : {})", many(conditions), many(bodies)),
        Kind::For(body) => format!("for({})", outline(body)),
        Kind::While { condition, body } => format!("while({} : {})", outline(condition), outline(body)),
        Kind::Case(bodies) => format!("case({})", many(bodies)),
        Kind::Function { name, body } => format!("{name}(){}", self::command(body)),
        Kind::Test => "test".to_owned(),
    }
}

fn outlined(text: &str) -> String {
    read(text).map_or_else(|| "no script".to_owned(), |script| outline(&script))
}

#[test]
fn lists_pipelines_and_words() {
    let texts = [
        "a; b & c\nd && e || f | g |& h",
        "! a | b; time -p c; ! time d",
        "A=1 B+=2 a 'x y' \"p $Q r\" s\\ t # no | word\nb#c",
        "a \\\n  b > out 2>&1 < in | c &> all; d >| e 3<> f",
        "if a 5>x; then b; fi >log 2>&1 | c",
        "a; echo $?\nb | c; exit ${PIPESTATUS[0]}",
        "x=(1 2 'a)b') y; declare -a z=(1 2); a[1]=2 b",
        "diff <(a | b) >(c) d; a \"$(b | c)\" `d; e` <(f) ${g:-$(h)} $((1 + (2 | 3))) $'it\\'s' \"don't\" \"$'\"",
        "echo '`' '$(' \"\\\"\\$(\" \"a`b \\`c\\` `\"",
    ];
    let found: Vec<String> = texts.map(outlined).to_vec();
    assert_text(
        found.join("\n"),
        str! {[r#"
<a> ; <b> & ; <c> ; <d> && <e> || <f> | <g> | <h>
! <a> | <b> ; <c> ; ! <d>
A= B= <a> <x y> <p $Q r> <s t> ; <b#c>
<a> <b> | <c> ; <d>
if(<a> : <b>) | <c>
<a> ; <echo> <$?> [$?] ; <b> | <c> ; <exit> <${PIPESTATUS[0]}> [each]
x= <y> ; <declare> <-a> <z=> ; a= <b>
<diff> <$(a | b)> <$(c)> <d> $(<a> | <b>) $(<c>) ; <a> <$(b | c)> <$(d; e)> <$(f)> <${g:-$(h)}> <$((1 + (2 | 3)))> <it's> <don't> <$'> $(<b> | <c>) $(<d> ; <e>) $(<f>) $(<h>)
<echo> <`> <$(> <"$(> <a$(b `c` )> $(<b> <$(c)> $(<c>))
"#]},
    );
}

#[test]
fn compound_commands() {
    let texts = [
        "if a; then b; elif c | d; then e; else f; fi; g",
        "while read x; do a; done < f; until b; do c; done | d",
        "for i in 1 2 3; do a $i; done; for x\ndo b; done; for ((i = 0; i < 3; i++)); do c; done",
        "for a\nin b c\ndo\n  d\ndone; select x in y; do z; done",
        "case $x in a|b) c;; (d) e; f ;; *) g & esac; h",
        "case x in\n  \"a b\")\n    c\n    ;;\nesac",
        "{ a; b; } && (c; (d)) || { e; }",
        "f() { a | b; }; function g { c; }; function h() (d); f",
        "[[ $a == b && ( -n $c || $d =~ ^(x|y)$ ) ]] && e; ((a > 1)) || f; [ a ] && b",
        "echo if then fi { } do; iffy; done_it",
    ];
    let found: Vec<String> = texts.map(outlined).to_vec();
    assert_text(
        found.join("\n"),
        str! {[r#"
if(<a> / <c> | <d> : <b> / <e> / <f>) ; <g>
while(<read> <x> : <a>) ; while(<b> : <c>) | <d>
for(<a> <$i>) ; for(<b>) ; for(<c>)
for(<d>) ; for(<z>)
case(<c> / <e> ; <f> / <g> &) ; <h>
case(<c>)
{<a> ; <b>} && (<c> ; (<d>)) || {<e>}
f(){<a> | <b>} ; g(){<c>} ; h()(<d>) ; <f>
test && <e> ; test || <f> ; <[> <a> <]> && <b>
<echo> <if> <then> <fi> <{> <}> <do> ; <iffy> ; <done_it>
"#]},
    );
}

#[test]
fn here_documents_are_no_commands() {
    let texts = [
        "cat <<EOF | a\n b | c && $(d\nEOF\ne",
        "cat <<'A' <<-B && x\none ' \" `\nA\n\ttwo\n\tB\ny",
        "a $(cat <<E\n) ` \"\nE\n) b",
        "a <<<\"$x\" | b",
        "cat <<EOF\nnever ends",
        "cat <<EOF\r\nx | y\r\nEOF\r\nz\r\n",
    ];
    let found: Vec<String> = texts.map(outlined).to_vec();
    assert_text(
        found.join("\n"),
        str! {[r#"
<cat> | <a> ; <e>
<cat> && <x> ; <y>
<a> <$(cat <<E
) ` "
E
)> <b> $(<cat>)
<a> | <b>
<cat>
<cat> ; <z>
"#]},
    );
}

#[test]
fn lines_are_counted() {
    let lines = |text: &str| -> Vec<usize> {
        read(text).unwrap().items.iter().flat_map(|item| &item.first.commands).map(|command| command.line).collect()
    };
    assert_eq!(lines("a\n\n# c\nb 'x\ny' |\n c; d"), [1, 4, 6, 6]);
    assert_eq!(lines("cat <<E\n1\n2\nE\na"), [1, 5]);
    let script = read("x\n`a\nb`").unwrap();
    let Kind::Simple(simple) = &script.items[1].first.commands[0].kind else { panic!("a simple command") };
    assert_eq!(
        simple.substitutions[0].items[0].first.commands[0].line, 3,
        "they count from the end of the substitution"
    );
}

#[test]
fn what_is_no_script_is_not_read() {
    let texts = [
        "a |",
        "a &&",
        "| a",
        "a ;; b",
        "(a",
        "a)",
        "{ a; ",
        "if a; fi",
        "if a; then b",
        "for",
        "for x in a; b",
        "case x in a) b",
        "a 'b",
        "a \"b",
        "a $(b",
        "a `b",
        "a ${b",
        "a $((b",
        "f() a",
        "a <",
        "a <<",
        "done",
        "}",
        "[[ a",
        "x=(a",
        "((a)",
        ")",
        "a > | b",
    ];
    for text in texts {
        assert_eq!(read(text), None, "{text}");
    }
    for text in ["", " ", "\n\n", "# nothing", "\\\n"] {
        assert_eq!(read(text), Some(Script::default()), "{text:?}");
    }
}

#[test]
fn hostile_scripts_neither_hang_nor_overflow_the_stack() {
    let many = |text: &str| text.repeat(200_000 / text.len());
    let mut texts: Vec<String> = [
        "(",
        "((",
        "{ ",
        "$(",
        "\"$(",
        "`",
        "\\`",
        "${",
        "\"${",
        "if ",
        "while ",
        "case x in a) ",
        "f() { ",
        "<(",
        "a|",
        "a;",
        "a&&",
        "<<E ",
        "<<E\n",
        "1",
        "1>",
        "'",
        "\"",
        "#",
        "\\\n",
        "x=(",
        "[[ ",
        "@(",
        "$'",
        "! ",
        "time ",
        "a&",
        "\0",
        "\u{e9}",
        "\r\n",
        "then ",
        "\t",
    ]
    .map(many)
    .to_vec();
    let nested = |open: &str, close: &str, depth: usize| format!("{}a{}", open.repeat(depth), close.repeat(depth));
    texts.extend([nested("(", ")", 30_000), nested("$(", ")", 30_000), nested("{ ", "; }", 30_000)]);
    texts.push(format!("cat {}\n{}", many("<<E "), many("E\n")));
    texts.push(nested("echo \"$(", ")\"", 36) + &many("a $(b) 'c'\n"));
    for text in &texts {
        drop(read(text));
    }
    assert!(read(&nested("( ", " )", 38)).is_some(), "what people write is far from the limit");
    assert!(read(&nested("( ", " )", 41)).is_none());
}

/// Every piece of a script is read or refused, and never a reason to end.
#[test]
fn pieces_of_scripts_are_read_or_refused() {
    let script = "f() { a | b; }\nif [[ $x == 'y' ]]; then \"$(c <<E\nd\nE\n)\" `e \\`f\\``; fi\ncase $é in a|b) ${g:-$((1+1))};; esac & x=(1 2)";
    for (start, _) in script.char_indices() {
        for (end, _) in script.char_indices().filter(|(end, _)| *end >= start) {
            drop(read(script.get(start..end).unwrap()));
        }
    }
}
