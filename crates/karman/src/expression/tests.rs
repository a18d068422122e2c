//! Values, error positions and robustness of expressions.

use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> Expression {
    match Expression::parse(text, Variables::CARTESIAN) {
        Ok(expression) => expression,
        Err(error) => panic!("{text}: {error}"),
    }
}

fn value(text: &str) -> f64 {
    parse(text).evaluate(&[2.0, 3.0, 5.0], 7.0)
}

/// The text, a line of carets under the place, and the message.
fn failure(text: &str) -> String {
    let error = Expression::parse(text, Variables::CARTESIAN).unwrap_err();
    let before = text[..error.span.start].chars().count();
    let carets = text[error.span.clone()].chars().count().max(1);
    format!("{text}\n{}{} {error}", " ".repeat(before), "^".repeat(carets))
}

#[test]
fn precedence_and_association() {
    assert_eq!(value("-x^2"), -4.0);
    assert_eq!(value("(-x)^2"), 4.0);
    assert_eq!(value("2^3^2"), 512.0);
    assert_eq!(value("2^-x"), 0.25);
    assert_eq!(value("2^-x*4"), 1.0);
    assert_eq!(value("2*-x"), -4.0);
    assert_eq!(value("10-3-2"), 5.0);
    assert_eq!(value("12/3/2"), 2.0);
    assert_eq!(value("1+2*3"), 7.0);
    assert_eq!(value("1 < 2 and 3 < 2 or 1"), 1.0);
    assert_eq!(value("not 1 < 2"), 0.0);
    assert_eq!(value("not x == 2 or y == 3"), 1.0);
    assert_eq!(value("--x"), 2.0);
    assert_eq!(value("+x"), 2.0);
}

