//! `compare`: what counts as a regression, and how it is told.

use super::*;

/// The machine is the same, so the build could use a better level.
#[test]
fn a_level_below_that_of_the_base_fails_by_name() {
    let (folder, base) = recorded();
    let args = ["record", "--cases", &folder.name("cases.json"), "--quick", "--counts", "never"];
    let text = finish(command(&args).env("TENSOR_SIMD", "scalar")).succeeded();
    let scalar: Value = serde_json::from_str(&text).unwrap();
    let best = base["machine"]["simd"].as_str().unwrap();
    if best == "scalar" {
        return;
    }
    let fallen = format!("the worst: all: SIMD level {best} -> scalar");
    let text = compare(&folder, &base, &scalar, &[]).failed(&fallen);
    assert!(text.contains("note: different runs"), "{text}");
    assert_eq!(compare(&folder, &scalar, &base, &[]).code, Some(0));
    let accepted = folder.file("accepted.txt", "all simd on purpose\n");
    assert_eq!(compare(&folder, &base, &scalar, &["--allow", &accepted]).code, Some(0));
}

/// Records from before the processor's family and model were noted are compared by its name.
#[test]
fn processors_are_told_apart_by_more_than_their_name() {
    let (folder, base) = recorded();
    let other = |identity: Value| {
        let mut record = base.clone();
        record["machine"]["cpu"] = "a cloud's CPU".into();
        match identity {
            Value::Null => record["machine"].as_object_mut().unwrap().remove("identity"),
            identity => {
                record["machine"].as_object_mut().unwrap().insert("identity".into(), identity)
            }
        };
        record
    };
    let [known, later] = [7, 8].map(|stepping| {
        other(serde_json::json!({ "family": 6, "model": 143, "stepping": stepping }))
    });
    let note = "note: different machines (a cloud's CPU (family 6 model 143 stepping 7)";
    let said = |base, new| compare(&folder, base, new, &[]).succeeded().replace("\n  ", " ");
    assert!(said(&known, &later).contains(note));
    for (a, b) in [(&known, &known), (&known, &other(Value::Null)), (&other(Value::Null), &later)] {
        assert!(!said(a, b).contains("different machines"));
    }
}

#[test]
fn a_record_is_no_worse_than_itself() {
    let (folder, record) = recorded();
    let (never, asked): (&[&str], &[&str]) = (&[], &["--fail-on", "counts"]);
    compare(&folder, &record, &record, asked).failed("counts were asked for");
    for (record, fail_on) in [
        (&counted(record.clone()), &["--fail-on", "all"][..]),
        (&counted(record.clone()), asked),
        (&record, &["--fail-on", "time"]),
        (&record, never),
    ] {
        let text = compare(&folder, record, record, fail_on).succeeded();
        let counted = record["cases"][0].get("counts").is_some();
        let counts = if counted { "" } else { "; counts were not compared" };
        assert!(text.ends_with(&format!("\nno regression, 2 unchanged{counts}\n")), "{text}");
    }
}

#[test]
fn fault_what_has_become_worse_is_named_and_is_exit_code_1() {
    let (folder, record) = recorded();
    let base = counted(record);
    let changed = |change: fn(&mut Value)| {
        let mut new = base.clone();
        change(&mut new["cases"][0]);
        new
    };
    let path = changed(|case| case["path"] = "blocked".into());
    let instructions = changed(|case| case["counts"]["plan"]["instructions"] = 10_200.into());
    let misses = changed(|case| case["counts"]["run"]["ll_misses"] = 200.into());
    let gone = changed(|case| case["name"] = "own/other".into());
    let table: [(&Value, &[&str], &str); 7] = [
        (&path, &[], "own/transposed: path transpose -> blocked"),
        (&instructions, &[], "own/transposed: instructions (plan) 10000 -> 10200, +2.0 %"),
        (&instructions, &["--instructions", "1.5"], "instructions (plan)"),
        (&misses, &["--fail-on", "all"], "own/transposed: LL misses (run) 100 -> 200, 2.0 times"),
        (&gone, &["--fail-on", "time"], "own/transposed: the case is missing"),
        (&slower(base.clone()), &["--fail-on", "time"], "own/transposed: time (run) "),
        (&slower(base.clone()), &["--fail-on", "all"], "own/transposed: time (run) "),
    ];
    for (new, args, said) in table {
        let text = compare(&folder, &base, new, args).failed(said);
        assert!(text.contains("\nREGRESSION  own/transposed\n"), "{text}");
        assert!(text.contains("1 regression, "), "{text}");
    }
    let unharmed: [(&Value, &[&str]); 5] = [
        (&instructions, &["--instructions", "3"]),
        (&instructions, &["--fail-on", "time"]),
        (&misses, &["--misses", "150"]),
        (&slower(base.clone()), &[]),
        (&slower(base.clone()), &["--fail-on", "all", "--time", "1000000"]),
    ];
    for (new, args) in unharmed {
        compare(&folder, &base, new, args).succeeded();
    }
}

