//! The page: one self-contained HTML file.

use super::data::cells;
use super::drawing::drawing;
use super::markup::{base64, escaped, significant, to_tolerance};
use super::richardson::{extrapolation, order_of_error, values};
use super::titles::title;
use super::{CaseResult, MeshRun};
use crate::case::{Suite, SuiteCase, SuiteSection};
use crate::expected::Comparison;
use serde_json::Value;
use std::fmt::Write;

/// Version, machine and date of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Version of karman.
    pub version: String,
    /// The processor.
    pub machine: String,
    /// Date and time.
    pub date: String,
}

const STYLE: &str = include_str!("page.css");

/// The page of a suite with the results at hand. Cases without a result, and sections without such cases, are
/// left out. A figure with missing data shows the error in its place.
pub fn page(suite: &Suite, results: &[CaseResult], about: &About) -> String {
    let title = escaped(&suite.title);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{title}: validation of karman</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    let find = |case: &SuiteCase| results.iter().find(|result| result.name == case.name);
    let passed = results.iter().filter(|result| result.passes()).count();
    let verdict = match passed == results.len() {
        true => format!("{} {passed} of {passed} cases", badge(true)),
        false => {
            format!("{} {} of {} cases failed", badge(false), results.len() - passed, results.len())
        }
    };
    let (machine, version) = (escaped(&about.machine), escaped(&about.version));
    // Writing to a String cannot fail.
    let _ = write!(
        html,
        "<header>\n<p class=\"kicker\">karman {version} · validation</p>\n<h1>{title}</h1>\n\
         <p class=\"lead\">{}</p>\n<p class=\"verdict\">{verdict}</p>\n\
         <p class=\"facts\">{} · {machine}</p>\n</header>\n",
        escaped(&suite.about),
        escaped(&about.date)
    );
    overview(&mut html, suite, results);
    let mut figures = 0;
    for section in &suite.sections {
        let own: Vec<(&SuiteCase, &CaseResult)> =
            section.cases.iter().filter_map(|case| Some((case, find(case)?))).collect();
        if own.is_empty() {
            continue;
        }
        let _ = write!(
            html,
            "<section>\n<h2>{}</h2>\n<p>{}</p>\n",
            escaped(&section.title),
            escaped(&section.about)
        );
        if !section.sources.is_empty() {
            html += "<p class=\"heading\">Reference</p>\n<ul class=\"sources\">\n";
            for source in &section.sources {
                let _ = writeln!(html, "<li>{}</li>", escaped(source));
            }
            html += "</ul>\n";
        }
        section_figures(&mut html, section, results, &mut figures);
        for (case, result) in own {
            case_block(&mut html, section, case, result);
        }
        html += "</section>\n";
    }
    html + "</main>\n</body>\n</html>\n"
}

fn badge(passes: bool) -> &'static str {
    match passes {
        true => "<span class=\"badge pass\">✓ passed</span>",
        false => "<span class=\"badge fail\">✗ FAILED</span>",
    }
}

fn overview(html: &mut String, suite: &Suite, results: &[CaseResult]) {
    html.push_str(
        "<table class=\"overview\">\n<thead><tr><th>Case</th><th class=\"n\">Cells</th>\
         <th class=\"n\">Steps</th><th class=\"n\">Seconds</th><th>Run on</th>\
         <th class=\"n\">Checks met</th><th></th></tr></thead>\n<tbody>\n",
    );
    for case in suite.cases() {
        let Some(result) = results.iter().find(|result| result.name == case.name) else { continue };
        let met = result.checks.iter().filter(|check| check.is_met).count();
        let run = result.runs.first();
        let number = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let _ = writeln!(
            html,
            "<tr><td><a href=\"#{id}\">{}</a></td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td>{}</td><td class=\"n\">{met} of {}</td><td>{}</td></tr>",
            escaped(&result.title),
            number(run.map(|run| grouped(cells(run)))),
            number(run.map(|run| grouped(steps(run)))),
            number(
                run.map(|_| significant(
                    result.runs.iter().map(seconds).fold(0.0, |a, b| a + b),
                    3
                ))
            ),
            run.map_or(String::new(), |run| escaped(&backend(run))),
            result.checks.len(),
            badge(result.passes()),
            id = escaped(&result.name),
        );
    }
    html.push_str("</tbody>\n</table>\n");
}

