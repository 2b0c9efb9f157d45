//! `history`: one figure over several records.

use super::*;

#[test]
fn history_finds_the_record_where_a_step_happened() {
    let (folder, record) = recorded();
    fs::remove_file(folder.path("a.json")).unwrap();
    let base = counted(record);
    for (at, instructions) in [10_000, 10_000, 12_000, 12_000].into_iter().enumerate() {
        let mut record = base.clone();
        record["time"] = (1000 + at).into();
        record["build"]["commit"] = format!("c{at}").into();
        record["cases"][0]["counts"]["run"]["instructions"] = instructions.into();
        // Records are ordered by time, not by name.
        folder.file(&format!("{}.json", 9 - at), record.to_string());
    }
    folder.file("notes.txt", "no record, and no matter");
    let text = run(&["history", &folder.name("")]).succeeded();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "instructions over 4 records");
    assert!(lines[1].starts_with("note: cases.json is skipped: not a record"), "{text}");
    assert!(lines[3].starts_with("own/transposed ") && lines[3].ends_with("▁▁██  10000 -> 12000"));
    assert_eq!(lines[4], "    c2 (7.json): instructions (run) 10000 -> 12000, +20.0 %");
    assert!(lines[5].starts_with("own/row ") && lines.len() == 6, "{text}");
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{text}");

    let json = run(&["history", &folder.name(""), "--json", "--filter", "transposed"]).succeeded();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["records"].as_array().unwrap().len(), 4);
    let case = &json["cases"][0];
    assert_eq!((&case["steps"][0]["at"], &case["steps"][0]["commit"]), (&2.into(), &"c2".into()));
    assert_eq!(case["values"][3], 12_000.0);
    let time = run(&["history", &folder.name(""), "--of", "time"]).succeeded();
    assert!(time.starts_with("time in ns over 4 records\n"), "{time}");
}

#[test]
fn fault_history_without_a_record_is_refused() {
    let folder = Folder::new();
    run(&["history", &folder.name("")]).refused("no record in");
    folder.file("half.json", "{");
    run(&["history", &folder.name("")]).refused("half.json is skipped: not a whole record");
    run(&["history", "/missing"]).refused("cannot read /missing");
}