/// The verdict is the exit code, even if nobody reads the output.
#[cfg(unix)]
#[test]
fn fault_a_reader_who_goes_away_does_not_change_the_verdict() {
    let (folder, record) = recorded();
    let mut base = record.clone();
    let case = base["cases"][0].clone();
    let many = (0..400).map(|at| {
        let mut case = case.clone();
        case["name"] = format!("own/{at}").into();
        case
    });
    base["cases"] = many.collect::<Vec<_>>().into();
    let mut new = base.clone();
    new["cases"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(|case| case["path"] = "blocked".into());
    let (base, new) =
        (folder.file("base.json", base.to_string()), folder.file("new.json", new.to_string()));
    for format in ["table", "json", "markdown"] {
        let mut command = command(&["compare", &base, &new, "--format", format]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{format}");
    }
    let full = fs::File::options().write(true).open("/dev/full");
    if let Ok(full) = full {
        let status = command(&["compare", &base, &base]).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(2));
    }
}

#[test]
fn a_time_that_is_not_found_again_does_not_count() {
    let (folder, base) = recorded();
    let slow = slower(base.clone());
    let [b, s] =
        [("b.json", &base), ("s.json", &slow)].map(|(name, v)| folder.file(name, v.to_string()));
    let compare = |again: &[&str]| {
        run(&[&["compare", &b, &s, "--fail-on", "time", "--again"], again].concat())
    };
    compare(&[&b, &s]).failed("own/transposed: time (run) ");
    compare(&[&b, &b]).succeeded();
    compare(&[&b, "/missing"]).refused("cannot read /missing");
    compare(&[&b]).refused("2 values required");
}

#[test]
fn accepted_changes_do_not_fail() {
    let (folder, base) = recorded();
    let mut new = base.clone();
    new["cases"][0]["path"] = "blocked".into();
    let list =
        folder.file("accepted.txt", "# since the move to grids\nown/t* path grids do here\n");
    let text = compare(&folder, &base, &new, &["--allow", &list]).succeeded();
    assert!(text.contains("\naccepted    own/transposed\n"), "{text}");
    assert!(text.contains("path transpose -> blocked (accepted: grids do here)"), "{text}");
    let list = folder.file("accepted.txt", "\nown/transposed path\n");
    compare(&folder, &base, &new, &["--allow", &list])
        .refused("accepted.txt: line 2: expected a case, a kind of change and a reason");
    compare(&folder, &base, &new, &["--allow", "/missing"]).refused("cannot read /missing");
}

#[test]
fn every_format_is_what_its_reader_expects() {
    let (folder, record) = recorded();
    let base = counted(record);
    let mut new = base.clone();
    new["cases"][1]["counts"]["run"]["instructions"] = 20_000.into();
    let printed = |format| {
        compare(&folder, &base, &new, &["--format", format]).failed("1 regression; the worst")
    };
    let json: Value = serde_json::from_str(&printed("json")).unwrap();
    let change = &json["changed"][0]["changes"][0];
    assert_eq!((&json["regressions"], &json["alike"]), (&1.into(), &true.into()));
    assert_eq!(json["changed"][0]["case"], "own/row");
    assert_eq!(
        (&change["kind"], &change["verdict"]),
        (&"instructions".into(), &"regression".into())
    );
    assert_eq!((&change["ratio"], &change["part"]), (&2.0.into(), &"run".into()));
    let bencher: Value = serde_json::from_str(&printed("bencher")).unwrap();
    assert_eq!(bencher["own/row/run"]["instructions"]["value"], 20_000.0);
    assert!(bencher["own/row/run"]["latency"]["lower_value"].is_f64());
    let list: Value = serde_json::from_str(&printed("github-action-benchmark")).unwrap();
    for item in list.as_array().unwrap() {
        assert!(item["name"].is_string() && item["unit"].is_string() && item["value"].is_f64());
    }
    let markdown = printed("markdown");
    assert!(markdown.starts_with("### Performance: 1 regression, 1 unchanged\n"), "{markdown}");
    assert!(markdown.contains("| REGRESSION | own/row | instructions (run) 10000 -&gt; 20000"));
}

#[test]
fn fault_unlike_machines_are_not_compared_by_time() {
    let (folder, record) = recorded();
    let mut new = slower(record.clone());
    new["machine"]["cpu"] = "another".into();
    for pass in new["cases"][0]["times"]["roof"].as_array_mut().unwrap() {
        *pass = (pass.as_f64().unwrap() * 1000.0).into();
    }
    let text = compare(&folder, &record, &new, &["--fail-on", "time"]).succeeded();
    assert!(text.contains("note: different machines ("), "{text}");
}
