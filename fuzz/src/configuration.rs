//! Configuration files: settings with their positions or a refusal with its position, and values that read back as shown.

#[path = "../../crates/cli/src/config/file.rs"]
mod file;
#[path = "../../crates/cli/src/config/units.rs"]
mod units;

/// Any text as a configuration file, and each value as each kind of quantity.
pub fn configuration(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let n_lines = text.split('\n').count();
    let settings = match file::read(&text) {
        Ok(settings) => settings,
        Err(problem) => {
            let line = problem.split(':').next().and_then(|line| line.parse::<usize>().ok());
            assert!(line.is_some_and(|line| (1..=n_lines).contains(&line)), "{problem}");
            return;
        }
    };
    for setting in settings {
        assert!((1..=n_lines).contains(&setting.line) && setting.column > 0, "{}", setting.key);
        let Ok(value) = setting.value else { continue };
        if let Ok(duration) = units::duration(&value) {
            assert_eq!(units::duration(&units::show_duration(duration)), Ok(duration));
        }
        if let Ok(size) = units::bytes(&value) {
            assert_eq!(units::bytes(&units::show_bytes(size)), Ok(size));
        }
        if let Ok(pace) = units::pace(&value) {
            let again = units::pace(&pace.to_string()).expect("was shown just now").per_second;
            let given = pace.per_second;
            assert!((again - given).abs() <= 1e-6 * given, "{value} is shown as {pace}");
        }
    }
}