fn section_figures(
    html: &mut String,
    section: &SuiteSection,
    results: &[CaseResult],
    count: &mut usize,
) {
    let mut all = String::new();
    for figure in &section.figures {
        let drawn = match drawing(figure, results) {
            Ok(None) => continue,
            Ok(Some(plot)) => {
                *count += 1;
                plot.svg(&format!("figure{count}"))
            }
            Err(reason) => format!("<p class=\"error\">{}</p>\n", escaped(&reason)),
        };
        let _ = write!(
            all,
            "<figure>\n<figcaption>{}</figcaption>\n{drawn}</figure>\n",
            escaped(&figure.title)
        );
    }
    if !all.is_empty() {
        let _ = write!(html, "<div class=\"figures\">\n{all}</div>\n");
    }
}

fn case_block(html: &mut String, section: &SuiteSection, case: &SuiteCase, result: &CaseResult) {
    let _ = writeln!(
        html,
        "<article id=\"{}\">\n<h3>{} {}</h3>",
        escaped(&result.name),
        escaped(&result.title),
        badge(result.passes())
    );
    if let Some(run) = result.runs.first() {
        let _ = writeln!(html, "<p class=\"facts\">{}</p>", facts(&result.name, run));
    }
    if let Some(error) = &result.error {
        let _ = writeln!(html, "<pre class=\"error\">{}</pre>", escaped(error));
    }
    html.push_str("<div class=\"result\">\n<div>\n");
    if !result.checks.is_empty() {
        check_table(html, &result.checks);
    }
    if case.halvings > 0 && result.runs.len() > 1 {
        study_table(html, section, case, result);
    }
    html.push_str("</div>\n");
    if let Some(picture) = picture(result) {
        html.push_str(&picture);
    }
    html.push_str("</div>\n</article>\n");
}

fn check_table(html: &mut String, checks: &[Comparison]) {
    html.push_str(
        "<table>\n<thead><tr><th>Quantity</th><th class=\"n\">Computed</th>\
         <th class=\"n\">Reference</th><th class=\"n\">Difference</th><th class=\"n\">Tolerance</th>\
         <th></th></tr></thead>\n<tbody>\n",
    );
    for check in checks {
        let number = |value: f64| to_tolerance(value, check.tolerance);
        let (computed, difference) = match check.actual {
            None => ("not finite".to_owned(), "–".to_owned()),
            Some(actual) => {
                let difference = actual - check.expected;
                let share = match check.expected {
                    0.0 => String::new(),
                    expected => format!(
                        " <span class=\"share\">({} %)</span>",
                        significant(100.0 * difference / expected.abs(), 2)
                    ),
                };
                (number(actual), number(difference) + &share)
            }
        };
        let _ = writeln!(
            html,
            "<tr{}><td>{}</td><td class=\"n\">{computed}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{difference}</td><td class=\"n\">±&#8239;{}</td><td class=\"n\">{}</td></tr>",
            if check.is_met { "" } else { " class=\"failed\"" },
            escaped(&check.path),
            number(check.expected),
            significant(check.tolerance, 3),
            if check.is_met { "✓" } else { "✗ FAILED" },
        );
    }
    html.push_str("</tbody>\n</table>\n");
}

