//! A search as text: a line for each step, then the answer.

use steelyard_wire::find::{FindOutcome, FindResult, FindState, FindStep, Over};

/// One line about a step, printed when it is over.
pub(crate) fn step_line(step: &FindStep) -> String {
    let outcome = match step.outcome {
        FindOutcome::Held => "held",
        FindOutcome::Failed => "failed",
        FindOutcome::GeneratorLimited => "limited by the generator",
        FindOutcome::TooFewSamples => "too few samples",
    };
    format!("{:>12.1}  {outcome}: {}\n", step.value, step.why.join("; "))
}

/// The answer.
pub(crate) fn found(result: &FindResult) -> String {
    let what = match result.job.over {
        Over::Rate => "rate",
        Over::Users => "users",
    };
    let word = match result.state {
        FindState::Found => "FOUND",
        FindState::NeverHeld => "NEVER HELD",
        FindState::NeverFailed => "NEVER FAILED",
        FindState::GeneratorLimited => "LIMITED BY THE GENERATOR",
        FindState::TooFewSamples => "TOO FEW SAMPLES",
        FindState::Cancelled => "CANCELLED",
    };
    let mut text: String = result.steps.iter().map(step_line).collect();
    text.insert_str(0, &format!("{what:>12}\n"));
    text + &format!("\n{word}: {}\n", result.message)
}
