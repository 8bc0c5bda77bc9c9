//! `--mu-override` and its like: friction of all materials at once.

use crate::scene::is_factor;
use crate::settings::factors::Factors;

#[derive(clap::Args)]
pub struct Friction {
    /// Mu of all materials, instead of their own
    #[arg(long, value_name = "MU", allow_hyphen_values = true, value_parser = factor)]
    mu_override: Option<f64>,
    /// Then multiply mu of all materials by this
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, value_parser = factor)]
    mu_multiply: Option<f64>,
    /// Rolling resistance of all materials, instead of their own
    #[arg(long, value_name = "RR", allow_hyphen_values = true, value_parser = factor)]
    rr_override: Option<f64>,
    /// Then multiply rolling resistance of all materials by this
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, value_parser = factor)]
    rr_multiply: Option<f64>,
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|v| is_factor(*v));
    number.map(|v| v + 0.0).ok_or_else(|| "a number of 0 or more".into())
}

impl Friction {
    pub fn factors(&self) -> Factors {
        let Friction { mu_override, mu_multiply, rr_override, rr_multiply } = *self;
        Factors { mu_override, mu_multiply, rr_override, rr_multiply }
    }
}
