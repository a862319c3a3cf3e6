//! The fast policies against the plain ones, in one run, at the sizes that matter. Prints ratios.
//!
//! Every case runs in a process of its own, so that its peak memory is its own, and is timed by the CPU
//! time of its thread, which a busy neighbour does not stretch much. Ratios between cases of one run are
//! what to quote; absolute figures belong to the machine.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports, and may panic")]

mod measure;
mod needs;
mod polling;
mod scheduler;
mod wic;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, case] = args.as_slice()
        && flag == "--case"
    {
        let measured = wic::run(case)
            .or_else(|| needs::run(case))
            .or_else(|| scheduler::run(case))
            .or_else(|| polling::run(case))
            .unwrap();
        println!("{measured}");
        return;
    }
    let is_selected = |name: &str| args.is_empty() || args.iter().any(|arg| name.contains(arg.as_str()));
    if is_selected("wic") {
        wic::report();
    }
    if is_selected("scheduler") {
        scheduler::report();
    }
    for family in needs::FAMILIES {
        if is_selected(&format!("needs-{}", family.name)) {
            needs::report(&family);
        }
    }
    if is_selected("polling") {
        polling::report();
    }
}