#[test]
fn every_function_and_name() {
    assert_eq!(value("x + 10*y + 100*z + 1000*t"), 7532.0);
    assert_eq!(value("pi"), std::f64::consts::PI);
    for (text, expected) in [
        ("sin(x)", 2f64.sin()),
        ("cos(x)", 2f64.cos()),
        ("tan(x)", 2f64.tan()),
        ("exp(x)", 2f64.exp()),
        ("log(x)", 2f64.ln()),
        ("sqrt(x)", 2f64.sqrt()),
        ("abs(-x)", 2.0),
        ("floor(-x/4)", -1.0),
        ("tanh(x)", 2f64.tanh()),
        ("min(x, y, z)", 2.0),
        ("max(x, y, z)", 5.0),
        ("if(x < y, z, t)", 5.0),
        ("if(x >= y, z, t)", 7.0),
        ("x^0.5", 2f64.powf(0.5)),
        ("x^y", 8.0),
        ("x^-3", 0.125),
        ("x^0", 1.0),
        ("x != 2", 0.0),
        ("x <= 2", 1.0),
        ("x > 2", 0.0),
        ("1.5e-3 + .5 + 1.", 1.5015),
        ("if(x > 0, 1, 1/0*0)", 1.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn constants_are_folded() {
    assert_eq!(parse("2*3 + sin(0)^2").is_constant(), Some(6.0));
    assert_eq!(parse("if(1 < 2, 3, 4)").is_constant(), Some(3.0));
    assert_eq!(parse("min(4, 2, 3)").is_constant(), Some(2.0));
    assert_eq!(parse("x*0").is_constant(), None);
    let folded = parse("x + (1 + 2)*3");
    assert_eq!(folded.code().len(), 3);
    assert_eq!(folded.constants(), [9.0]);
    assert_eq!(folded.words(), [1, 0, 0, 0, 3, 0]);
    assert_eq!(parse("x^2").code()[1], Instruction { opcode: Opcode::IntegerPower, operand: 2 });
}

#[test]
fn dependence() {
    assert!(parse("x + t").depends_on_time());
    assert!(!parse("x + y").depends_on_time());
    assert!(parse("x + y").depends_on_component(1));
    assert!(!parse("x + y").depends_on_component(2));
    let cylindrical = Variables { point: &["r", "t", "x", "y", "z"], time: None };
    let polar = Expression::parse("r*cos(t) - x", cylindrical).unwrap();
    assert!(!polar.depends_on_time());
    assert_eq!(polar.evaluate(&[2.0, 0.0, 2.0, 0.0, 0.0], 99.0), 0.0);
    assert!(Expression::parse("t", Variables { point: &["x"], time: None }).is_err());
}

#[test]
fn messages_point_at_the_place() {
    insta::assert_snapshot!(failure("1 + sni(x)"), @"
    1 + sni(x)
        ^^^ unknown name `sni` (did you mean `sin`?)
    ");
    insta::assert_snapshot!(failure("temperature*2"), @"
    temperature*2
    ^^^^^^^^^^^ unknown name `temperature`
    ");
    insta::assert_snapshot!(failure("2x"), @"
    2x
     ^ expected an operator (a product is written with `*`), found `x`
    ");
    insta::assert_snapshot!(failure("x(y)"), @"
    x(y)
    ^ `x` is not a function: a product is written with `*`
    ");
    insta::assert_snapshot!(failure("1 + sin"), @"
    1 + sin
        ^^^ `sin` is a function: write `sin(…)`
    ");
    insta::assert_snapshot!(failure("if(x, y)"), @"
    if(x, y)
    ^^^^^^^^ `if` takes 3 arguments, 2 given
    ");
    insta::assert_snapshot!(failure("sin()"), @"
    sin()
    ^^^^^ `sin` takes 1 argument, 0 given
    ");
    insta::assert_snapshot!(failure("max(x)"), @"
    max(x)
    ^^^^^^ `max` takes 2 or more arguments, 1 given
    ");
    insta::assert_snapshot!(failure("sin(x, y, z)"), @"
    sin(x, y, z)
    ^^^^^^^^^ `sin` takes 1 argument, 2 given
    ");
    insta::assert_snapshot!(failure("(x + 1"), @"
    (x + 1
          ^ expected an operator or `)`, found the end of the expression
    ");
    insta::assert_snapshot!(failure("x + "), @"
    x + 
        ^ expected a value, found the end of the expression
    ");
    insta::assert_snapshot!(failure("x + 1)"), @"
    x + 1)
         ^ expected an operator or the end of the expression, found `)`
    ");
    insta::assert_snapshot!(failure("0 < x < 1"), @"
    0 < x < 1
          ^ comparisons do not chain: write `a < b and b < c`
    ");
    insta::assert_snapshot!(failure("1 + not x"), @"
    1 + not x
        ^^^ expected a value (put `not …` in parentheses here), found `not`
    ");
    insta::assert_snapshot!(failure("x ** 2"), @"
    x ** 2
      ^^ unexpected `**`: a power is written `^`
    ");
    insta::assert_snapshot!(failure("x = 2"), @"
    x = 2
      ^ unexpected `=`: equality is written `==`
    ");
    insta::assert_snapshot!(failure("α + §"), @"
    α + §
    ^ unknown name `α`
    ");
    insta::assert_snapshot!(failure("x + §"), @"
    x + §
        ^ unexpected `§`
    ");
    insta::assert_snapshot!(failure("1e999"), @"
    1e999
    ^^^^^ the number `1e999` is too large
    ");
    insta::assert_snapshot!(failure(" "), @"
     
    ^ the expression is empty
    ");
}

#[test]
fn limits_are_errors() {
    let kind = |text: &str| Expression::parse(text, Variables::CARTESIAN).unwrap_err().kind;
    let nested = format!("{}x{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(kind(&nested), ExpressionErrorKind::TooNested { limit: MAXIMUM_NESTING });
    assert_eq!(
        kind(&format!("{}x", "-".repeat(5000))),
        ExpressionErrorKind::TooNested { limit: MAXIMUM_NESTING }
    );
    let deep = format!("{}x{}", "x+(".repeat(40), ")".repeat(40));
    assert_eq!(kind(&deep), ExpressionErrorKind::TooDeep { limit: MAXIMUM_STACK });
    let long = format!("x{}", "+x".repeat(3000));
    assert_eq!(kind(&long), ExpressionErrorKind::TooLong { limit: MAXIMUM_INSTRUCTIONS });
    let allowed = format!("x{}", "+x".repeat(2000));
    assert_eq!(value(&allowed), 4002.0);
}

#[test]
fn many_points_equal_one_at_a_time_on_any_number_of_threads() {
    let expression = parse("if(x < 0.5, sin(3*x)*y, sqrt(z)^3) + t^2*x^0.7");
    for n in [0, 1, 31, 64, 65, 4095, 4097, 10_001] {
        let points: Vec<f64> = (0..3 * n).map(|i| (i as f64 * 0.618).fract()).collect();
        let expected: Vec<u64> = (0..n)
            .map(|i| expression.evaluate(&[points[i], points[n + i], points[2 * n + i]], 1.5))
            .map(f64::to_bits)
            .collect();
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![f64::NAN; n];
            pool.install(|| expression.evaluate_many(&points, 1.5, &mut out));
            let bits: Vec<u64> = out.iter().map(|value| value.to_bits()).collect();
            assert_eq!(bits, expected, "{n} points, {threads} threads");
        }
    }
    let mut out = [f64::NAN; 3];
    parse("x + z").evaluate_many(&[1.0, 2.0, 3.0], 0.0, &mut out);
    assert_eq!(out, [1.0, 2.0, 3.0]);
}

/// A syntax tree to print and evaluate.
#[derive(Clone, Debug)]
enum Tree {
    Number(f64),
    Variable(usize),
    Unary(&'static str, Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    If(Box<Tree>, Box<Tree>, Box<Tree>),
}

const NAMES: [&str; 5] = ["x", "y", "z", "t", "pi"];

impl Tree {
    fn print(&self) -> String {
        match self {
            Tree::Number(value) => format!("{value:?}"),
            Tree::Variable(index) => NAMES[*index].to_owned(),
            Tree::Unary(name @ ("-" | "not "), a) => format!("({name}{})", a.print()),
            Tree::Unary(name, a) => format!("{name}({})", a.print()),
            Tree::Binary(name @ ("min" | "max"), a, b) => {
                format!("{name}({}, {})", a.print(), b.print())
            }
            Tree::Binary(name, a, b) => format!("({} {name} {})", a.print(), b.print()),
            Tree::If(c, a, b) => format!("if({}, {}, {})", c.print(), a.print(), b.print()),
        }
    }

    fn value(&self, names: &[f64; 5]) -> f64 {
        let truth = |value: bool| f64::from(u8::from(value));
        match self {
            Tree::Number(value) => *value,
            Tree::Variable(index) => names[*index],
            Tree::Unary(name, a) => {
                let a = a.value(names);
                match *name {
                    "-" => -a,
                    "not " => truth(a == 0.0),
                    "sin" => a.sin(),
                    "cos" => a.cos(),
                    "exp" => a.exp(),
                    "sqrt" => a.sqrt(),
                    "abs" => a.abs(),
                    "tanh" => a.tanh(),
                    _ => a.floor(),
                }
            }
            Tree::Binary(name, a, b) => {
                let (a, b) = (a.value(names), b.value(names));
                match *name {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "/" => a / b,
                    "<" => truth(a < b),
                    ">=" => truth(a >= b),
                    "==" => truth(a == b),
                    "and" => truth(a != 0.0 && b != 0.0),
                    "or" => truth(a != 0.0 || b != 0.0),
                    "min" => a.min(b),
                    _ => a.max(b),
                }
            }
            Tree::If(c, a, b) => {
                if c.value(names) != 0.0 {
                    a.value(names)
                } else {
                    b.value(names)
                }
            }
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (0.0..1e6f64).prop_map(Tree::Number),
        (0u32..20).prop_map(|n| Tree::Number(f64::from(n))),
        (0usize..5).prop_map(Tree::Variable),
    ];
    leaf.prop_recursive(6, 48, 3, |inner| {
        let unary = prop::sample::select(vec![
            "-", "not ", "sin", "cos", "exp", "sqrt", "abs", "tanh", "floor",
        ]);
        let binary = prop::sample::select(vec![
            "+", "-", "*", "/", "<", ">=", "==", "and", "or", "min", "max",
        ]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(name, a)| Tree::Unary(name, Box::new(a))),
            (binary, inner.clone(), inner.clone()).prop_map(|(name, a, b)| Tree::Binary(
                name,
                Box::new(a),
                Box::new(b)
            )),
            (inner.clone(), inner.clone(), inner).prop_map(|(c, a, b)| Tree::If(
                Box::new(c),
                Box::new(a),
                Box::new(b)
            )),
        ]
    })
}

proptest! {
    #[test]
    fn printed_trees_come_back_with_the_same_value(tree in trees(), point in any::<[i8; 4]>()) {
        let [x, y, z, t] = point.map(|value| f64::from(value) / 8.0);
        let expected = tree.value(&[x, y, z, t, std::f64::consts::PI]);
        let expression = parse(&tree.print());
        let actual = expression.evaluate(&[x, y, z], t);
        prop_assert!(
            actual == expected || (actual.is_nan() && expected.is_nan()),
            "{} gives {actual}, expected {expected}", tree.print()
        );
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        if let Err(error) = Expression::parse(&text, Variables::CARTESIAN) {
            prop_assert!(text.get(error.span).is_some());
        }
    }

    #[test]
    fn no_sequence_of_tokens_panics(parts in prop::collection::vec(
        prop::sample::select(vec![
            "x", "t", "pi", "sin", "if", "max", "(", ")", ",", "+", "-", "*", "/", "^", "<", "<=",
            "==", "!=", "and", "or", "not", "1", "1e", "1e-3", ".", "2.5", " ", "q",
        ]), 0..40)) {
        let text = parts.join(" ");
        match Expression::parse(&text, Variables::CARTESIAN) {
            Ok(expression) => {
                expression.evaluate(&[1.0, 2.0, 3.0], 4.0);
            }
            Err(error) => prop_assert!(text.get(error.span).is_some()),
        }
    }
}
