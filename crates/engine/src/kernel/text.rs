//! Results of the kernels for people.

use std::fmt::Write;

use steelyard_wire::kernel::{
    Element, Isa, KernelHost, LinpackResult, MemoryOperation, Passes, RamResult, ReferenceResult,
    Solution, Solutions, Spread, Stores,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// One solution, as progress.
pub(super) fn solution_line(size: u32, solution: &Solution) -> String {
    format!("n = {size}: {:.3} s", solution.seconds)
}

/// One measurement, as progress.
pub(super) fn passes_line(passes: &Passes) -> String {
    let (name, size) = (name(passes), size(passes.block_bytes));
    format!("{name} {size}: {}", gb_per_s(passes.bytes_per_s))
}

/// The result of `reference`.
pub(super) fn reference(result: &ReferenceResult) -> String {
    let mut text = String::new();
    let parts = [
        ("processor", result.cpu_per_s, 1e-6, "million steps/s"),
        ("memory", result.memory_bytes_per_s, 1e-9, "GB/s copied"),
        ("disk", result.disk_writes_per_s, 1.0, "synced writes/s"),
    ];
    for (name, rate, scale, unit) in parts {
        let rate = rate.map_or("not measured".to_owned(), |rate| {
            format!("{:.2} {unit}", rate * scale)
        });
        line(&mut text, &format!("{name:<10} {rate}"));
    }
    if let Some(reason) = &result.disk_refused {
        line(&mut text, reason);
    }
    text
}

/// The result of `linpack`.
pub(super) fn linpack(result: &LinpackResult) -> String {
    let mut text = heading(&result.host, result.isa, result.threads);
    text.push_str("\n     n   GFLOP/s median (least to most)   seconds   residual\n");
    for solutions in &result.solutions {
        line(&mut text, &solutions_line(solutions));
    }
    if result.interrupted {
        line(&mut text, "interrupted: not everything was measured");
    } else if !result.valid {
        line(
            &mut text,
            "INVALID: a residual of 16 or more is that of a wrong answer",
        );
    }
    text
}

fn solutions_line(solutions: &Solutions) -> String {
    let size = solutions.size;
    let Some(figure) = solutions.gflops_per_s else {
        return format!("{size:>6}   {}", why_no_figure(solutions));
    };
    let fastest = solutions.repeats.iter().map(|repeat| repeat.seconds);
    let seconds = fastest.fold(f64::INFINITY, f64::min);
    let residuals = solutions
        .repeats
        .iter()
        .filter_map(|repeat| repeat.scaled_residual);
    let residual = residuals.fold(0.0, f64::max);
    let spread = format!("({:.2} to {:.2})", figure.least, figure.most);
    let mut text = format!(
        "{size:>6}   {:>14.2} {spread:<18} {seconds:>9.4}   {residual:.4}",
        figure.median
    );
    if solutions.repeats.iter().any(|repeat| !repeat.valid) {
        text.push_str("   INVALID repeats left out");
    }
    text
}

fn why_no_figure(solutions: &Solutions) -> String {
    let repeats = &solutions.repeats;
    match repeats.iter().find_map(|repeat| repeat.singular_column) {
        Some(column) => format!("singular: no pivot in column {column}"),
        None if repeats.is_empty() => "not measured".to_owned(),
        None => "wrong answer, no figure".to_owned(),
    }
}

/// The result of `ram`.
pub(super) fn ram(result: &RamResult) -> String {
    let mut text = heading(&result.host, result.isa, result.threads);
    text.push_str("bytes read and written by the program (24 for each element of a triad)\n");
    let mut last = String::new();
    for passes in &result.passes {
        let name = name(passes);
        if name != last {
            let stores = stores(passes.stores);
            let _ = write!(text, "\n{name}{stores}\n");
            last = name;
        }
        line(&mut text, &ram_line(passes));
    }
    if result.interrupted {
        line(&mut text, "interrupted: not everything was measured");
    } else if !result.valid {
        line(&mut text, "INVALID: contents were not what they must be");
    }
    text
}

fn ram_line(passes: &Passes) -> String {
    let level = passes.fits_in.as_deref().unwrap_or("-");
    let (size, figure) = (size(passes.block_bytes), gb_per_s(passes.bytes_per_s));
    format!("{size:>10}  {level:<7} {figure}")
}

/// The names that `RAMspeed` gave them.
fn name(passes: &Passes) -> String {
    let kind = match passes.element {
        Element::Int => "INT",
        Element::Float => "FLOAT",
    };
    let (place, operation) = match passes.operation {
        MemoryOperation::Read => ("mark", "read"),
        MemoryOperation::Write => ("mark", "write"),
        MemoryOperation::Copy => ("mem", "copy"),
        MemoryOperation::Scale => ("mem", "scale"),
        MemoryOperation::Add => ("mem", "add"),
        MemoryOperation::Triad => ("mem", "triad"),
    };
    format!("{kind}{place} {operation}")
}

fn stores(stores: Option<Stores>) -> &'static str {
    match stores {
        Some(Stores::Streaming) => ", stored past the caches",
        Some(Stores::Cached) => ", stored through the caches",
        None => "",
    }
}