/// Values on all meshes, with the order of errors and the extrapolation of other quantities.
fn study_table(html: &mut String, section: &SuiteSection, case: &SuiteCase, result: &CaseResult) {
    html.push_str("<table class=\"study\">\n<thead><tr><th>On coarser meshes</th>");
    for run in result.runs.iter().rev() {
        let _ = write!(html, "<th class=\"n\">{} cells</th>", grouped(cells(run)));
    }
    html.push_str(
        "<th class=\"n\">Order</th><th class=\"n\">Extrapolated</th></tr></thead>\n<tbody>\n",
    );
    let expected = result.expected.iter().map(|expectation| expectation.path.as_str());
    let mut paths: Vec<&str> = expected.collect();
    let further = case.extrapolated.iter().map(|(path, _)| path.as_str());
    paths.extend(further.filter(|path| !result.expected.iter().any(|e| e.path == *path)));
    for path in paths {
        let all = values(result, path);
        let _ = write!(html, "<tr><td>{}</td>", escaped(&title(section, path)));
        for value in all.iter().rev() {
            let _ = write!(html, "<td class=\"n\">{}</td>", significant(*value, 5));
        }
        let is_error = path.starts_with("errors.");
        let found = extrapolation(result, path).filter(|_| !is_error);
        let order = if is_error { order_of_error(&all) } else { found.map(|found| found.order) };
        let text = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
        let _ = writeln!(
            html,
            "<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            text(order.map(|order| significant(order, 3))),
            text(found.map(|found| significant(found.limit, 5)))
        );
    }
    html.push_str("</tbody>\n</table>\n");
}

/// The picture of the run, embedded in the page.
fn picture(result: &CaseResult) -> Option<String> {
    let field = result.picture.as_ref()?;
    let bytes = std::fs::read(result.runs.first()?.directory.join(format!("{field}.png"))).ok()?;
    let alternative = escaped(&format!("{field} of {}", result.title));
    Some(format!(
        "<img src=\"data:image/png;base64,{}\" alt=\"{alternative}\" loading=\"lazy\">\n",
        base64(&bytes)
    ))
}

fn facts(name: &str, run: &MeshRun) -> String {
    let text = |path: &str| run.summary.pointer(path).and_then(Value::as_str).unwrap_or("unknown");
    let elements = run.summary.pointer("/mesh/by_element").and_then(Value::as_object);
    let elements: Vec<String> = elements
        .into_iter()
        .flatten()
        .map(|(shape, count)| format!("{} {shape} cells", grouped(count.as_u64().unwrap_or(0))))
        .collect();
    let end = run.summary.pointer("/time/end").and_then(Value::as_f64).unwrap_or(0.0);
    let steps = match steps(run) {
        1 => "1 step".to_owned(),
        n => format!("{} steps", grouped(n)),
    };
    let reached =
        if end > 0.0 { format!(" to t = {}", significant(end, 4)) } else { String::new() };
    format!(
        "<code>{}.toml</code> · {} · {steps}{reached}, {} · {} s on {}, {} · karman {}",
        escaped(name),
        escaped(&elements.join(", ")),
        escaped(text("/outcome")),
        significant(seconds(run), 3),
        escaped(&backend(run)),
        escaped(text("/precision")),
        escaped(text("/version")),
    )
}

fn backend(run: &MeshRun) -> String {
    let text = |path: &str| run.summary.pointer(path).and_then(Value::as_str).unwrap_or("unknown");
    let (backend, device) = (text("/backend"), text("/device"));
    if device.contains(backend) { device.to_owned() } else { format!("{backend}, {device}") }
}

fn steps(run: &MeshRun) -> u64 {
    run.summary.pointer("/time/steps").and_then(Value::as_u64).unwrap_or(0)
}

/// Seconds of all phases.
fn seconds(run: &MeshRun) -> f64 {
    let phases = run.summary.get("phases").and_then(Value::as_object).into_iter().flatten();
    phases.filter_map(|(_, value)| value.as_f64()).fold(0.0, |a, b| a + b)
}

/// A whole number with a thin space between groups of three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}