fn gb_per_s(figure: Option<Spread>) -> String {
    figure.map_or("wrong contents, no figure".to_owned(), |figure| {
        let [least, median, most] =
            [figure.least, figure.median, figure.most].map(|rate| rate / 1e9);
        format!("{median:>8.2} GB/s  ({least:.2} to {most:.2})")
    })
}

fn heading(host: &KernelHost, isa: Isa, threads: u32) -> String {
    let model = host.cpu_model.as_deref().unwrap_or("unknown processor");
    let caches: Vec<String> = host
        .caches
        .iter()
        .map(|cache| format!("L{} {}", cache.level, size(cache.size_bytes)))
        .collect();
    let caches = if caches.is_empty() {
        "caches unknown".to_owned()
    } else {
        caches.join(", ")
    };
    let governor = host.frequency_governor.as_deref().unwrap_or("unknown");
    let isa = match isa {
        Isa::Portable => "portable",
        Isa::Avx2 => "AVX2",
        Isa::Avx512 => "AVX-512",
    };
    format!("{model}, {caches}, governor {governor}\n{isa}, {threads} thread(s)\n")
}

fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= MIB && bytes % MIB == 0 => format!("{} MiB", bytes / MIB),
        bytes if bytes >= KIB && bytes % KIB == 0 => format!("{} KiB", bytes / KIB),
        bytes => format!("{bytes} B"),
    }
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solution(valid: bool) -> Solution {
        Solution {
            seconds: 0.5,
            gflops_per_s: valid.then_some(2.0),
            scaled_residual: Some(if valid { 0.01 } else { 99.0 }),
            singular_column: None,
            valid,
        }
    }

    fn solutions(repeats: Vec<Solution>, figure: Option<f64>) -> Solutions {
        let spread = |figure| Spread {
            least: figure,
            median: figure,
            most: figure,
        };
        Solutions {
            size: 1000,
            panel_columns: 96,
            repeats,
            gflops_per_s: figure.map(spread),
        }
    }

    #[test]
    fn a_wrong_answer_is_shown_without_a_figure() {
        let text = solutions_line(&solutions(vec![solution(false)], None));
        assert_eq!(text, "  1000   wrong answer, no figure");
    }

    #[test]
    fn a_singular_matrix_is_reported_with_its_column() {
        let singular = Solution {
            singular_column: Some(7),
            ..solution(false)
        };
        let text = solutions_line(&solutions(vec![singular], None));
        assert_eq!(text, "  1000   singular: no pivot in column 7");
    }

    #[test]
    fn repeats_that_do_not_count_are_mentioned() {
        let text = solutions_line(&solutions(vec![solution(true), solution(false)], Some(2.0)));
        assert!(
            text.contains("2.00") && text.ends_with("INVALID repeats left out"),
            "{text}"
        );
    }

    #[test]
    fn sizes_are_written_as_they_are_asked_for() {
        assert_eq!(size(1 << 10), "1 KiB");
        assert_eq!(size(32 << 20), "32 MiB");
        assert_eq!(size(1000), "1000 B");
    }
}
